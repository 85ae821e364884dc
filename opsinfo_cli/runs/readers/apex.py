"""APEX, and APEX on Ascend: a message per overflow on every rank, an option block at the start."""

from __future__ import annotations

import re

from ..count import Count
from ..sheet import Sheet
from ..steps import StepFields
from .falls import FallReader
from .message import Message, number_places
from .messages import Messages
from .reader import NUMBER, number

_OVERFLOW = re.compile(
    rb"Gradient overflow(?:\.\s{1,2}Skipping step, (?:loss scaler \d{1,6} )?reducing loss scale to "
    + NUMBER
    + rb"|, skipping update)"
)
_CLOSURE = re.compile(rb"OVERFLOW within closure! Skipping step, reducing loss scale to " + NUMBER)
_MESSAGES = (
    Message(_OVERFLOW, b"Gradient overflow", lambda match: number_places(match, 1)),
    Message(_CLOSURE, b"OVERFLOW within closure", lambda match: number_places(match, 1)),
)


class Apex(FallReader):
    """`Gradient overflow.  Skipping step, loss scaler <i> reducing loss scale to <x>`.

    Source: NVIDIA/apex before May 2025, apex/amp/handle.py, scale_loss. Growth is not printed, and at verbosity 0
    nothing is, so a missing message proves nothing. Without a `min_loss_scale` the scale has no floor
    (NVIDIA/apex#318).
    """

    name = "apex"
    reads = "APEX (`Gradient overflow.  Skipping step, ...`)"
    marks = tuple(message.mark for message in _MESSAGES)
    floor = 0.0
    window_default = 2000

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        for message in _MESSAGES:
            messages = Messages(message, sheet)
            if self.moved_often(messages, steps):
                continue
            for match, copies in messages.runs(steps):
                self.lines += copies
                self.overflow_words += copies
                self.scale_words += copies * match[0].count(b"cale")
                self.found.scaling = "dynamic"
                if match[1]:
                    self.fell(number(match[1]), steps, copies)
                else:
                    self.occurrences.add(None, steps.at, steps.spacing, copies, steps.since)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return self.occurrences.count(steps, ranks, self.steps_printed)
