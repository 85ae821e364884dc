"""Escaping of file contents in the log of a GitHub runner, which executes commands that a step prints.

Source: actions/runner, src/Runner.Common/ActionCommand.cs (`TryParseV2` trims a line before it looks for `::`;
`TryParse` looks for `##[` anywhere) and src/Runner.Worker/ActionCommandManager.cs (`stop-commands`).
"""

from __future__ import annotations

import secrets

from ..escape import inert


def without_commands(diff: str) -> str:
    """Return a unified diff in which a runner finds no commands.

    A context line begins with a space, and is still a command to the runner if `::` follows. Such a diff is enclosed
    in `stop-commands` with a random word; `patch` skips lines before and after the hunks. Escaping the lines instead
    would change the text that `patch` writes.
    """
    if all(inert(line) == line for line in diff.splitlines()):
        return diff
    word = secrets.token_hex(16)
    return f"::stop-commands::{word}\n{diff}{'' if diff.endswith(chr(10)) else chr(10)}::{word}::\n"
