"""Findings for people, as a file: message, place, source line, hint."""

from __future__ import annotations

from ...check.run import CheckResult
from ..findings import failure_lines, finding_lines, plain, summary_line


def text(checked: CheckResult) -> str:
    lines = [*finding_lines(checked.outcome.findings, encoding="utf-8")]
    for error in checked.failures:
        lines += failure_lines(error)
    return "".join(f"{plain(line)}\n" for line in [*lines, summary_line(checked.outcome)])
