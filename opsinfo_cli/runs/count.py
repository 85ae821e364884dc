"""The number of overflowed steps of a run, as far as its log proves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

WIDTH = 0.1
"""How wide ``low..high`` may be, as a share of the count; a width of one step is always allowed."""


@dataclass(frozen=True)
class Count:
    """Overflowed steps of a run: at least ``low``, at most ``high``.

    :param calibrating: overflows of the first descent of the scale, which starts too high on purpose
    :param steps: all optimizer steps; None if the log does not show them
    :param basis: what was counted, in words
    :param doubt: why it is not a measurement; None if it is one
    :param proof: what shows that this log reports skipped steps; None if nothing does, and then a count of zero
        is not a measurement
    :param notes: what is odd about the log, and why ``low`` and ``high`` differ
    """

    low: int
    high: int
    steps: int | None
    calibrating: int
    basis: str
    ranks: int | None = None
    doubt: str | None = None
    proof: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_narrow(self) -> bool:
        """Whether the bounds are close enough to be called a count."""
        return self.high - self.low <= max(1, self.low * WIDTH)

    def noted(self, *notes: str) -> Count:
        return replace(self, notes=(*self.notes, *notes))


def checked(count: Count) -> Count:
    """The count without a number of steps that is smaller than the number of overflows: that is a misreading."""
    if count.steps is None or count.low <= count.steps:
        return count
    note = f"{count.low} overflows in {count.steps} steps: the number of steps is from another counter"
    return replace(count, steps=None, calibrating=min(count.calibrating, count.low)).noted(note)
