# Sourced by the steps: their folder, environments below .ci/, and system tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONDONTWRITEBYTECODE # tests start hundreds of processes
export OPENBLAS_NUM_THREADS=1 # tests run side by side, and its threads wait for one another in a loop
export PIP_NO_COMPILE=1       # nor does uv: most of what is installed is never imported

# environment NAME PACKAGE...: .ci/NAME, kept until pyproject.toml, the packages or the interpreter change; one at a time
environment() {
    local place=.ci/$1 key
    shift
    key="$(python3 -VV) $(cat pyproject.toml .ci/oldest.txt | sha256sum) $*"
    (
        flock 9
        [ "$(cat "$place/made-for" 2>/dev/null)" != "$key" ] || exit 0
        python3 -m venv --clear "$place" && install "$place" "$@" && echo "$key" >"$place/made-for"
    ) 9>.ci/venv.lock
}

# install PLACE PACKAGE...: with uv, which takes a tenth of the time, or with pip if uv cannot be had or fails
install() {
    local python=$1/bin/python
    shift
    [ -d .ci/uv ] || { python3 -m venv .ci/uv && .ci/uv/bin/pip install --quiet uv; } >&2 || true
    .ci/uv/bin/uv pip install --quiet --python "$python" "$@" 2>/dev/null ||
        "$python" -m pip install --quiet --disable-pip-version-check "$@"
}

# the environment of most steps
usual() { environment venv '.[test,lint,docs,release]'; }

# absent WHAT...: says what cannot be had; where CI=true that ends the step
absent() {
    echo "skipped: $*"
    [ "${CI:-}" != true ] || exit 1
}

# tools NAME...: installs the missing ones by apt-get, as root or in CI
tools() {
    local tool sudo=
    for tool; do
        command -v "$tool" >/dev/null && continue
        [ "$(id -u)" = 0 ] || { [ "${CI:-}" = true ] && sudo=sudo; } || { absent "no $tool" && continue; }
        [ -n "${updated:-}" ] || { $sudo apt-get update -qq >/dev/null 2>&1 || true; }
        updated=1
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$tool" >/dev/null 2>&1 ||
            absent "cannot install $tool; tests that need it are skipped"
    done
}

# what tests use; each step that runs some installs all, so that `tests` waits for none where the others ran before it
test_tools() { tools strace patch zsh fish tmux; }
