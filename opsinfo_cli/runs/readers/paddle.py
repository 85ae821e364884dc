"""Paddle's GradScaler and PaddleNLP's trainer: a message on each rank if overflows lower the scale."""

from __future__ import annotations

import re
from itertools import count
from operator import mul

from ..columns import picked
from ..count import Count
from ..occurrences import Occurrences
from ..sheet import Sheet
from ..steps import StepFields
from .message import Message, number_places
from .messages import Messages, Scales
from .reader import NUMBER, Reader, number

_LOWERED = Message(
    re.compile(
        rb"Found inf or nan, current scale is: " + NUMBER + rb", decrease to: " + NUMBER + rb"\s?\*\s?" + NUMBER
    ),
    b"Found inf or nan",
    lambda match: number_places(match, 1, 3),
)
_NOT_RUN = Message(
    re.compile(rb"optimizer not run, scale_before: \[?" + NUMBER + rb"\]?, scale_after: \[?" + NUMBER),
    b"optimizer not run",
    lambda match: number_places(match, 1, 2),
)


class Paddle(Reader):
    """`Found inf or nan, current scale is: <s>, decrease to: <s>*<ratio>`.

    Source: PaddlePaddle/Paddle, python/paddle/amp/grad_scaler.py. One message per ``decr_every_n_nan_or_inf`` bad
    steps: exact at its default of 1, too few above it. PaddleNLP prints `optimizer not run, scale_before: <s>,
    scale_after: <s>` for every skipped step (PaddlePaddle/PaddleNLP, paddlenlp/trainer/trainer.py); it is preferred.
    """

    name = "paddle"
    reads = "Paddle (`Found inf or nan, ...`), PaddleNLP (`optimizer not run, ...`)"
    marks = (_LOWERED.mark, _NOT_RUN.mark)
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.lowered = Occurrences()
        self.not_run = Occurrences()

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        for message, occurrences in ((_NOT_RUN, self.not_run), (_LOWERED, self.lowered)):
            messages = Messages(message, sheet)
            found = messages.scales(steps)
            if found:
                self._changed(found, occurrences, steps.spacing)
                continue
            for match, copies in messages.runs(steps):
                before = number(match[1])
                shown = number(match[match.re.groups])
                after = before * shown if occurrences is self.lowered else shown  # the scaler shows the ratio
                new = occurrences.add(after, steps.at, steps.spacing, copies, steps.since)
                self._seen(copies, before, after, steps.at, new and self._is_preferred(occurrences))

    def _is_preferred(self, occurrences: Occurrences) -> bool:
        return occurrences is self.not_run or not self.not_run.total

    def _changed(self, found: Scales, occurrences: Occurrences, spacing: int) -> None:
        """Take the messages of a window at once."""
        before, shown = found.columns
        after = list(map(mul, before, shown)) if occurrences is self.lowered else shown
        self.found.scaling, self.found.level = "dynamic", "float16"
        new = occurrences.add_rows(after, found.ats, spacing)
        if self._is_preferred(occurrences):
            self.scale.changed_rows(
                self.places(found.ats, count(self.lines + 1), new), picked(before, new), picked(after, new)
            )
        self.lines += len(new)

    def _seen(self, copies: int, before: float, after: float, at: int | None, new: bool) -> None:
        self.found.scaling, self.found.level = "dynamic", "float16"
        if new:
            place = self.place(at, self.lines)
            self.scale.add(place, before)
            self.scale.add(place, after)
        self.lines += copies

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return (self.not_run if self.not_run.total else self.lowered).count(steps, ranks, self.steps_printed)
