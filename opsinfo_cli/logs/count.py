"""The number of overflowed steps of a run, as far as its log proves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

WIDTH = 0.1
"""The greatest width of ``low..high`` as a share of the count; a width of one step is always allowed."""


@dataclass(frozen=True)
class Count:
    """Overflowed steps of a run: at least ``low``, at most ``high``.

    :param steps: all optimizer steps; None if the log does not show them
    :param calibrating: overflows of the scale's first descent; scalers start too high on purpose
    :param basis: what was counted, as text for people
    :param logged: steps that the log shows, if it is a sample of the steps and their number is known
    :param even: whether the logged steps have equal distances, so that they stand for all
    :param doubt: why the count is not a measurement; None if it is one
    :param proof: what shows that this log reports skipped steps; without it a count of zero is not a measurement
    :param notes: oddities of the log, and why ``low`` and ``high`` differ
    """

    low: int
    high: int
    steps: int | None
    calibrating: int
    basis: str
    ranks: int | None = None
    logged: int | None = None
    even: bool = False
    doubt: str | None = None
    proof: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_narrow(self) -> bool:
        return self.high - self.low <= max(1, self.low * WIDTH)

    def with_note(self, *notes: str) -> Count:
        return replace(self, notes=(*self.notes, *notes))

    def without_wrong_steps(self) -> Count:
        """Return the count, without its steps if they are fewer than the overflows: then they were misread."""
        if self.steps is None or self.low <= self.steps:
            return self
        note = f"{self.low} overflows in {self.steps} steps: the number of steps comes from another counter"
        return replace(self, steps=None, calibrating=min(self.calibrating, self.low)).with_note(note)
