"""Huge files through the real commands: 100 MB, keys of 10 MB, a million op types, millions of levels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))

from hostile_support import (
    ACCEPTED,
    ENTRY,
    FIXED_BUT_REFUSED,
    REFUSED,
    Hostile,
    check_commands,
    limited,
)

MEGA = 1 << 20
LONG = "x" * (100 * MEGA)
KEY = "k" * (10 * MEGA)
MANY = 1_000_000
LIMITS = {"seconds": 100, "megabytes": 4000}

FILES: dict[str, Callable[[], tuple[str, str, dict[str, int]]]] = {
    # situation: (kind, text, exit status of each command)
    "a library with a string of 100 MB": lambda: (
        "library", f'{{"Big": {{"opFile": {{"value": "{LONG}"}}}}, "Add": {ENTRY}}}', ACCEPTED,
    ),
    "a library with a key of 10 MB": lambda: ("library", f'{{"{KEY}": {{}}, "Add": {ENTRY}}}', ACCEPTED),
    "a library with a key of 10 MB at every level": lambda: (
        "library", f'{{"Add": {ENTRY}, "{KEY}": {{"{KEY}": {{"{KEY}": "{KEY}"}}}}}}', ACCEPTED,
    ),
    "a library of a million op types": lambda: (
        "library", "{" + "".join(f'"Op{number}": {{}},\n' for number in range(MANY)) + f'"Add": {ENTRY}}}', ACCEPTED,
    ),
    "a library of 100 MB of entries": lambda: (
        "library", "{" + "".join(f'"Op{n}": {ENTRY},\n' for n in range(500_000)) + f'"Add": {ENTRY}}}', ACCEPTED,
    ),
    "a library of 100 MB of blanks": lambda: ("library", " " * len(LONG) + f'{{"Add": {ENTRY}}}', ACCEPTED),
    "a library with 100 MB behind its end": lambda: ("library", f'{{"Add": {ENTRY}}}\n{LONG}', ACCEPTED),
    "a library of 100 MB of escapes": lambda: (
        "library", f'{{"Add": {ENTRY}, "Log": {{"op": {{"x": "' + "\\ud83d\\ude00" * (8 * MEGA) + '"}}}', ACCEPTED,
    ),
    "a library of NULs": lambda: ("library", "\0" * len(LONG), REFUSED),
    "a library nested five million levels deep": lambda: (
        "library", '{"Add": {"op": {"pattern": ' + '[{"a":' * 2_500_000, REFUSED,
    ),
    "a library that ends in a string of 100 MB": lambda: ("library", '{"Add": {"' + LONG, REFUSED),
    "a mixlist with a name of 100 MB": lambda: (
        "mixlist", f'{{"black-list": {{"to-add": ["{LONG}", "Add"]}}}}', ACCEPTED,
    ),
    "a mixlist with a key of 10 MB": lambda: (
        "mixlist", f'{{"{KEY}": {{}}, "black-list": {{"to-add": ["Add"]}}}}', FIXED_BUT_REFUSED,
    ),
    "a mixlist of a million names": lambda: (
        "mixlist",
        '{"black-list": {"to-add": [' + ",\n".join(f'"Op{number}"' for number in range(MANY)) + "]}}",
        ACCEPTED,
    ),
    "a mixlist nested five million levels deep": lambda: (
        "mixlist", '{"black-list": {"to-add": [' + '{"a":[' * 2_500_000, REFUSED,
    ),
}  # fmt: skip


@pytest.fixture
def hostile(opsinfo_process: Callable[..., Any]) -> Hostile:
    return limited(opsinfo_process)


@pytest.mark.parametrize("situation", FILES)
def test_a_huge_file_is_read_or_refused_by_every_command(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    kind, text, codes = FILES[situation]()
    path = tmp_path / "f.json"
    check_commands(hostile, path, text.encode(), kind, codes, **LIMITS)
    path.unlink()
