"""The problem matcher of the action on lines of `validate --format concise`, whose file names are hostile."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import Run, mixlist, write
from program_run import ROOT

(PATTERN,) = json.loads((ROOT / "action" / "problem-matcher.json").read_text("utf-8"))["problemMatcher"][0]["pattern"]


@pytest.mark.parametrize(
    "name", ["x: error[M001] fake: y", "a.json:1:1: warning[T001] b: c", "x: note[M001] a: b: error[M001] c: d", "a: b"]
)
def test_a_file_name_is_no_finding(opsinfo: Run, tmp_path: Path, name: str) -> None:
    write(tmp_path / f"{name}_ops_info.json", json.dumps(mixlist(black_add=["Add", "Add"])))
    out = opsinfo("validate", ".", "--format", "concise", cwd=tmp_path).out
    (match,) = filter(None, map(re.compile(PATTERN["regexp"]).match, out.splitlines()))
    assert match[PATTERN["code"]] == "M004"
    assert match[PATTERN["file"]].replace("\\x3a", ":") == f"{name}_ops_info.json"
