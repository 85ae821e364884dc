"""Paddle's GradScaler and PaddleNLP's trainer: a message on each rank if overflows lower the scale."""

from __future__ import annotations

import re

from ..count import Overflows
from ..log_format import NUMBER, LogFormat, Strength
from ..occurrences import Occurrences
from ..steps import Steps

_LOWERED = re.compile(
    rb"Found inf or nan,\s?current scale is:\s?" + NUMBER + rb",\s?decrease to:\s?" + NUMBER + rb"\s?\*\s?" + NUMBER
)
_NOT_RUN = re.compile(rb"optimizer not run, scale_before: \[?" + NUMBER + rb"\]?, scale_after: \[?" + NUMBER)


class Paddle(LogFormat):
    """`Found inf or nan, current scale is: <s>, decrease to: <s>*<ratio>`.

    Source: PaddlePaddle/Paddle, python/paddle/amp/grad_scaler.py. Each rank prints one message per
    ``decr_every_n_nan_or_inf`` bad steps: exact at its default of 1, too few above it. PaddleNLP prints `optimizer not
    run, scale_before: <s>, scale_after: <s>` for every skipped step (PaddlePaddle/PaddleNLP,
    paddlenlp/trainer/trainer.py); it is preferred.
    """

    name = "paddle"
    reads = "Paddle (`Found inf or nan, ...`), PaddleNLP (`optimizer not run, ...`)"
    strength = Strength.MESSAGE
    marks = (b"Found inf or nan", b"optimizer not run")
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self._lowered = Occurrences()
        self._not_run = Occurrences()

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for match in _NOT_RUN.finditer(line):
            self._add_skip(self._not_run, float(match[1]), float(match[2]), steps.upto(at), copies)
        for match in _LOWERED.finditer(line):
            before = float(match[1])
            self._add_skip(self._lowered, before, before * float(match[3]), steps.upto(at), copies)

    def _add_skip(self, occurrences: Occurrences, before: float, after: float, steps: Steps, copies: int) -> None:
        self.found.scaling, self.found.level = "dynamic", "float16"
        is_new = occurrences.add(after, steps.at, steps.spacing, copies)
        if is_new and (occurrences is self._not_run or not self._not_run.total):
            place = self.place(steps.at, self.lines)
            self.scale.add(place, before)
            self.scale.add(place, after)
        self.lines += copies

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        return (self._not_run if self._not_run.total else self._lowered).count(
            steps, ranks, self.steps_printed is not None
        )
