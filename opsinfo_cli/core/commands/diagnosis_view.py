"""The findings of `doctor`: lost edits first, notes folded into one line per rule, a tree on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..check.finding import SEVERITIES, Finding
from ..check.run import CheckResult
from ..terminal.answer import Answer, Block, Either, Line, Lines, Span, Tree
from ..terminal.escape import shortened
from ..terminal.findings import concise_lines, file_lines, finding_lines, findings_document, summary_line

_VAULT = "V"
"""The prefix of the codes of findings on edits made by opsinfo."""


def diagnosis_answer(checked: CheckResult, top: str, folds: bool, quiet: bool, width: int) -> Answer:
    """:param top: the folder to which a terminal shows places relative
    :param folds: whether only the number of notes is shown
    :param quiet: whether notes are left out
    :param width: cells of the terminal; 0 off a terminal
    """
    ordered = sorted(checked.outcome.findings, key=_urgency)
    notes = [finding for finding in ordered if finding.severity == "note"]
    hidden = notes if folds or quiet else []
    shown = [finding for finding in ordered if finding not in hidden]
    folded = [] if quiet else list(_folded(hidden))

    def blocks() -> list[Block]:
        return [
            Either(lambda: [_tree(shown, top, width)] if shown else [], lambda: [Lines(finding_lines(shown))]),
            Lines(folded),
        ]

    return Answer(
        lambda: findings_document(checked, []),
        blocks,
        variants={"concise": lambda: [Lines([*concise_lines(shown), *folded])]},
        details=file_lines(checked.outcome),
        failures=checked.failures,
        notes=[summary_line(checked.outcome)],
        status=checked.status,
    )


def _urgency(finding: Finding) -> tuple[bool, int, object]:
    return not finding.rule.code.startswith(_VAULT), SEVERITIES.index(finding.severity), finding.order


def _tree(findings: Sequence[Finding], top: str, width: int) -> Tree:
    """Return a branch for each file, with its findings and their hints; the file of the most urgent finding first."""
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.path, []).append(finding)
    branches = []
    for path, group in files.items():
        name = path.removeprefix(f"{top.rstrip('/')}/")
        branches.append(Tree(shortened(name, width - 4) if width else name, list(map(_branch, group))))
    return Tree([Span(top, "title")], branches)


def _branch(finding: Finding) -> Tree:
    place = f" (line {finding.start.line})" if finding.start else ""
    head = Span(f"{finding.severity}[{finding.rule.code}]:", finding.severity)
    label: Line = [head, Span(f" {finding.message}{place}")]
    hint: list[Tree] = [Tree([Span("hint:", "hint"), Span(f" {finding.hint}")])] if finding.hint else []
    return Tree(label, hint)


def _folded(notes: Sequence[Finding]) -> Iterator[Line]:
    """Yield one line for each rule, with the number of its findings."""
    for (code, name), count in Counter((note.rule.code, note.rule.name) for note in notes).items():
        if name == "shadowed":
            text = f"{count} entries are overridden (doctor --select {code})" if count > 1 else None
            text = text or f"1 entry is overridden (doctor --select {code})"
        else:
            text = f"{count} x {name}; --select {code} lists {'it' if count == 1 else 'them'}"
        yield [Span(f"note[{code}]", "note"), Span(f": {text}")]
