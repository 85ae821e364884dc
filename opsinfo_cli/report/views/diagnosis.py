"""The findings of `doctor` as text: lost edits first, notes folded into one line per rule."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from ...check.finding import SEVERITIES, Finding
from ..formats.concise import concise_lines
from ..formats.text import finding_lines
from ..terminal.output import Output

_VAULT = "V"
"""The prefix of the codes of findings on edits made by opsinfo."""


def show_diagnosis(output: Output, findings: list[Finding], format_: str, seen_from: str, folds: bool) -> None:
    """Print the findings in the format `text` or `concise`; without notes if the output is quiet.

    :param seen_from: the folder to which places are shown relative on a terminal
    :param folds: whether only the number of notes is shown
    """
    ordered = sorted(findings, key=_urgency)
    notes = [each for each in ordered if each.severity == "note"]
    hidden = notes if folds or output.quiet else []
    shown = [each for each in ordered if each not in hidden]
    look = output.look(sys.stdout)._replace(seen_from=seen_from)
    with output.paged():
        output.lines((concise_lines if format_ == "concise" else finding_lines)(shown, look))
        if not output.quiet:
            output.lines(_folded(output, hidden))


def _urgency(finding: Finding) -> tuple[bool, int, object]:
    return not finding.rule.code.startswith(_VAULT), SEVERITIES.index(finding.severity), finding.order


def _folded(output: Output, notes: list[Finding]) -> Iterator[str]:
    """Yield one line for each rule, with the number of its findings."""
    for rule, count in Counter((each.rule.code, each.rule.name) for each in notes).items():
        code, name = rule
        head = output.paint(f"note[{code}]", "note")
        yield f"{head}: {count} x {name}; --select {code} lists {'it' if count == 1 else 'them'}"
