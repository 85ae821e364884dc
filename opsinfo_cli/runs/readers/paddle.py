"""Paddle's GradScaler: a message where bad steps lower the scale, on each rank."""

from __future__ import annotations

import re

from ..count import Occurrences
from .reader import NUMBER, Reader, number

__all__ = ["Paddle"]

_OVERFLOW = re.compile(
    rb"Found inf or nan, current scale is: " + NUMBER + rb", decrease to: " + NUMBER + rb"\s?\*\s?" + NUMBER
)


class Paddle(Reader):
    """`Found inf or nan, current scale is: <s>, decrease to: <s>*<ratio>` (python/paddle/amp/grad_scaler.py).

    One message per ``decr_every_n_nan_or_inf`` bad steps: exact at its default of 1, too few above it.
    """

    name = "paddle"
    marks = (b"Found inf or nan",)
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self._last: tuple[float, float, int | None] | None = None

    def line(self, line: bytes) -> bool:
        taken = False
        for match in _OVERFLOW.finditer(line):
            taken = True
            before, ratio = number(match[1]), number(match[3])
            self.occurrences.add(before * ratio, self.at, self.spacing)
            this = before, before * ratio, self.at
            if this != self._last:  # not another rank's copy
                self.scale.add(self.place(self.occurrences.total), before)
                self.scale.add(self.place(self.occurrences.total), before * ratio)
            self._last = this
            self.found.scaling, self.found.level = "dynamic", "float16"
        return taken

    def tally(self) -> Occurrences:
        return self.occurrences
