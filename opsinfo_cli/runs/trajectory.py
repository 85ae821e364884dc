"""The loss scale over a run, thinned so that a run of any length fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, compress, count, islice
from operator import gt, ne
from typing import NamedTuple

MOST = 2048


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
        self.points: list[ScalePoint] = []
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
            self.halvings += max(1, round(math.log2(self.final) - math.log2(scale))) if scale > 0 else 1
        else:
            self.rises += 1
        self.final = scale
        self.lowest, self.highest = min(self.lowest, scale), max(self.highest, scale)
        self.points.append(ScalePoint(at, scale))
        if len(self.points) > MOST:
            self._thin()

    def add_rows(self, ats: Sequence[int], scales: Sequence[bytes]) -> None:
        """Add scales as printed, in order; equal ones that follow each other are added at once."""
        if scales.count(scales[0]) == len(scales) and math.isfinite(only := float(scales[0])):
            self.add(ats[0], only)
            self.add(max(ats), only)
            return
        if any(map(gt, ats, islice(ats, 1, None))):  # epochs start again at 0, ranks lag
            ats = list(accumulate(ats, max))
        changes = [0, *compress(count(1), map(ne, islice(scales, 1, None), scales))]
        if not all(math.isfinite(float(scales[at])) for at in changes):
            for at, scale in zip(ats, scales, strict=True):
                self.add(at, float(scale))
            return
        for at in changes:
            self.add(ats[at], float(scales[at]))
        self.add(ats[-1], float(scales[-1]))

    def fell_to(self, at: int, scale: float) -> None:
        """Add the scale after an overflow; if it is not below the last one, the scale rose in between."""
        if scale == self.final:
            self.rises += 1
            self.falls += 1
            self.halvings += 1
        self.add(at, scale)

    def _thin(self) -> None:
        scales = [point.scale for point in self.points]
        extremes = {scales.index(each) for each in (self.lowest, self.highest) if each in scales}
        self.points = [each for number, each in enumerate(self.points) if number % 2 == 0 or number in extremes]

    @property
    def changes(self) -> int:
        return self.rises + self.falls

    @property
    def drawn(self) -> list[ScalePoint]:
        """Return the points, with the last value extended to the end of the log."""
        if self.points and self.final is not None and self._last_at > self.points[-1].at:
            return [*self.points, ScalePoint(self._last_at, self.final)]
        return self.points

    def stable(self, calibrating: int, end: int) -> float | None:
        """Return the median of the scales after the first ``calibrating`` falls, weighted by time in use.

        :param end: the step or message at which the log ends
        """
        later = self.points[max(0, min(calibrating - self.behind, len(self.points) - 1)) :]
        ends = [*(point.at for point in later[1:]), end]
        used = sorted((point.scale, max(1, until - point.at)) for point, until in zip(later, ends, strict=False))
        half = sum(length for _, length in used) / 2
        for scale, length in used:
            half -= length
            if half <= 0:
                return scale
        return None
