"""BMTrain: a message per overflow on the first rank."""

from __future__ import annotations

import re

from ..count import Overflows
from ..log_format import NUMBER, FallFormat
from ..steps import Steps

_OVERFLOW = re.compile(rb"Gradient overflow, change scale from " + NUMBER + rb" to " + NUMBER)


class BMTrain(FallFormat):
    """`Gradient overflow, change scale from <s> to <x>`.

    Source: OpenBMB/BMTrain, bmtrain/optim/optim_manager.py, OptimManager.step; print_rank prints on rank 0 only. A
    scale of 1 or less is not lowered, and no overflow is looked for.
    """

    name = "bmtrain"
    reads = "BMTrain (`Gradient overflow, change scale from <s> to <x>`)"
    marks = (b"Gradient overflow, change scale",)

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for match in [match for match in _OVERFLOW.finditer(line) for _ in range(copies)]:  # each is an overflow
            self.moved(float(match[1]), float(match[2]), steps.upto(at), 1, one_rank=True)

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        return self.occurrences.count(steps, ranks or 1)
