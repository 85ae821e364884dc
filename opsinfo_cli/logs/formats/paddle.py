"""Paddle's GradScaler and PaddleNLP's trainer: a message on each rank if overflows lower the scale."""

from __future__ import annotations

import re

from ..log_format import NUMBER, FallFormat
from ..occurrences import Occurrences
from ..steps import Steps
from ..trajectory import Trajectory

_LOWERED = re.compile(
    rb"Found inf or nan,\s?current scale is:\s?" + NUMBER + rb",\s?decrease to:\s?" + NUMBER + rb"\s?\*\s?" + NUMBER
)
_NOT_RUN = re.compile(rb"optimizer not run, scale_before: \[?" + NUMBER + rb"\]?, scale_after: \[?" + NUMBER)


class Paddle(FallFormat):
    """`Found inf or nan, current scale is: <s>, decrease to: <s>*<ratio>`.

    Source: PaddlePaddle/Paddle, python/paddle/amp/grad_scaler.py. Each rank prints one message per
    ``decr_every_n_nan_or_inf`` bad steps: exact at its default of 1, too few above it. PaddleNLP prints `optimizer not
    run, scale_before: <s>, scale_after: <s>` for every skipped step (PaddlePaddle/PaddleNLP,
    paddlenlp/trainer/trainer.py); it is preferred.
    """

    name = "paddle"
    reads = "Paddle (`Found inf or nan, ...`), PaddleNLP (`optimizer not run, ...`)"
    marks = (b"Found inf or nan", b"optimizer not run")
    level = "float16"

    def __init__(self) -> None:
        super().__init__()
        self._is_trainer = False

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        lowered, not_run = list(_LOWERED.finditer(line)), list(_NOT_RUN.finditer(line))
        if not_run and not self._is_trainer:
            self._is_trainer, self.occurrences = True, Occurrences()
            self.scale = self.found.scale = Trajectory()
        for match in not_run:
            self.moved(float(match[1]), float(match[2]), steps.upto(at), copies)
        for match in lowered if not self._is_trainer else ():
            self.moved(float(match[1]), float(match[1]) * float(match[3]), steps.upto(at), copies)
