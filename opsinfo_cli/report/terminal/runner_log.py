"""Text of a file in the log of a GitHub runner, which takes commands from what a step prints.

Source: actions/runner, src/Runner.Common/ActionCommand.cs (`TryParseV2` trims a line before it looks for `::`;
`TryParse` looks for `##[` anywhere) and src/Runner.Worker/ActionCommandManager.cs (`stop-commands`).
"""

from __future__ import annotations

import secrets

from .visible import inert


def without_commands(diff: str) -> str:
    """A unified diff from which a runner takes no command. `patch` skips what stands before and after the hunks.

    A line that begins with a blank, as context does, is a command to the runner if `::` follows. Such a diff is
    put between a `stop-commands` with a random word and the end of it; escapes would make `patch` write other text.
    """
    if all(inert(line) == line for line in diff.splitlines()):
        return diff
    word = secrets.token_hex(16)
    return f"::stop-commands::{word}\n{diff}{'' if diff.endswith(chr(10)) else chr(10)}::{word}::\n"
