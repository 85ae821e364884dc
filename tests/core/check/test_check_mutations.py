"""Damaged files: `validate` reports what a reader refuses and nothing else, and neither fails."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from check_support import Checker

from opsinfo_cli.core.cann.file_kind import NamedKind
from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import OpsinfoError

LIBRARY = {
    "Add": {
        "input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"},
        "output0": {"name": "y", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"},
        "precision_reduce": {"flag": "true"},
        "attr": {"list": "a"},
        "attr_a": {"type": "int", "value": "all", "paramType": "required"},
    },
    "Log": {"op": {"pattern": "formatAgnostic"}, "precision_reduce": {"flag": "false"}},
}
MIXLIST = {"black-list": {"to-add": ["Log", "Pow"], "to-remove": ["Exp"]}, "white-list": {"to-add": ["Add"]}}
KEYS = ["", "white_list", "to_add", "precison_reduce", "flag", "Flag", "input0", "output1", "attr_b", " Add ", "opInfo"]
VALUES = [None, True, 1, "", [], {}, "TRUE ", ["Add"], {"flag": "x"}, {"engine": "DNN_VM_AICPU"}, {"to-add": [None]}]
PIECES = ['"', "{", "}", "[", ",", ":", "// x\n", "null", "\\ud800", "\0", '"input0":', "\ufeff"]


def mutated(value: Any, source: random.Random) -> Any:
    if source.random() < 0.06:
        return source.choice(VALUES)
    if isinstance(value, dict):
        kept = {key: mutated(inner, source) for key, inner in value.items() if source.random() > 0.06}
        return {source.choice(KEYS) if source.random() < 0.06 else key: inner for key, inner in kept.items()}
    return [mutated(item, source) for item in value] if isinstance(value, list) else value


def broken(text: str, source: random.Random) -> str:
    at, length = source.randrange(len(text) + 1), source.randrange(6)
    return text[:at] + source.choice(["", source.choice(PIECES)]) + text[at + length :]


def is_read(kind: str, source: Source) -> bool:
    """Whether a reading command would accept a file."""
    try:
        if kind == "mixlist":
            Mixlist(scan(source))
            return True
        return not any(store.doubts for store in Library.of(source).operators.stores)
    except OpsinfoError:
        return False


@pytest.mark.parametrize("kind", ["library", "mixlist"])
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_judged_as_it_is_read(kind: NamedKind, seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    for _ in range(60):
        text = json.dumps(mutated(LIBRARY if kind == "library" else MIXLIST, source))
        text = broken(text, source) if source.random() < 0.3 else text
        checker = Checker(kind=kind)
        checker.check_named("x.json", text.encode())
        (verdict,) = checker.outcome.files
        assert verdict.engine_accepts is is_read(kind, Source(text.encode(), "x.json")), text
        Checker().check_named("x.json", text.encode())
        Checker().check_file("x.json", text.encode(), is_named=False)
