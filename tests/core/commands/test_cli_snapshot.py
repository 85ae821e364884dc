"""`opsinfo snapshot` to standard output. Its other answers are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run


@pytest.fixture
def taken(opsinfo: Run, fixtures: Path, tmp_path: Path) -> Path:
    path = tmp_path / "ascend910b.opsinfo.json"
    ran = opsinfo("snapshot", fixtures / "opp", "--soc", "ascend910b", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    assert "made" in ran.err
    return path


def test_standard_output_and_a_file_are_equal(opsinfo: Run, fixtures: Path, opp: Path, taken: Path) -> None:
    for words in ((fixtures / "opp",), (opp,), (taken,)):
        ran = opsinfo("snapshot", *words, "--soc", "ascend910b")
        assert (ran.code, ran.out, ran.err) == (0, taken.read_text("utf-8"), "")
