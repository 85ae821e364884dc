"""Standard input as TARGET. Other targets are in tests/answers and tests/core/cann."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import NN, Run, rows


@pytest.mark.parametrize("kind", ["library", "mixlist"])
def test_standard_input_needs_no_kind(opsinfo: Run, fixtures: Path, kind: str) -> None:
    path = fixtures / "opp" / NN if kind == "library" else fixtures / "mixlists/good/add-black.json"
    ran = opsinfo("list", "-", "--as", kind, input=path.read_bytes())
    assert ran.code == 0
    assert rows(ran)[0][3].startswith("-:")
    assert opsinfo("list", "-", input=path.read_bytes()).out == ran.out
    shown = opsinfo("show", "-", rows(ran)[0][0], "--as", kind, input=path.read_bytes())
    assert shown.code == (0 if kind == "library" else 2)
