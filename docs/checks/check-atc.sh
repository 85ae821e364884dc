#!/bin/sh
# A check for `opsinfo bisect`: compile an ONNX model with a mixlist, run it, compare the outputs.
#
#   opsinfo bisect --against ascend910b --model model.onnx --max-drop 0.001 \
#     -- ./check-atc.sh {mixlist} {trial}
#
# It prints 1 - cosine, the worst of all outputs; without --max-drop it fails above $MAX_LOSS.
# Copy it with compare.py and change the settings. It needs atc, msame (or your own program) and Python with numpy.
set -u
HERE=$(dirname "$0")
MODEL=${MODEL:-$HERE/model.onnx}        # the ONNX model
INPUTS=${INPUTS:-$HERE/inputs}          # the .bin files of the inputs with commas between them, or folders
REFERENCE=${REFERENCE:-$HERE/reference} # the outputs in float32: the .bin files that msame wrote for them
SOC=${SOC:-Ascend910B3}                 # --soc_version
MAX_LOSS=${MAX_LOSS:-inf}

mixlist=$1
trial=$2

# A model that cannot be compiled with this list is a fail; atc that cannot be started ends the search (126).
command -v atc >/dev/null || { echo "atc is not in PATH: source set_env.sh" >&2; exit 126; }
atc --framework=5 --model="$MODEL" --output="$trial/model" --soc_version="$SOC" \
  --precision_mode_v2=mixed_float16 --modify_mixlist="$mixlist" >"$trial/atc.log" 2>&1 || {
  tail -5 "$trial/atc.log"
  echo "not compiled: loss inf"
  exit 1
}

# A device that is busy or lost says nothing about the list: 128 and more is run again.
mkdir -p "$trial/outputs"
msame --model "$trial/model.om" --input "$INPUTS" --output "$trial/outputs" --outfmt BIN \
  >"$trial/msame.log" 2>&1 || { tail -5 "$trial/msame.log"; exit 128; }

exec python3 "$HERE/compare.py" "$trial/outputs" "$REFERENCE" "$MAX_LOSS"
