"""Findings, one per line, for grep and problem matchers."""

from __future__ import annotations

from ...check.run import CheckResult
from ..console import place_of
from ..escape import visible
from ..findings import concise_lines, plain


def concise(checked: CheckResult) -> str:
    failures = [f"{place_of(error)}: error {error.name}: {visible(error.message)}" for error in checked.failures]
    return "".join(f"{plain(line)}\n" for line in [*concise_lines(checked.outcome.findings), *failures])
