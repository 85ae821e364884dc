"""The answers of commands, as data: each `.case` file is a session in a copy of the fixtures, see README.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from contract import STATUSES, schema_faults
from library_files import library
from rich.cells import cell_len

from opsinfo_cli.core.text.escape import line_starts

HERE = Path(__file__).parent
FIXTURES = HERE.parents[1] / "fixtures"
RECORDS = bool(os.environ.get("OPSINFO_RECORD_ANSWERS"))
assert not (RECORDS and os.environ.get("CI")), "OPSINFO_RECORD_ANSWERS makes every answer right: not in CI"

SLOW = re.compile("opsinfo itself took|note: a run takes")
"""What only a busy machine prints."""

pytestmark = pytest.mark.usefixtures("quick_starts")


@dataclass
class Step:
    """A command line and what it answered; lines before the first command are comments."""

    line: str
    answer: list[str]


def read_session(path: Path) -> tuple[list[str], list[Step]]:
    comments: list[str] = []
    steps: list[Step] = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        if line.startswith("$ "):
            steps.append(Step(line[2:], []))
        else:
            (steps[-1].answer if steps else comments).append(line)
    return comments, steps


def answer(line: str, opsinfo: Callable[..., Any], folder: Path, names_files: bool = True) -> list[str]:
    """Run a line: `write` and `library` make a file, other commands than opsinfo are the shell's.

    :param names_files: whether to look for the files that it wrote or removed, which takes as long as most commands
    """
    line = line.replace("$PWD", str(folder))
    variables = list(takewhile(lambda word: "=" in word, shlex.split(line)))
    command, *words = shlex.split(line)[len(variables) :]
    if command == "write":
        (folder / words[0]).write_text(words[1].replace("\\n", "\n") + "\n", "utf-8")
        return []
    if command == "library":
        flags = {name: flag or None for name, _, flag in (word.partition("=") for word in words[1:])}
        (folder / words[0]).write_text(json.dumps(library(flags), indent=1), "utf-8")
        return []
    if command != "opsinfo":
        ran = subprocess.run(line, shell=True, cwd=folder, stdout=subprocess.PIPE, check=True)
        return [stable(text, folder) for text in ran.stdout.decode("utf-8").splitlines()]
    before = states(folder) if names_files else {}
    ran = opsinfo(*words, cwd=folder, env=dict(word.split("=", 1) for word in variables))
    assert ran.code in STATUSES
    assert "Traceback" not in ran.err
    if ran.out.startswith('{"schema_version"'):
        assert schema_faults(json.loads(ran.out)) == []
    after = states(folder) if names_files else {}
    written = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    verbs = {path: "removed" if path not in after else "changed" if path in before else "made" for path in written}
    lines = ran.out.splitlines() + [f"! {line}" for line in ran.err.splitlines() if not SLOW.match(line)]
    lines += [f"~ {verb} {path}" for path, verb in verbs.items()]
    lines += [f"[{ran.code}]"] if ran.code else []
    for number, text in enumerate(lines):
        if text.startswith("! hint: ") and text.endswith(" --help` shows how it is used"):
            lines[number - 2] = "! error: ..."  # a sentence of click, other in each version
    return [part for text in lines for part in stable(text, folder).split("\n")]


def states(top: Path) -> dict[str, tuple[int, ...]]:
    """What a write changes of each file: the file itself, its time, size and mode."""
    files = [f"{folder}/{name}" for folder, _, names in os.walk(top) for name in names if "/trials/" not in folder]
    found = {path.removeprefix(f"{top}/"): os.lstat(path) for path in files}  # of strings: thousands of times a session
    return {name: (stat.st_ino, stat.st_mtime_ns, stat.st_size, stat.st_mode) for name, stat in found.items()}


def stable(line: str, folder: Path) -> str:
    """A line without what differs from run to run; a JSON document in lines, with its keys in order."""
    line = line.replace(str(folder), ".").replace(os.environ["OPSINFO_BACKUP_DIR"], "VAULT")
    line = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?", "TIME", line)
    line = re.sub(r"\b([0-9a-f]{8}|local)([-/])(\d+)", r"ID\2\3", line)  # the machine of a change
    line = re.sub(r'"(machine|user)": "[^"]*"', r'"\1": "-"', line)
    line = re.sub(r" in [0-9.]+ s\b", " in SECONDS", line)
    if line.startswith('{"schema_version"'):
        return indented(json.loads(line))
    return line


def indented(value: Any, margin: str = "") -> str:
    """JSON for a person who reviews it: what fits into a line stays in one."""
    flat = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(margin + flat) <= 110 or not isinstance(value, (dict, list)):
        return flat
    inner = margin + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {indented(each, inner)}" for key, each in sorted(value.items())]
    else:
        parts = [inner + indented(each, inner) for each in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(parts), margin + last])


@pytest.mark.parametrize("path", sorted(HERE.glob("*.case")), ids=lambda path: path.stem)
def test_a_session_gives_the_same_answers(path: Path, opsinfo: Callable[..., Any], tmp_path: Path) -> None:
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    comments, steps = read_session(path)
    given = [(step.line, answer(step.line, opsinfo, tmp_path)) for step in steps]
    if RECORDS:
        text = "\n".join([*comments, *(text for line, lines in given for text in (f"$ {line}", *lines))]) + "\n"
        path.write_text(text, "utf-8")
    for step, (line, lines) in zip(steps, given, strict=True):
        assert [line, *lines] == [line, *step.answer] or RECORDS


TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "50", "PAGER": "cat"}
DATA = re.compile(r"^(snapshot|schema|merge)\b|--snippet|--format|--dry-run|-n\b")
"""Lines whose output is code, JSON or a diff, which no terminal breaks."""
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\\\)")


@pytest.mark.parametrize("path", sorted(HERE.glob("*.case")), ids=lambda path: path.stem)
def test_a_session_on_a_terminal_of_80_columns(path: Path, opsinfo: Callable[..., Any], tmp_path: Path) -> None:
    """The same status as in a pipe, no internal error, and no line that the terminal would wrap, but a path or command
    to copy."""
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    wide: list[str] = []

    def on_terminal(*words: str, env: dict[str, str], **options: Any) -> Any:
        ran = opsinfo(*words, env={**TERMINAL, **env}, terminal=True, **options)
        assert "internal error" not in ran.err, (words, ran.err)
        if not DATA.search(shlex.join(words)) and not ran.out.startswith("{"):
            lines = ESCAPES.sub("", ran.out).splitlines()
            wide.extend(
                f"{shlex.join(words)}\n    {line}" for line in lines if cell_len(line) > 80 and line_starts(line, 80)
            )
        return ran

    for step in read_session(path)[1]:
        status = step.answer[-1] if step.answer and re.fullmatch(r"\[\d+\]", step.answer[-1]) else "[0]"
        lines = answer(step.line, on_terminal, tmp_path, names_files=False)
        now = lines[-1] if lines and re.fullmatch(r"\[\d+\]", lines[-1]) else "[0]"
        assert (step.line, now) == (step.line, status), lines[-12:]
    assert not wide, "\n".join(wide)


def test_every_command_is_in_a_session() -> None:
    from opsinfo_cli.app import COMMANDS

    lines = [step.line for path in HERE.glob("*.case") for step in read_session(path)[1]]
    assert {line.partition("opsinfo ")[2].split(" ")[0] for line in lines} >= set(COMMANDS)
