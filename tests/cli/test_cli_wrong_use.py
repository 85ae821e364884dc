"""A bound without a limit. Wrong usage is in tests/answers."""

from __future__ import annotations

from pathlib import Path

from cli_support import Run


def test_a_huge_number_of_jobs_is_accepted(opsinfo: Run, opp: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Add", "--jobs", str(10**23)]
    assert opsinfo(*words, "--", "true").code == 0
