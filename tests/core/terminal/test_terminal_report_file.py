"""Reports that replace a file."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from opsinfo_cli.core.terminal import report_file


@pytest.mark.parametrize("name", ["report.json", "report.ini", "report.cpp", "report.txt"])
def test_a_file_that_cannot_be_read_may_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its folder decides whether it is."""

    def refuse(*_: object) -> NoReturn:
        raise PermissionError

    (tmp_path / name).write_text("kept")
    monkeypatch.setattr(report_file, "open", refuse, raising=False)
    report_file.require_report(str(tmp_path / name))
