"""BMTrain: a message per overflow on the first rank."""

from __future__ import annotations

import re

from ..count import Overflows
from ..log_format import NUMBER, LogFormat, Strength
from ..occurrences import Occurrences
from ..steps import Steps

_OVERFLOW = re.compile(rb"Gradient overflow, change scale from " + NUMBER + rb" to " + NUMBER)


class BMTrain(LogFormat):
    """`Gradient overflow, change scale from <s> to <x>`.

    Source: OpenBMB/BMTrain, bmtrain/optim/optim_manager.py, OptimManager.step; print_rank prints on rank 0 only. A
    scale of 1 or less is not lowered, and no overflow is looked for.
    """

    name = "bmtrain"
    reads = "BMTrain (`Gradient overflow, change scale from <s> to <x>`)"
    strength = Strength.MESSAGE
    marks = (b"Gradient overflow, change scale",)
    window = 1024

    def __init__(self) -> None:
        super().__init__()
        self._occurrences = Occurrences()

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for match in _OVERFLOW.finditer(line):
            self.found.scaling, self.found.level = "dynamic", "fp16"
            before, after = float(match[1]), float(match[2])
            steps.upto(at)
            for _ in range(copies):  # one rank prints: each copy is an overflow, before which the scale grew
                self._occurrences.add(after, steps.at, steps.spacing)
                place = self.place(steps.at, self.lines)
                self.scale.add(place, before)
                self.scale.add(place, after)
                self.lines += 1

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        return self._occurrences.count(steps, ranks or 1)
