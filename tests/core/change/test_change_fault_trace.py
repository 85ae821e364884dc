"""An error that no code expected: one line on the terminal, and its trace in a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NoReturn

import pytest
from program_run import runner

from opsinfo_cli.core.commands import explain


def test_an_internal_error_is_reported_with_a_file_that_has_its_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise ValueError("not expected")

    monkeypatch.setattr(explain, "_chosen", fails)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ran = runner(tmp_path, in_process=True)("explain", "M001")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: internal error: ValueError: not expected\n")
    assert "Traceback" not in ran.err
    (trace,) = tmp_path.glob("opsinfo-fault-*.log")
    assert str(trace) in ran.err
    assert "in fails\n" in trace.read_text()


def test_a_trace_that_cannot_be_written_changes_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(explain, "_chosen", None)
    ran = runner(tmp_path, in_process=True)("explain", "M001")
    assert ran.code == 3
    assert "it could not be written" in ran.err
