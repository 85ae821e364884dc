"""The loss scale over a run, thinned so that a run of any length fits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, compress, count, islice, pairwise, starmap
from operator import eq, gt, mul, ne, truediv
from typing import NamedTuple, TypeVar

MOST = 2048
_ONE_HALVING = 2.8
"""A fall by at most this factor, which is less than the root of eight, is explained by one overflow."""
_Item = TypeVar("_Item")


class ScalePoint(NamedTuple):
    """``at``: the step, or the number of the message if the log prints no steps."""

    at: int
    scale: float


class Trajectory:
    """Loss scales in the order they were used.

    Keeps changes only; beyond 2048 every second change is dropped, except extremes.
    """

    def __init__(self) -> None:
        self.start: float | None = None
        self.final: float | None = None
        self.lowest = math.inf
        self.highest = -math.inf
        self.rises = 0
        self.falls = 0
        self.halvings = 0
        """The fewest overflows that explain the falls, at a factor of two each."""
        self.not_numbers = 0
        self.behind = 0
        """The number of falls before the first point, in logs that print the scale after an overflow."""
        self._ats: list[int] = []
        self._scales: list[float] = []
        self._last_at = 0

    def add(self, at: int, scale: float) -> None:
        at = self._last_at = max(at, self._last_at)
        if scale == self.final:
            return
        if not math.isfinite(scale):
            self.not_numbers += 1
            return
        if self.final is None:
            self.start = scale
        elif scale < self.final:
            self.falls += 1
            self.halvings += _halvings(self.final, scale)
        else:
            self.rises += 1
        self.final = scale
        self.lowest, self.highest = min(self.lowest, scale), max(self.highest, scale)
        self._ats.append(at)
        self._scales.append(scale)
        if len(self._ats) > MOST:
            self._thin()

    def add_rows(self, ats: Sequence[int], scales: Sequence[bytes]) -> None:
        """Add scales as printed, in order; equal ones that follow each other are added at once."""
        if scales.count(scales[0]) == len(scales) and math.isfinite(only := float(scales[0])):
            self.add(ats[0], only)
            self.add(max(ats), only)
            return
        if any(map(gt, ats, islice(ats, 1, None))):  # epochs start again at 0, ranks lag
            ats = list(accumulate(ats, max))
        changes = [0, *compress(count(1), map(ne, islice(scales, 1, None), scales)), len(scales) - 1]
        values = list(map(float, map(scales.__getitem__, changes)))
        if all(map(math.isfinite, values)):
            self.take(list(map(ats.__getitem__, changes)), values)
            return
        for at, scale in zip(ats, scales, strict=True):
            self.add(at, float(scale))

    def moved_rows(self, ats: Sequence[int], scales: Sequence[float], fell: Sequence[bool]) -> None:
        """Add finite scales in order: those after overflows as :meth:`fell_to` does, others as :meth:`add` does."""
        again = sum(compress(map(eq, scales, (self.final, *scales)), fell))
        self.rises += again
        self.falls += again
        self.halvings += again
        self.take(ats, scales)

    def changed_rows(self, ats: Sequence[int], before: Sequence[float], after: Sequence[float]) -> None:
        """Add scales before and after overflows, in order."""
        if not all(map(math.isfinite, after)):
            for at, *both in zip(ats, before, after, strict=True):
                for scale in both:
                    self.add(at, scale)
        elif ats and before[1:] == after[:-1]:
            self.add(ats[0], before[0])
            self.take(ats, after)
        elif ats:
            self.take(_in_turn(ats, ats), _in_turn(before, after))

    def take(self, ats: Sequence[int], scales: Sequence[float]) -> None:
        """Add finite scales, in order."""
        self.add(ats[0], scales[0])
        assert self.final is not None
        if ats[0] < self._last_at or any(map(gt, ats, islice(ats, 1, None))):
            ats = list(accumulate(ats, max, initial=self._last_at))[1:]
        self._last_at = ats[-1]
        changes = list(map(ne, scales, (self.final, *scales)))
        if not all(changes):
            ats, scales = list(compress(ats, changes)), list(compress(scales, changes))
            if not scales:
                return
        self._count_moves([self.final, *scales])
        self.final = scales[-1]
        self._keep(ats, scales)

    def _count_moves(self, scales: list[float]) -> None:
        """Count the moves between scales, of which none equals the one before."""
        falls, halvings = _falls_of(scales)
        self.falls += falls
        self.rises += len(scales) - 1 - falls
        self.halvings += halvings

    def _keep(self, ats: Sequence[int], scales: Sequence[float]) -> None:
        """Keep changes, and drop some each time there are too many."""
        done = 0
        while done < len(ats):
            some = slice(done, done + MOST + 1 - len(self._ats))
            self._ats += ats[some]
            self._scales += scales[some]
            self.lowest, self.highest = min(self.lowest, *scales[some]), max(self.highest, *scales[some])
            if len(self._ats) > MOST:
                self._thin()
            done = some.stop

    def fell_to(self, at: int, scale: float) -> None:
        """Add the scale after an overflow; if it is not below the last one, the scale rose in between."""
        if scale == self.final:
            self.rises += 1
            self.falls += 1
            self.halvings += 1
        self.add(at, scale)

    def _thin(self) -> None:
        extremes = {self._scales.index(each) for each in (self.lowest, self.highest)}
        ats, scales = self._ats, self._scales
        self._ats, self._scales = ats[::2], scales[::2]
        for more, index in enumerate(sorted(index for index in extremes if index % 2)):
            self._ats.insert(index // 2 + 1 + more, ats[index])
            self._scales.insert(index // 2 + 1 + more, scales[index])

    @property
    def points(self) -> list[ScalePoint]:
        """The changes that are kept."""
        return list(map(ScalePoint, self._ats, self._scales))

    @property
    def changes(self) -> int:
        return self.rises + self.falls

    @property
    def drawn(self) -> list[ScalePoint]:
        """Return the points, with the last value extended to the end of the log."""
        if self._ats and self.final is not None and self._last_at > self._ats[-1]:
            return [*self.points, ScalePoint(self._last_at, self.final)]
        return self.points

    def stable(self, calibrating: int, end: int) -> float | None:
        """Return the median of the scales after the first ``calibrating`` falls, weighted by time in use.

        :param end: the step or message at which the log ends
        """
        later = self.points[max(0, min(calibrating - self.behind, len(self._ats) - 1)) :]
        ends = [*(point.at for point in later[1:]), end]
        used = sorted((point.scale, max(1, until - point.at)) for point, until in zip(later, ends, strict=False))
        half = sum(length for _, length in used) / 2
        for scale, length in used:
            half -= length
            if half <= 0:
                return scale
        return None


def _halvings(before: float, after: float) -> int:
    """Return the fewest overflows that explain a fall, at a factor of two each."""
    if after <= 0:
        return 1
    ratio = before / after
    return max(1, round(math.log2(ratio) if ratio < math.inf else math.log2(before) - math.log2(after)))


def _in_turn(first: Sequence[_Item], second: Sequence[_Item]) -> list[_Item]:
    return list(chain.from_iterable(zip(first, second, strict=True)))


def _falls_of(scales: list[float]) -> tuple[int, int]:
    """Return the falls in scales that follow each other, and the fewest overflows that explain them."""
    ratios = list(map(truediv, scales, islice(scales, 1, None))) if min(scales) > 0 else []
    greatest = max(ratios, default=math.inf)
    if greatest == math.inf:
        fell = [both for both in pairwise(scales) if gt(*both)]
        return len(fell), sum(starmap(_halvings, fell))
    if greatest <= _ONE_HALVING:
        falls = sum(map(gt, scales, islice(scales, 1, None)))
        return falls, falls
    counted = Counter(ratios)
    kinds = list(filter((1.0).__lt__, counted))
    many = list(map(counted.__getitem__, kinds))
    logs = list(map(math.log2, kinds))
    return sum(many), sum(map(mul, many, map(round, logs))) + sum(compress(many, map((0.5).__ge__, logs)))
