"""Progress: only on a terminal's standard error during long work."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from model_files import dump

CODE = (
    "import sys\n"
    "from opsinfo_cli.report.terminal import progress\n"
    "progress._EVERY = 0\n"
    "progress._LARGE = progress._MANY = 1\n"
    "from opsinfo_cli.cli.app import main\n"
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
    output = b""
    while True:
        try:
            output += os.read(ours, 1 << 16)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    assert process.wait() == 0
    return output.decode()


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
def test_progress_is_shown_on_a_capable_terminal_only(
    environment: dict[str, str], fixtures: Path, situation: str
) -> None:
    on_terminal, options, more, seen = WATCHED[situation]
    output = errors({**environment, **more}, ["validate", str(fixtures / "opp"), *options], on_terminal)
    assert ("checking" in output) == seen
    assert ("\r\x1b[K" in output) == seen
    assert "checking" not in output.rpartition("\x1b[K")[2], "the progress line is removed at the end"


STEPS: dict[str, tuple[list[str], list[str]]] = {
    "op types": ([], ["reading", "judging 6 nodes", "finding the Casts of 6 nodes", "looking at 6 nodes"]),
    "nodes": (["--by", "node"], ["listing 6 nodes"]),
    "a document": (["--format", "json"], ["writing 6 nodes"]),
    "a page": (["--format", "html"], ["drawing 6 nodes"]),
    "a comparison": (["--compare-precision-mode", "mixed_float16"], ["comparing 6 nodes"]),
}


@pytest.mark.process
@pytest.mark.parametrize("answer", STEPS)
def test_each_step_of_judging_a_model_is_named_on_a_terminal_and_leaves_nothing(
    environment: dict[str, str], opp: Path, tmp_path: Path, answer: str
) -> None:
    options, steps = STEPS[answer]
    target = ["--against", str(opp), "--soc", "ascend910b", "--precision-mode", "mixed_float16"]
    words = ["graph", str(dump(tmp_path)), *target, *options]
    output = errors({**environment, "TERM": "xterm"}, words, on_terminal=True)
    assert [step for step in steps if f"\r\x1b[K{step}" in output] == steps
    assert not any(step in last for last in output.split("\r\x1b[K")[-1:] for step in steps)
    assert "\x1b[K" not in errors({**environment, "TERM": "xterm"}, words, on_terminal=False)
