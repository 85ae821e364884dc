"""Progress: only on a terminal's standard error during long work."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

CODE = (
    "import sys\n"
    "from opsinfo_cli.report.terminal import progress\n"
    "progress._EVERY = 0\n"
    "from opsinfo_cli.cli.line.main import main\n"
    "main(sys.argv[1:])\n"
)
"""The program, with progress shown immediately."""


def errors(environment: dict[str, str], words: list[str], on_terminal: bool) -> str:
    """The standard error of a run."""
    command = [sys.executable, "-c", CODE, *words]
    if not on_terminal:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stderr
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 1 << 16)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    assert process.wait() == 0
    return said.decode()


WATCHED: dict[str, tuple[bool, list[str], dict[str, str], bool]] = {
    # situation: (on a terminal, options, environment, whether progress is seen)
    "a terminal": (True, [], {"TERM": "xterm"}, True),
    "a terminal, JSON to a file": (True, ["--format", "json"], {"TERM": "xterm"}, True),
    "a terminal, quiet": (True, ["-q"], {"TERM": "xterm"}, False),
    "a dumb terminal": (True, [], {"TERM": "dumb"}, False),
    "a pipe": (False, [], {"TERM": "xterm"}, False),
}


@pytest.mark.process
@pytest.mark.parametrize("situation", WATCHED)
def test_where_progress_is_seen(environment: dict[str, str], fixtures: Path, situation: str) -> None:
    on_terminal, options, more, seen = WATCHED[situation]
    said = errors({**environment, **more}, ["validate", str(fixtures / "opp"), *options], on_terminal)
    assert ("checking" in said) == seen
    assert ("\r\x1b[K" in said) == seen
    assert "checking" not in said.rpartition("\x1b[K")[2], "the line goes in the end"
