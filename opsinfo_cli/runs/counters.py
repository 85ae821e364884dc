"""Lines with a counter of skipped steps, cumulative (DeepSpeed) or reset at each line (Megatron)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import sub
from typing import NamedTuple

from .count import Count


class CounterPlaces(NamedTuple):
    """Where a line shows its step and the counter."""

    step: slice
    skipped: slice


def counter_places(shape: bytes, pattern: re.Pattern[bytes], word: bytes) -> CounterPlaces | None:
    """Return the places in a shape that has a word once; None if ``pattern``, with a group for each, is not found."""
    match = pattern.search(shape) if shape.count(word) == 1 else None
    return CounterPlaces(slice(*match.span(1)), slice(*match.span(2))) if match else None


class Counters:
    """Sums a counter. A log that begins after a resume is counted from its first line."""

    def __init__(self, cumulative: bool) -> None:
        self.cumulative = cumulative
        self.without_skipped = False
        """Whether the log prints steps without the skipped ones, which the caller adds."""
        self.lines = 0
        self._steps = self._overflows = self._leading = 0
        self._in_lead = True
        self._before: int | None = None
        """Overflows of the previous interval, while all intervals so far belong to the first descent."""
        self._first: tuple[int, int] | None = None
        self._at: tuple[int, int] | None = None
        self._spacing = 0

    @property
    def last_step(self) -> int:
        """The step of the newest line, 0 if there is none."""
        return self._at[0] if self._at else 0

    def add(self, step: int, skipped: int) -> bool:
        """:returns: whether the line is new, not another rank's copy of the previous one"""
        if self._at is not None and step == self._at[0]:
            return False
        self.lines += 1
        if self._at is None:
            self._first = (step, skipped)
        elif step < self._at[0]:  # a restart appended to the same file
            self._settle(self._spacing)
            self._first = (step, skipped)
        else:
            self._spacing = step - self._at[0]
            self._settle(self._spacing)
            self._interval(step - self._at[0], skipped - self._at[1] if self.cumulative else skipped, skipped)
        self._at = (step, skipped)
        return True

    def add_rows(self, steps: Sequence[int], skipped: Sequence[int]) -> Sequence[int]:
        """Add lines in order: one by one until the first is counted, which takes the next step; the rest at once.

        :returns: the numbers of the lines that are new, as :meth:`add` says
        """
        rows = range(len(steps))
        taken = 0
        new = []
        while taken < len(steps) and (self._at is None or self._first is not None):
            if self.add(steps[taken], skipped[taken]):
                new.append(taken)
            taken += 1
        later, counts = steps[taken:], skipped[taken:]
        if not later or self._at is None:
            return new
        made = list(map(sub, later, (self._at[0], *later)))
        over = list(map(sub, counts, (self._at[1], *counts))) if self.cumulative else counts
        if min(made) <= 0 or min(over) < 0:  # a rank's copy, a restart or a counter that was reset
            return [*new, *(row for row in rows[taken:] if self.add(steps[row], skipped[row]))]
        self.lines += len(later)
        self._steps += sum(made)
        if any(over):
            over = list(map(min, made, over))
            self._overflows += sum(over)
        if self._in_lead:
            for interval in zip(made, over, strict=True):
                if not self._leads(*interval):
                    break
        self._spacing = made[-1]
        self._at = (later[-1], counts[-1])
        return [*new, *rows[taken:]] if taken else rows

    def _settle(self, spacing: int) -> None:
        """Count the first line, once the distance between lines shows how many steps it covers."""
        if self._first is None:
            return
        (step, skipped), self._first = self._first, None
        resumed = 0 < spacing < step - skipped * self.without_skipped
        if not resumed:
            self._interval(step, skipped, skipped)
        elif not self.cumulative:
            self._interval(spacing, skipped, skipped)

    def _interval(self, made: int, over: int, skipped: int) -> None:
        self._steps += made
        if over == 0 and not self._in_lead:
            return
        over = min(made, over if over >= 0 else skipped)  # below zero: the counter was reset
        self._overflows += over
        if made and self._in_lead:
            self._leads(made, over)

    def _leads(self, made: int, over: int) -> bool:
        """Add an interval to the first descent, and return whether it belongs to it."""
        self._in_lead = over > 0 and (2 * over >= made or self._before is None or over < self._before)
        self._leading += over if self._in_lead else 0
        self._before = over
        return self._in_lead

    def count(self, steps: int | None) -> Count:
        self._settle(self._spacing)
        kind = "cumulative" if self.cumulative else "reset at each line"
        basis = f"{self.lines} lines with a counter of skipped steps ({kind})"
        total = steps or self._steps
        over = min(self._overflows, total)
        proof = "the log prints a counter of skipped steps"
        return Count(over, over, total, min(self._leading, over), basis, proof=proof)
