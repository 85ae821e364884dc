"""The number of overflowed steps of a run, as far as its log proves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.document import Count, optional

WIDTH = 0.1
"""The greatest width of ``low..high`` as a share of the count; a width of one step is always allowed."""


@dataclass(frozen=True)
class Overflows:
    """The number of overflowed steps; each step counts once, even if several ranks printed it."""

    low: Count
    """Lower bound of the number of overflowed steps."""
    high: Count
    """Upper bound; equal to low if the log shows the exact number."""
    steps: int | None
    """Number of all steps; null if the log does not show it."""
    calibrating: Count
    """Overflowed steps during the first descent of the scale."""
    basis: str
    """What was counted, as text."""
    ranks: int | None = None
    """Number of ranks that print into the log; null if unknown."""
    logged: int | None = optional(null=True)
    """The number of steps that the log shows, if it is a sample of them; null if it shows all, or if the number is
    unknown.
    """
    even: bool = optional(False, null=True)
    """Whether the logged steps of a sample have equal distances."""
    doubt: str | None = None
    """Why the count is not a measurement; null if it is one."""
    proof: str | None = optional(null=True)
    """Evidence that this log reports skipped steps; null if there is none."""
    notes: tuple[str, ...] = optional((), null=True)
    """Oddities of the log, and why low and high differ."""

    @property
    def is_narrow(self) -> bool:
        return self.high - self.low <= max(1, self.low * WIDTH)

    def with_note(self, *notes: str) -> Overflows:
        return replace(self, notes=(*self.notes, *notes))

    def without_wrong_steps(self) -> Overflows:
        """Return the count, without its steps if they are fewer than the overflows: then they were misread."""
        if self.steps is None or self.low <= self.steps:
            return self
        note = f"{self.low} overflows in {self.steps} steps: the number of steps comes from another counter"
        return replace(self, steps=None, calibrating=min(self.calibrating, self.low)).with_note(note)
