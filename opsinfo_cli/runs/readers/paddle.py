"""Paddle's GradScaler and PaddleNLP's trainer: a message on each rank if overflows lower the scale."""

from __future__ import annotations

import re

from ..count import Count
from ..occurrences import Occurrences
from ..sheet import Sheet
from ..steps import StepFields
from .messages import sheet_runs
from .reader import NUMBER, Reader, number

_OVERFLOW = re.compile(
    rb"Found inf or nan, current scale is: " + NUMBER + rb", decrease to: " + NUMBER + rb"\s?\*\s?" + NUMBER
)
_NOT_RUN = re.compile(rb"optimizer not run, scale_before: \[?" + NUMBER + rb"\]?, scale_after: \[?" + NUMBER)


class Paddle(Reader):
    """`Found inf or nan, current scale is: <s>, decrease to: <s>*<ratio>`.

    Source: PaddlePaddle/Paddle, python/paddle/amp/grad_scaler.py. One message per ``decr_every_n_nan_or_inf`` bad
    steps: exact at its default of 1, too few above it. PaddleNLP prints `optimizer not run, scale_before: <s>,
    scale_after: <s>` for every skipped step (PaddlePaddle/PaddleNLP, paddlenlp/trainer/trainer.py); it is preferred.
    """

    name = "paddle"
    reads = "Paddle (`Found inf or nan, ...`), PaddleNLP (`optimizer not run, ...`)"
    marks = (b"Found inf or nan", b"optimizer not run")
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.lowered = Occurrences()
        self.not_run = Occurrences()

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        for match, copies in sheet_runs(_NOT_RUN, self.marks[1], sheet, steps):
            new = self.not_run.add(number(match[2]), steps.at, steps.spacing, copies, steps.since)
            self._seen(copies, number(match[1]), number(match[2]), steps.at, new)
        for match, copies in sheet_runs(_OVERFLOW, self.marks[0], sheet, steps):
            before = number(match[1])
            new = self.lowered.add(before * number(match[3]), steps.at, steps.spacing, copies, steps.since)
            self._seen(copies, before, before * number(match[3]), steps.at, new and not self.not_run.total)

    def _seen(self, copies: int, before: float, after: float, at: int | None, new: bool) -> None:
        self.lines += copies
        self.found.scaling, self.found.level = "dynamic", "float16"
        if new:
            self.scale.add(self.place(at, self.lines), before)
            self.scale.add(self.place(at, self.lines), after)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return (self.not_run if self.not_run.total else self.lowered).count(steps, ranks, self.steps_printed)
