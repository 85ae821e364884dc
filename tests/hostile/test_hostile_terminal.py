"""No file content controls a terminal: no escapes, 8-bit controls or bidirectional marks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract import STATUSES

EVIL = "Add\x1b]0;owned\x07\x9b31m\u202eeno\u200f\x7f\r\x08"
C1 = "Mul\x9b2J\x85\u202ex\x7f"
"""Characters that JSON allows raw in a string."""

OURS = re.compile("\x1b\\[[0-9;]*m|\r\x1b\\[K[ -~]*")
"""Colours, and a progress line, which appears on a slow machine."""

RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200f\u202e]|\r(?!\n)")


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    entry = {"input0": {"name": EVIL, "dtype": EVIL, "format": "ND", "paramType": "required"}, EVIL: {EVIL: EVIL}}
    (tmp_path / "a-aic-x-ops-info.json").write_text(json.dumps({EVIL: {}, C1: {}, "Log": {}}, ensure_ascii=False))
    (tmp_path / "b.json").write_text(json.dumps({EVIL: entry, C1: {}, "Log": {"precision_reduce": {"flag": EVIL}}}))
    (tmp_path / "m.json").write_text(
        json.dumps({"black-list": {"to-add": [EVIL, C1, "Log"]}}, ensure_ascii=False).replace(
            json.dumps(EVIL, ensure_ascii=False), json.dumps(EVIL)
        )
    )
    (tmp_path / "n.json").write_text(json.dumps({EVIL: {EVIL: [EVIL]}, "black-list": {EVIL: [EVIL]}}))
    (tmp_path / "c.json").write_text('{"black-list": {"to-add": ["' + C1 + '",]}} ' + EVIL)
    return tmp_path


COMMANDS: dict[str, list[str]] = {
    "list a library": ["list", "a-aic-x-ops-info.json", "--as", "library"],
    "list a bad library": ["list", "b.json", "--as", "library"],
    "list a mixlist": ["list", "m.json"],
    "list a bad mixlist": ["list", "n.json", "--as", "mixlist"],
    "list with a mixlist": ["list", "a-aic-x-ops-info.json", "--as", "library", "--mixlist", "m.json"],
    "list json": ["list", "m.json", "--format", "json"],
    "show": ["show", "a-aic-x-ops-info.json", "Log", C1, "--as", "library"],
    "show an unknown name": ["show", "a-aic-x-ops-info.json", "\x1b[2J", "--as", "library"],
    "validate": ["validate", "b.json", "--as", "library"],
    "validate json": ["validate", "b.json", "--as", "library", "--format", "json"],
    "validate mixlists": ["validate", "m.json", "n.json", "c.json", "--as", "mixlist"],
    "a missing file": ["list", "none\x1b[2J.json"],
    "an unknown command": ["\x1b[2J"],
    "an unknown option": ["list", "--\x1b[2J"],
    "an unknown list": ["list", "m.json", "--on", "\x1b[2J"],
    "an unknown code": ["explain", "\x1b[2J"],
    "an unknown schema": ["schema", "\x1b[2J"],
    "move in a mixlist": ["move", "m.json", "Add\x1b[2J", "--to", "black"],
    "move in a mixlist, dry": ["move", "m.json", "Log", "--to", "white", "--dry-run"],
    "move in a library": ["move", "a-aic-x-ops-info.json", C1, "--to", "black", "--as", "library", "-v"],
    "move in a library, dry": ["move", "a-aic-x-ops-info.json", C1, "--to", "black", "--as", "library", "--dry-run"],
    "fmt, dry": ["fmt", "c.json", "-n"],
    "fmt": ["fmt", "c.json"],
    "diff of mixlists": ["diff", "m.json", "c.json"],
    "backups": ["backups", "\x1b[2J.json"],
    "restore": ["restore", "\x1b[2J.json"],
}


@pytest.mark.parametrize("situation", COMMANDS)
def test_text_of_files_and_arguments_is_escaped_on_a_terminal(
    opsinfo: Callable[..., Any], evil: Path, situation: str
) -> None:
    ran = opsinfo(*COMMANDS[situation], cwd=evil, env={"TERM": "xterm", "COLUMNS": "200"}, terminal=True)
    assert ran.code in STATUSES
    seen = OURS.sub("", ran.out + ran.err)
    assert seen
    assert not RAW.search(seen), repr(seen)
    assert "owned\x07" not in seen
