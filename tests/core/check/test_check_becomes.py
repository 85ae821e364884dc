"""M007 names what the compiler makes of an op type alone, before policies act."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BOTH = {"name": "x", "paramType": "required", "dtype": "float16,float"}
LIBRARY = {name: {"input0": BOTH, "output0": BOTH} for name in ("Pow", "Square", "Exp", "RealDiv", "Muls")}


@pytest.mark.parametrize(
    ("mixlist", "named"),
    [
        ({"black-list": {"to-add": ["Pow"]}}, True),
        ({"black-list": {"to-add": ["RealDiv", "Square"]}}, True),
        ({"white-list": {"to-add": ["Exp", "Pow"]}}, True),
        ({"black-list": {"to-add": ["Pow", "Square"]}}, False),
        ({"black-list": {"to-add": ["Exp"]}}, False),
    ],
)
def test_what_it_becomes_is_named_where_only_the_op_type_is_moved(
    mixlist: dict[str, Any], named: bool, opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "aic-ascend910b-ops-info.json").write_text(json.dumps(LIBRARY))
    (tmp_path / "list.json").write_text(json.dumps(mixlist))
    library = str(tmp_path / "aic-ascend910b-ops-info.json")
    done = opsinfo("validate", str(tmp_path / "list.json"), "--against", library, "--format", "concise", "-v")
    found = [line for line in done.out.splitlines() if "M007" in line and " stays gray" in line]
    assert (len(found) == 1) == named
