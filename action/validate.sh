#!/usr/bin/env bash
# What action.yml runs. Inputs come through the environment, so that the shell never runs their text. The exit status is
# that of opsinfo: 1 for findings, 2 for wrong inputs, 3 if the check could not be made. Nothing of the checkout runs:
# Python is isolated (-I), because a module of the current folder would else replace venv, pip or opsinfo_cli.
set -euo pipefail

venv="${RUNNER_TEMP:?is set by the runner}/opsinfo-venv"
wanted="$GITHUB_ACTION_PATH"
if [ -n "${INPUT_VERSION:-}" ]; then
    wanted="opsinfo==$INPUT_VERSION"
fi
if [ "$(cat "$venv/holds" 2>/dev/null)" != "$wanted" ]; then # else an earlier step of the job installed it
    (
        cd "$RUNNER_TEMP"
        python3 -I -m venv --clear "$venv"
        "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check "$wanted"
    ) || exit 3
    echo "$wanted" >"$venv/holds"
fi

words=()
add_lines() { # $1: lines; the rest: words to add before each line
    local line
    while IFS= read -r line; do
        if [ -n "$line" ]; then
            words+=("${@:2}" "$line")
        fi
    done <<<"$1"
}

split=$(xargs -r printf '%s\n' <<<"${INPUT_ARGS:-}") || exit 2
add_lines "${INPUT_AGAINST:-}" --against
add_lines "$split"
case " ${words[*]:-} " in
*" --format"[\ =]*) ;; # the user's own
*) words+=(--format concise) ;; # the matcher reads its lines
esac
words+=(--)
add_lines "${INPUT_PATHS:-.}"

echo "::add-matcher::$GITHUB_ACTION_PATH/action/problem-matcher.json"
status=0
"$venv/bin/python" -I -m opsinfo_cli validate "${words[@]}" || status=$?
echo "::remove-matcher owner=opsinfo::"
exit "$status"
