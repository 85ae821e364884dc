"""Findings for people: message, place, source line, hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...check.finding import Finding
from ...check.run import CheckResult
from ..escape import visible
from ..terminal.caret import caret_lines
from ..terminal.failure import failure_lines, headed_lines
from ..terminal.places import PlaceCell, below
from ..terminal.style import PLAIN, Look
from .summary import summary_line


def finding_lines(findings: Iterable[Finding], look: Look) -> Iterator[str]:
    """Yield a paragraph for each finding, followed by a blank line."""
    for finding in findings:
        yield from _paragraph(finding, look)
        yield ""


def _paragraph(finding: Finding, look: Look) -> Iterator[str]:
    start = finding.start
    yield from headed_lines(f"{finding.severity}[{finding.rule.code}]:", finding.severity, finding.message, look)
    yield f"  --> {_place(finding, look)}"
    if start and finding.snippet:
        yield from caret_lines(finding.snippet, start.line, look, finding.severity)
    if finding.hint:
        yield ""
        yield from headed_lines("hint:", "hint", finding.hint, look)


def _place(finding: Finding, look: Look) -> str:
    """Return `path:line:column`, relative to a folder and shortened if ``look`` has one."""
    start = finding.start
    place = PlaceCell(visible(finding.path), f":{start.line}:{start.column}" if start else "")
    if not (look.breaks and look.seen_from):
        return str(place)
    return place._replace(path=below(place.path, look.seen_from)).within(look.width - len("  --> "))


def text(checked: CheckResult, look: Look = PLAIN) -> str:
    """Return a whole report, for a file."""
    lines = [*finding_lines(checked.outcome.findings, look)]
    for error in checked.failures:
        lines += failure_lines(error, look)
    return "".join(f"{line}\n" for line in [*lines, summary_line(checked.outcome)])
