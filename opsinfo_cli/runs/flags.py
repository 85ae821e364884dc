"""Lines that show whether one step overflowed, printed by each rank."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice
from math import gcd
from operator import lt, sub

from .count import Count

_REMEMBERED = 4096
_PROOF = "the log prints an overflow flag"


class Flags:
    """Overflow flags by step. Several ranks may print a step; a run may print only every n-th step."""

    def __init__(self) -> None:
        self.printed = self.overflows = 0
        self.unnumbered = 0
        self.first: int | None = None
        self.last: int | None = None
        self.averaged = False
        """Whether a flag was an average over several steps."""
        self._grid = 0
        self._clean: int | None = None
        self._off_grid: list[int] = []
        self._leading = 0
        self._in_lead = True
        self._recent: OrderedDict[int, bool] = OrderedDict()

    def add(self, step: int | None, overflow: bool) -> bool:
        """:returns: whether the step is new, not another rank's flag of a known step"""
        if step is None:
            self.unnumbered += 1
        elif self._known(step, overflow):
            return False
        else:
            self._place(step, overflow)
        self.printed += 1
        self.overflows += overflow
        if not overflow:
            self._in_lead = False
        self._leading += self._in_lead
        return True

    def add_clean(self, steps: Sequence[int]) -> bool:
        """Add steps without overflows, if all come after what is known, which needs no look at each.

        :returns: whether they were added; if not, :meth:`add` takes them one by one
        """
        before = self._clean
        if before is None or self.last is None or steps[0] <= self.last:
            return False
        if not all(map(lt, steps, islice(steps, 1, None))):
            return False
        self._grid = gcd(self._grid, steps[0] - before, *map(sub, islice(steps, 1, None), steps))
        self._clean = self.last = steps[-1]
        self.printed += len(steps)
        self._in_lead = False
        self._recent.update(dict.fromkeys(steps[-_REMEMBERED:], False))
        while len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        return True

    def _known(self, step: int, overflow: bool) -> bool:
        if step not in self._recent:
            self._recent[step] = overflow
            if len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)
            return False
        if overflow and not self._recent[step]:  # only this rank overflowed
            self._recent[step] = True
            self.overflows += 1
        return True

    def _place(self, step: int, overflow: bool) -> None:
        self.first = step if self.first is None else min(self.first, step)
        self.last = step if self.last is None else max(self.last, step)
        if overflow:
            if len(self._off_grid) < _REMEMBERED:
                self._off_grid.append(step)
        else:
            if self._clean is not None:
                self._grid = gcd(self._grid, abs(step - self._clean))
            self._clean = step

    def count(self, steps: int | None, ranks: int | None) -> Count:
        calibrating = min(self._leading, self.overflows)
        if self.unnumbered:
            total = steps or self.unnumbered // (ranks or 1)
            over, calibrating = (-(-each // (ranks or 1)) for each in (self.overflows, calibrating))
            basis = f"{self.unnumbered} lines, one per step"
            return Count(over, over, total, calibrating, basis, ranks, proof=_PROOF)
        if self.first is None or self.last is None:
            return Count(0, 0, steps, 0, "no step")
        begun = 0 if 0 < self.first <= max(1, self._grid) else self.first - 1
        spanned = steps or self.last - begun
        basis = f"flags of {self.printed} steps, {self.first} to {self.last}"
        whole = self.printed >= spanned or self._every_overflow_printed()
        if whole and not self.averaged and self.printed > 1:
            return Count(self.overflows, self.overflows, spanned, calibrating, basis, proof=_PROOF)
        shown = "flags averaged over several steps" if self.averaged else f"of {self.printed} printed steps overflowed"
        lines = f"{self.overflows} {shown}" if not self.averaged else f"{self.overflows} of {self.printed} {shown}"
        doubt = f"sampled: {lines}, of {spanned} steps made"
        return Count(self.overflows, spanned, spanned, calibrating, basis, doubt=doubt, proof=_PROOF)

    def _every_overflow_printed(self) -> bool:
        """Whether overflows are printed besides the regular lines, as in YOLOX, so that none is missing."""
        if self._grid < 2 or self._clean is None:
            return False
        return any((step - self._clean) % self._grid for step in self._off_grid)
