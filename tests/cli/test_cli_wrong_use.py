"""A bound without a limit. Wrong usage is in tests/answers."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from cli_support import Run


def test_a_huge_number_of_jobs_is_accepted(opsinfo: Run, opp: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Add", "--jobs", str(10**23)]
    assert opsinfo(*words, "--", "true", "{mixlist}").code == 0


def test_a_failure_of_the_system_is_no_internal_error(opsinfo: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "/disk/lib.json")

    monkeypatch.setattr("opsinfo_cli.app.cli.main", fail)
    ran = opsinfo("socs")
    assert (ran.code, ran.err) == (3, "error: the system failed: Input/output error\n  --> /disk/lib.json\n")


def test_help_is_a_command_too(opsinfo: Run) -> None:
    assert opsinfo("help", "systems", "show").out == opsinfo("systems", "show", "--help").out
    assert opsinfo("help").out == opsinfo("--help").out


def test_codes_of_the_engine_and_modes_are_explained(opsinfo: Run) -> None:
    names = [rule["name"] for rule in opsinfo("explain", "E20003", "--format", "json").json["rules"]]
    assert "contradiction" in names
    assert "bad-load-priority" in names
    assert "`opsinfo modes`" in opsinfo("explain", "force_fp16").out
    assert opsinfo("explain", "E99999").code == 2
