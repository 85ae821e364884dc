"""The number of overflowed steps of a run, as far as its log proves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

WIDTH = 0.1
"""The greatest width of ``low..high`` as a share of the count; a width of one step is always allowed."""


@dataclass(frozen=True)
class Count:
    """Overflowed steps of a run: at least ``low``, at most ``high``.

    :param calibrating: overflows of the scale's first descent; scalers start too high on purpose
    :param steps: all optimizer steps; None if the log does not show them
    :param basis: what was counted, as text for people
    :param doubt: why the count is not a measurement; None if it is one
    :param proof: what shows that this log reports skipped steps; if None, a count of zero
        is not a measurement
    :param notes: oddities of the log, and why ``low`` and ``high`` differ
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
        """Whether the bounds are close enough for a count."""
        return self.high - self.low <= max(1, self.low * WIDTH)

    def noted(self, *notes: str) -> Count:
        return replace(self, notes=(*self.notes, *notes))


def checked(count: Count) -> Count:
    """Return the count, without its number of steps if that is below the number of overflows: it was misread."""
    if count.steps is None or count.low <= count.steps:
        return count
    note = f"{count.low} overflows in {count.steps} steps: the number of steps comes from another counter"
    return replace(count, steps=None, calibrating=min(count.calibrating, count.low)).noted(note)
