"""Hostile files, and the limits of every command."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contract import STATUSES

Hostile = Callable[..., Any]
"""The ``hostile`` fixture: runs the program with little memory and time, and checks the invariants."""

TENSOR = {"name": "x", "dtype": "float16,float", "format": "ND,ND", "paramType": "required"}
ENTRY = json.dumps({"input0": TENSOR, "output0": TENSOR})
LIBRARY = f'{{"Add": {ENTRY}}}'
MIXLIST = '{"black-list": {"to-add": ["Add"]}}'

ACCEPTED = {"list": 0, "validate": 0, "move": 0, "fmt": 0}
REFUSED = {"list": 3, "validate": 1, "move": 3, "fmt": 3}
"""Every command refuses it."""
FIXED = {"list": 3, "validate": 1, "move": 3, "fmt": 0}
FIXED_BUT_REFUSED = {"list": 3, "validate": 1, "move": 3, "fmt": 1}
"""Valid or fixable JSON, but not a mixlist that the engine accepts."""

PLACE = re.compile(r"\.json:[0-9]+:[0-9]+(: |$)", re.MULTILINE)


_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters with an effect on a terminal: controls, and bidirectional marks."""


def checked(opsinfo: Callable[..., Any]) -> Hostile:
    """The ``opsinfo`` fixture with the invariants of every run."""

    def run(*words: str | Path, **options: Any) -> Any:
        ran = opsinfo(*words, **options)
        assert ran.code in STATUSES
        for text in (ran.out, ran.err):
            assert "Traceback" not in text
            assert "internal error" not in text, text[:500]
            assert "internal-fault" not in text
            assert not _RAW.search(text)
        if ran.code == 3:
            assert ran.err
            assert all(len(line) < 4000 for line in ran.err.splitlines())
        return ran

    return run


def limited(opsinfo: Callable[..., Any]) -> Hostile:
    """The ``opsinfo_process`` fixture with limits on the process, and the invariants of every run."""

    def run(*words: str | Path, seconds: int = 10, megabytes: int = 1000, **options: Any) -> Any:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        ran = opsinfo(*words, preexec_fn=limit, **options)
        assert ran.code >= 0, f"ended by signal {-ran.code} (24 is {seconds} s of processor time): {words}"
        return ran

    return checked(run)


def words_of(command: str, kind: str, path: Path) -> list[str]:
    if command == "fmt":
        return ["fmt", str(path)]
    more = ["Log" if kind == "mixlist" else "Add", "--to", "black"] if command == "move" else []
    return [command, str(path), *more, "--as", kind]


def is_insertion(before: bytes, after: bytes) -> bool:
    """Return whether ``after`` is ``before`` with an insertion at one place."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before.startswith(after[:middle]) else (low, middle - 1)
    return len(after) > len(before) and after.endswith(before[low:])


def check_commands(hostile: Hostile, path: Path, data: bytes, kind: str, codes: dict[str, int], **limits: int) -> None:
    """Every command on one file: its exit status, the place it names, and the file afterwards."""
    for command in ("list", "validate", "move", "fmt") if kind == "mixlist" else ("list", "validate", "move"):
        path.write_bytes(data)
        ran = hostile(*words_of(command, kind, path), **limits)
        assert ran.code == codes[command], (command, ran.err[:500], ran.out[:500])
        after = path.read_bytes()
        if command == "move" and ran.code == 0:
            assert is_insertion(data, after)
        elif command != "fmt" or ran.code == 3:
            assert after == data
        if ran.code in (1, 3):
            assert PLACE.search(ran.err + ran.out), (command, ran.err[:500])
