"""The number of findings, in one line."""

from __future__ import annotations

from ...check.finding import Outcome


def summary_line(outcome: Outcome) -> str:
    tally = outcome.tally
    counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")]
    said = ", ".join(counted(count, word) for count, word in counts if count)
    files = sum(verdict.kind in ("library", "mixlist") for verdict in outcome.files)
    return f"{counted(files, 'file')} checked: {said or 'no findings'}"


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
