"""Lines that show whether one step overflowed, printed by each rank."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import compress, count, islice, pairwise
from math import gcd
from operator import gt, lt, ne, not_, sub
from typing import cast

from .count import Count

_REMEMBERED = 4096
_FEW = 8
"""Parts of fewer flags are added one by one."""
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
        self._newest: list[tuple[Sequence[int], Sequence[bool]]] = []
        """Steps after these, which are looked at only if a step comes again."""

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

    def add_rows(self, steps: Sequence[int | None], overs: Sequence[bool]) -> Sequence[int]:
        """Add flags in order; steps after all known ones are added at once, and so are those of a run that restarted.

        :returns: the numbers of the rows that are new, as :meth:`add` says
        """
        rows = range(len(steps))
        if not steps:
            return rows
        if apart := self._apart(steps):
            self._add_rising(cast("Sequence[int]", steps), overs, apart)
            return rows
        if steps.count(None) == len(steps):
            self.unnumbered += len(steps)
            self._add_new(overs)
            return rows
        if self._is_restart(steps):
            self._add_rising(cast("Sequence[int]", steps), overs)
            return rows
        after = next((row for row, step in enumerate(steps) if step is None or self._is_later(step)), len(steps))
        later = [step for step in (steps[after:] if after else steps) if step is not None]
        if after + len(later) < len(steps) or any(map(int.__gt__, later, islice(later, 1, None))):
            return self._add_parts(steps, overs)
        new = [row for row in rows[:after] if self.add(steps[row], overs[row])]
        if not later:
            return new
        if all(map(int.__lt__, later, islice(later, 1, None))):
            self._add_rising(later, overs[after:])
            return [*new, *rows[after:]] if after else rows
        return [*new, *(after + row for row in self._add_ranks(later, overs[after:]))]

    def _add_parts(self, steps: Sequence[int | None], overs: Sequence[bool]) -> list[int]:
        """Add flags of which not all have a step, or of which one is below the step before it; returns the new rows."""
        known = [step for step in steps if step is not None]
        parts = [0, *compress(count(1), map(gt, known, islice(known, 1, None))), len(known)]
        if len(known) < len(steps) or _FEW * len(parts) > len(steps):
            return [row for row in range(len(steps)) if self.add(steps[row], overs[row])]
        added = (self.add_rows(steps[begin:end], overs[begin:end]) for begin, end in pairwise(parts))
        return [begin + row for begin, new in zip(parts, added, strict=False) for row in new]

    def _apart(self, steps: Sequence[int | None]) -> int:
        """Return how far apart steps are that come after all known ones at equal distances; 0 if they do not."""
        first, last = steps[0], steps[-1]
        if len(steps) < 2 or first is None or last is None or not self._is_later(first):
            return 0
        apart, rest = divmod(last - first, len(steps) - 1)
        return apart if apart > 0 and not rest and list(steps) == list(range(first, last + 1, apart)) else 0

    def _is_restart(self, steps: Sequence[int | None]) -> bool:
        """Whether steps rise from one that is not after all known ones, and none of them is remembered."""
        known = [step for step in steps if step is not None]
        if len(known) < len(steps) or self._is_later(known[0]) or not all(map(lt, known, islice(known, 1, None))):
            return False
        some = set(known)
        newest = (steps[-_REMEMBERED:] for steps, _ in self._newest)
        return some.isdisjoint(self._recent) and all(map(some.isdisjoint, newest))

    def _is_later(self, step: int) -> bool:
        return self.last is None or step > self.last

    def _add_ranks(self, steps: Sequence[int], overs: Sequence[bool]) -> list[int]:
        """Add steps that several ranks print, one after the other; returns the rows of the first ranks."""
        first = [0, *compress(count(1), map(ne, islice(steps, 1, None), steps))]
        self._add_rising([steps[row] for row in first], [overs[row] for row in first])
        late = set(compress(steps, overs)).difference(steps[row] for row in first if overs[row])
        if late:  # another rank overflowed alone
            self._remember()
            self._recent.update((step, True) for step in late if step in self._recent)
            self.overflows += len(late)
        return first

    def _add_rising(self, steps: Sequence[int], overs: Sequence[bool], apart: int = 0) -> None:
        """Add steps that rise and are not known.

        :param apart: the distance of each step from the one before, if it is the same for all
        """
        self.first = steps[0] if self.first is None else min(self.first, steps[0])
        self.last = steps[-1] if self.last is None else max(self.last, steps[-1])
        clean = steps
        if any(overs):
            self._off_grid += islice(compress(steps, overs), _REMEMBERED - len(self._off_grid))
            clean, apart = list(compress(steps, map(not_, overs))), 0
        if clean:
            if self._clean is not None:
                self._grid = gcd(self._grid, clean[0] - self._clean)
            if self._grid != 1:
                moves = (apart,) if apart else map(sub, islice(clean, 1, None), clean)
                self._grid = gcd(self._grid, *moves)
            self._clean = clean[-1]
        self._add_new(overs)
        self._newest.append((steps, overs))
        while sum(len(some) for some, _ in self._newest[1:]) >= _REMEMBERED:
            del self._newest[0]

    def _remember(self) -> None:
        """Move the newest steps to those that are remembered."""
        for steps, overs in self._newest:
            self._recent.update(zip(steps[-_REMEMBERED:], overs[-_REMEMBERED:], strict=True))
            for _ in range(len(self._recent) - _REMEMBERED):
                self._recent.popitem(last=False)
        self._newest.clear()

    def _add_new(self, overs: Sequence[bool]) -> None:
        self.printed += len(overs)
        self.overflows += sum(overs)
        if self._in_lead:
            self._in_lead = all(overs)
            self._leading += len(overs) if self._in_lead else list(overs).index(False)

    def _known(self, step: int, overflow: bool) -> bool:
        self._remember()
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
        clean, grid = self._clean, self._grid
        return clean is not None and grid != 0 and any((step - clean) % grid for step in self._off_grid)
