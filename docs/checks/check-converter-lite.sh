#!/bin/sh
# A check for `opsinfo bisect`: convert an ONNX model with MindSpore Lite for Ascend, run it, compare the outputs.
#
#   opsinfo bisect --against ascend910b --model model.onnx --max-drop 0.001 \
#     -- ./check-converter-lite.sh {mixlist} {trial}
#
# It prints 1 - cosine, the worst of all outputs; without --max-drop it fails above $MAX_LOSS.
# Copy it with compare.py and change the settings. It needs converter_lite, and Python with mindspore_lite and numpy.
set -u
HERE=$(dirname "$0")
MODEL=${MODEL:-$HERE/model.onnx}       # the ONNX model
INPUTS=${INPUTS:-$HERE/inputs}         # a folder with 0.npy, 1.npy ...: the inputs in the order of the model
REFERENCE=${REFERENCE:-$HERE/reference} # the outputs in float32: 0.bin, 1.bin ...
MAX_LOSS=${MAX_LOSS:-inf}

mixlist=$1
trial=$2

command -v converter_lite >/dev/null || { echo "converter_lite is not in PATH" >&2; exit 126; }
cat >"$trial/converter.cfg" <<END
[ascend_context]
precision_mode=preferred_optimal
[acl_init_options]
ge.exec.precision_mode=allow_mix_precision
ge.exec.modify_mixlist=$mixlist
[acl_build_options]
ge.exec.modify_mixlist=$mixlist
END
converter_lite --fmk=ONNX --modelFile="$MODEL" --outputFile="$trial/model" --optimize=ascend_oriented \
  --configFile="$trial/converter.cfg" >"$trial/converter.log" 2>&1 || {
  tail -5 "$trial/converter.log"
  echo "not compiled: loss inf"
  exit 1
}

mkdir -p "$trial/outputs"
python3 - "$trial/model.mindir" "$INPUTS" "$trial/outputs" >"$trial/run.log" 2>&1 <<'END' || { tail -5 "$trial/run.log"; exit 128; }
import sys
from pathlib import Path

import mindspore_lite as lite
import numpy as np

path, inputs, outputs = sys.argv[1:]
context = lite.Context()
context.target = ["ascend"]
model = lite.Model()
model.build_from_file(path, lite.ModelType.MINDIR, context)
tensors = model.get_inputs()
for number, tensor in enumerate(tensors):
    tensor.set_data_from_numpy(np.load(Path(inputs) / f"{number}.npy"))
for number, tensor in enumerate(model.predict(tensors)):
    tensor.get_data_to_numpy().astype(np.float32).tofile(Path(outputs) / f"{number}.bin")
END

exec python3 "$HERE/compare.py" "$trial/outputs" "$REFERENCE" "$MAX_LOSS"
