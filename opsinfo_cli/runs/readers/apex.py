"""APEX, and APEX on Ascend: a message per overflow on every rank, an option block at the start."""

from __future__ import annotations

import re

from ..count import Count
from ..occurrences import Occurrences
from ..sheet import Sheet
from ..steps import StepFields
from .messages import sheet_runs
from .reader import NUMBER, Reader, number

_OVERFLOW = re.compile(
    rb"Gradient overflow(?:\.\s{1,2}Skipping step, (?:loss scaler \d{1,6} )?reducing loss scale to "
    + NUMBER
    + rb"|, skipping update)"
)
_CLOSURE = re.compile(rb"OVERFLOW within closure! Skipping step, reducing loss scale to " + NUMBER)


class Apex(Reader):
    """`Gradient overflow.  Skipping step, loss scaler <i> reducing loss scale to <x>`.

    Source: NVIDIA/apex before May 2025, apex/amp/handle.py, scale_loss. Growth is not printed, and at verbosity 0
    nothing is, so a missing message proves nothing. Without a `min_loss_scale` the scale has no floor
    (NVIDIA/apex#318).
    """

    name = "apex"
    reads = "APEX (`Gradient overflow.  Skipping step, ...`)"
    marks = (b"Gradient overflow", b"OVERFLOW within closure")
    floor = 0.0
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.scale.behind = 1

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        for pattern, mark in zip((_OVERFLOW, _CLOSURE), self.marks, strict=True):
            for match, copies in sheet_runs(pattern, mark, sheet, steps):
                self.lines += copies
                self.overflow_words += copies
                self.scale_words += copies * match[0].count(b"cale")
                value = number(match[1]) if match[1] else None
                new = self.occurrences.add(value, steps.at, steps.spacing, copies, steps.since)
                if new and value is not None:
                    self.scale.fell_to(self.place(steps.at, self.occurrences.total), value)
                self.found.scaling = "dynamic"

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return self.occurrences.count(steps, ranks, self.steps_printed)
