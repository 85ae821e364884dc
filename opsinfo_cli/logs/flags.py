"""Lines that show whether one step overflowed, printed by each rank."""

from __future__ import annotations

from collections import OrderedDict
from math import gcd

from .count import Overflows

_REMEMBERED = 4096
_REGULAR = 5
"""So many clean steps at equal distances are lines that are printed regularly."""
_APART = 64
_PROOF = "the log prints an overflow flag"


class Flags:
    """Overflow flags by step. Several ranks may print a step; a run may print only every n-th step.

    ``averaged``: whether a flag was an average over several steps; ``each_step``: whether every step prints one.
    """

    def __init__(self) -> None:
        self.printed = self.overflows = 0
        self.averaged = self.each_step = False
        self._first: int | None = None
        self.last: int | None = None
        self._without_step = 0
        self._grid = 0
        """The distance of clean steps."""
        self._clean: int | None = None
        self._clean_steps = 0
        self._newest: int | None = None
        self._least: int | None = None
        self.most = 0
        """The greatest distance of two steps, as ``_least`` is the least one."""
        self._overflowed: list[int] = []
        self._leading = 0
        self._in_lead = True
        self._recent: OrderedDict[int, bool] = OrderedDict()

    def add(self, step: int | None, overflow: bool) -> bool:
        """:returns: whether the step is new, not another rank's flag of a known step"""
        if step is None:
            self._without_step += 1
        elif step in self._recent:
            if overflow and not self._recent[step]:  # only this rank overflowed
                self._recent[step] = True
                self.overflows += 1
            return False
        else:
            self._recent[step] = overflow
            if len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)
            if self._newest is not None:
                apart = abs(step - self._newest)
                self._least, self.most = min(self._least or apart, apart), max(self.most, apart)
            self._newest = step
            self._first = step if self._first is None else min(self._first, step)
            self.last = step if self.last is None else max(self.last, step)
            if not overflow:
                if self._clean is not None:
                    self._grid = gcd(self._grid, abs(step - self._clean))
                self._clean = step
                self._clean_steps += 1
            elif len(self._overflowed) < _REMEMBERED:
                self._overflowed.append(step)
        self.printed += 1
        self.overflows += overflow
        self._in_lead = self._in_lead and overflow
        self._leading += self._in_lead
        return True

    def begins_again(self, step: int) -> bool:
        """Whether a step is the start of another run in the same log: far before the last, and no later than the first.
        Ranks that print to one log are closer together.
        """
        return self._first is not None and self.last is not None and step <= self._first <= self.last - _APART

    @property
    def numbers_steps(self) -> bool:
        return not self._without_step

    def count(self, steps: int | None, ranks: int | None, printed: int | None = None) -> Overflows:
        """:param printed: the number of steps that other lines of the log show"""
        calibrating = min(self._leading, self.overflows)
        if self._without_step:
            return self._count_of_lines(steps, ranks or 1, printed)
        if self._first is None or self.last is None:
            return Overflows(0, 0, steps, 0, "no step")
        begun = 0 if 0 < self._first <= max(1, self._grid) else self._first - 1
        spanned = steps or self.last - begun
        basis = f"flags of {self.printed} steps, {self._first} to {self.last}"
        calibrating = 0 if begun else calibrating
        whole = self.printed >= spanned or self._every_overflow_printed()
        if whole and not self.averaged and self.printed > 1:
            return Overflows(self.overflows, self.overflows, spanned, calibrating, basis, proof=_PROOF)
        shown = "flags averaged over several steps" if self.averaged else "printed steps overflowed"
        doubt = f"sampled: {self.overflows} of {self.printed} {shown}, of {spanned} steps made"
        logged = None if self.averaged else self.printed
        even = self._least is not None and self.most <= 2 * self._least  # one may be missing between two
        return Overflows(
            self.overflows, spanned, spanned, calibrating, basis, logged=logged, even=even, doubt=doubt, proof=_PROOF
        )

    def _count_of_lines(self, steps: int | None, ranks: int, printed: int | None) -> Overflows:
        """Count flags of lines that show no step: exact only if each step is known to print one."""
        lines, overflows, calibrating = (
            -(-number // ranks) for number in (self._without_step, self.overflows, min(self._leading, self.overflows))
        )
        made = steps or printed
        basis = f"{self._without_step} lines with a flag"
        if (made is None and self.each_step) or (made is not None and made <= lines + 1):
            total = steps or lines
            return Overflows(overflows, overflows, total, calibrating, basis, ranks, proof=_PROOF)
        doubt = f"sampled: {overflows} of {lines} lines without a step, of {made or 'an unknown number of'} steps made"
        high = max(overflows, made or overflows)
        return Overflows(overflows, high, made, calibrating, basis, ranks, logged=lines, doubt=doubt, proof=_PROOF)

    def _every_overflow_printed(self) -> bool:
        """Whether overflows are printed besides the regular lines, as in YOLOX, so that none is missing."""
        clean, grid = self._clean, self._grid
        if clean is None or grid == 0 or self._clean_steps < _REGULAR:
            return False
        return any((step - clean) % grid for step in self._overflowed)
