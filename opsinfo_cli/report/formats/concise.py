"""Findings, one per line, for grep and problem matchers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...check.finding import Finding
from ...check.run import CheckResult
from ..escape import inert, visible
from ..terminal.failure import place_of
from ..terminal.style import PLAIN, Look


def concise(checked: CheckResult, look: Look = PLAIN) -> str:
    """Return a whole report, for a file."""
    failures = [f"{place_of(error)}: error {error.name}: {visible(error.message)}\n" for error in checked.failures]
    return "".join([*(f"{line}\n" for line in concise_lines(checked.outcome.findings, look)), *failures])


def concise_lines(findings: Iterable[Finding], look: Look) -> Iterator[str]:
    """`path:line:column: severity[code] name: message (hint)`."""
    for finding in findings:
        place = visible(finding.path) + (f":{finding.start.line}:{finding.start.column}" if finding.start else "")
        severity = look.paint(f"{finding.severity}[{finding.rule.code}]", finding.severity)
        hint = f" ({visible(finding.hint)})" if finding.hint else ""
        yield inert(f"{place}: {severity} {finding.rule.name}: {visible(finding.message)}{hint}")
