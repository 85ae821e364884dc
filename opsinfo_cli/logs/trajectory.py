"""The loss scale over a run, thinned so that a run of any length fits."""

from __future__ import annotations

import math
from typing import NamedTuple

MOST = 2048


class ScalePoint(NamedTuple):
    """``at``: the step, or the number of the message if the log prints no steps."""

    at: int
    scale: float


class Trajectory:
    """Loss scales in the order they were used. Keeps changes only; beyond 2048 every second one goes, extremes stay.

    ``halvings``: the fewest overflows that explain the falls, at a factor of two each. ``seen``: values that the log
    shows.
    """

    def __init__(self) -> None:
        self.start: float | None = None
        self.final: float | None = None
        self.lowest = math.inf
        self.highest = -math.inf
        self.rises = self.falls = self.halvings = self.not_numbers = self.seen = 0
        self.points: list[ScalePoint] = []
        self._last_at = 0

    @property
    def changes(self) -> int:
        return self.rises + self.falls

    def add(self, at: int, scale: float) -> None:
        at = self._last_at = max(at, self._last_at)
        self.seen += 1
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
        self.points.append(ScalePoint(at, scale))
        if len(self.points) > MOST:
            scales = [point.scale for point in self.points]
            kept = {*range(0, len(scales), 2), scales.index(self.lowest), scales.index(self.highest)}
            self.points = [self.points[index] for index in sorted(kept)]

    def fell_to(self, at: int, scale: float) -> None:
        """Add the scale after an overflow that halved it. If it was not twice as high before, it rose in between."""
        if 2 * scale < math.inf and (self.final is None or self.final < 2 * scale):
            self.add(at, 2 * scale)
            self.seen -= 1
        self.add(at, scale)

    def move_to_start(self) -> None:
        """Place all scales so far at step 0, because they came before the first step that the log prints."""
        self.points = [ScalePoint(0, point.scale) for point in self.points]
        self._last_at = 0

    @property
    def drawn(self) -> list[ScalePoint]:
        """The points, with the last value extended to the end of the log."""
        if self.points and self.final is not None and self._last_at > self.points[-1].at:
            return [*self.points, ScalePoint(self._last_at, self.final)]
        return self.points

    def stable(self, calibrating: int, end: int) -> float | None:
        """Return the median of the scales after the first ``calibrating`` falls, weighted by time in use.

        :param end: the step or message at which the log ends
        """
        later = self.points[max(0, min(calibrating, len(self.points) - 1)) :]
        ends = [*(point.at for point in later[1:]), end]
        used = sorted((point.scale, max(1, until - point.at)) for point, until in zip(later, ends, strict=False))
        half = sum(length for _, length in used) / 2
        for scale, length in used:
            half -= length
            if half <= 0:
                return scale
        return None


def _halvings(before: float, after: float) -> int:
    if after <= 0:
        return 1
    ratio = before / after
    return max(1, math.floor((math.log2(ratio) if ratio < math.inf else math.log2(before) - math.log2(after)) + 0.05))
