"""A policy that is printed of an OpDef source is that of the program which g++ makes of it, with a stub of OpDef."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "core/cann"))

from opdef_source import read, source  # noqa: E402
from test_cann_opdef_language import (  # noqa: E402
    BLACK,
    CHANGERS,
    COMPUTED,
    COPIES,
    HELPERS,
    MUTATIONS,
    PASS,
    RETURNED,
)

CONFIG = "OpAICoreConfig c; "
SOURCES = [
    *(source(f"{CONFIG}{body} c.PrecisionReduceFlag({flag}); {PASS}") for body, (flag, _) in MUTATIONS.items()),
    *(source(f'{CONFIG}{body} AICore().AddConfig("ascend910b", {passed});') for body, (passed, _) in COPIES.items()),
    *(source(body, **parts) for body, parts in HELPERS.values()),
    *(source(f"{CONFIG}{RETURNED[before]} {PASS}", before=before) for before in RETURNED),
    *(
        source(f"{CONFIG}{body} c.PrecisionReduceFlag({flag}); {PASS}", before=before)
        for before, bodies in COMPUTED.items()
        for body, (flag, _) in bodies.items()
    ),
    *(
        source(f"{CONFIG}{body} c.PrecisionReduceFlag(g); {PASS}", before=f"bool g = true; {before}")
        for before, bodies in [*BLACK.items(), *((before, (body,)) for before, body in CHANGERS.items())]
        for body in bodies
    ),
]
CANNOT_BE_COMPILED = 30
"""Sources at most that name what only a build has, or are no C++ at all."""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_a_policy_that_is_printed_is_that_of_the_compiled_program(tmp_path: Path) -> None:
    header = tmp_path / "opdef_stub.h"
    shutil.copy(HERE / header.name, header)
    compiler = ["g++", "-std=c++17", "-w"]
    subprocess.run([*compiler, header], check=True)
    wrong, refused = [], 0
    for text in SOURCES:
        own = text.replace("register/op_def_registry.h", header.name) + "int main() { ops::Show(); }\n"
        (tmp_path / "op.cpp").write_text(own)
        made = subprocess.run([*compiler, "op.cpp", "-o", "op"], cwd=tmp_path, capture_output=True, check=False)
        if made.returncode:
            refused += 1
            continue
        done = subprocess.run([tmp_path / "op"], capture_output=True, text=True, check=True)
        printed = [f"{row.chip} {row.policy_word}" for row in read(tmp_path, text).rows]
        if not set(printed) <= set(done.stdout.splitlines()):
            wrong.append((text, printed, done.stdout))
    assert wrong == []
    assert refused <= CANNOT_BE_COMPILED
