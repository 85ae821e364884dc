"""Lines with a counter of skipped steps, cumulative (DeepSpeed) or reset at each line (Megatron)."""

from __future__ import annotations

from .count import Count


class Counters:
    """Sums a counter. A log that begins after a resume is counted from its first line.

    ``without_skipped``: whether the log prints steps without the skipped ones, which the caller adds.
    """

    def __init__(self, cumulative: bool) -> None:
        self.cumulative = cumulative
        self.without_skipped = False
        self.lines = 0
        self._steps = self._overflows = self._leading = 0
        self._in_lead = True
        self._before: int | None = None
        """Overflows of the previous interval, while all intervals so far belong to the first descent."""
        self._first: tuple[int, int] | None = None
        """The first line of a run, until the next one shows how many steps it covers."""
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

    def _settle(self, spacing: int) -> None:
        if self._first is None:
            return
        (step, skipped), self._first = self._first, None
        resumed = 0 < spacing < step - skipped * self.without_skipped
        if not resumed:
            self._interval(step, skipped, skipped)
        elif not self.cumulative:
            self._interval(spacing, skipped, skipped)

    def _interval(self, made: int, overflows: int, skipped: int) -> None:
        overflows = min(made, overflows if overflows >= 0 else skipped)  # below zero: the counter was reset
        self._steps += made
        self._overflows += overflows
        if made and self._in_lead:
            half = 2 * overflows >= made
            self._in_lead = overflows > 0 and (half or self._before is None or overflows < self._before)
            self._leading += overflows if self._in_lead else 0
            self._before = overflows

    def count(self, steps: int | None) -> Count:
        self._settle(self._spacing)
        kind = "cumulative" if self.cumulative else "reset at each line"
        basis = f"{self.lines} lines with a counter of skipped steps ({kind})"
        total = steps or self._steps
        overflows = min(self._overflows, total)
        proof = "the log prints a counter of skipped steps"
        return Count(overflows, overflows, total, min(self._leading, overflows), basis, proof=proof)
