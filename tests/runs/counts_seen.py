"""Flags and messages as the readers add them, and the bounds of their counts."""

from __future__ import annotations

from opsinfo_cli.runs.count import Count
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.occurrences import Occurrences

Bounds = tuple[int, int]


def bounds(count: Count) -> Bounds:
    return count.low, count.high


def flagged(*flags: tuple[int | None, bool]) -> Flags:
    found = Flags()
    for step, overflow in flags:
        found.add(step, overflow)
    return found


def occurrences(*messages: tuple[float | None, int | None, int], spacing: int = 10) -> Occurrences:
    found = Occurrences()
    for value, at, copies in messages:
        found.add(value, at, spacing, copies)
    return found
