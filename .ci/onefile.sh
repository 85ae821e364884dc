#!/usr/bin/env bash
# opsinfo and its dependencies as one executable file, for hosts without a network. The wheel must be in .ci/dist.
#   .ci/onefile.sh          for this interpreter and machine
#   .ci/onefile.sh models   the same with onnx, onnxruntime and numpy
#   .ci/onefile.sh all      without models, for CPython 3.10 to 3.13 on x86_64 and aarch64
. "$(dirname "$0")/common.sh"
usual
wheel=$(ls .ci/dist/opsinfo-*.whl)
here=$(.ci/venv/bin/python -c 'import platform, sys; print("cp%d%d-" % sys.version_info[:2] + platform.machine())')
name=opsinfo-$(basename "$wheel" | cut -d- -f2) extra='' targets=(--python .ci/venv/bin/python)
case ${1:-} in
'') name+=-$here ;;
models) name+=-models-$here extra='[models]' ;;
all)
    targets=()
    for python in 310 311 312 313; do
        targets+=(--platform "manylinux2014_x86_64-cp-$python-cp$python")
        targets+=(--platform "manylinux2014_aarch64-cp-$python-cp$python")
    done
    ;;
*) echo "usage: .ci/onefile.sh [models|all]" >&2 && exit 2 ;;
esac
.ci/venv/bin/pex "$wheel$extra" -c opsinfo "${targets[@]}" --python-shebang '/usr/bin/env python3' \
    -o ".ci/dist/$name.pex"
