"""What tests say of C++ is true: the programs that g++ makes of their sources, with a stub of OpDef, print it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "core/cann"))

from opdef_source import PROGRAMS, source  # noqa: E402
from test_cann_opdef_language import (  # noqa: E402
    CONDITIONS,
    EXPRESSIONS,
    HELPERS,
    PASS,
    REPLACED,
    replaced_in,
    under,
)

DTYPES = {"float32": "FLOAT", "bfloat16": "BF16", "int8": "INT8", "bool": "BOOL"}


def equal(before: str, expression: str, wanted: str) -> str:
    """Return a source that is white if a column has the dtypes that it is to have."""
    items = ", ".join(f"ge::DT_{DTYPES[each]}" for each in wanted.split(","))
    compared = f"std::vector<ge::DataType> found = {expression};"
    flag = f"found == std::vector<ge::DataType>{{{items}}}"
    return source(f"{before} {compared} OpAICoreConfig c; c.PrecisionReduceFlag({flag}); {PASS}")


SOURCES = [
    *((f"line {each.line}", each.text, f"ascend910b {each.policy}") for each in PROGRAMS),
    *((name, source(body, **parts), "ascend910b black") for name, (body, parts) in HELPERS.items()),
    *((name, equal(*row), "ascend910b white") for name, row in EXPRESSIONS.items()),
    *((line, under(line), f"ascend910b {policy}") for line, policy in CONDITIONS.items()),
    *((name, replaced_in(*row[:2]), f"{row[2]} white") for name, row in REPLACED.items() if row[2] is not None),
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_a_policy_of_a_table_is_that_of_the_compiled_program(tmp_path: Path) -> None:
    header = tmp_path / "opdef_stub.h"
    shutil.copy(HERE / header.name, header)
    compiler = ["g++", "-std=c++17", "-w"]
    subprocess.run([*compiler, header], check=True)
    wrong = []
    for name, text, wanted in SOURCES:
        own = text.replace("register/op_def_registry.h", header.name) + "int main() { ops::Show(); }\n"
        (tmp_path / "op.cpp").write_text(own)
        made = subprocess.run(
            [*compiler, "op.cpp", "-o", "op"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, (name, text, made.stderr)
        printed = subprocess.run([tmp_path / "op"], capture_output=True, text=True, check=True).stdout
        if wanted not in printed.splitlines():
            wrong.append((name, text, wanted, printed))
    assert wrong == []
