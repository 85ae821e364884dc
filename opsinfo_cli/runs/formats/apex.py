"""APEX, and APEX on Ascend: a message per overflow on every rank, an option block at the start."""

from __future__ import annotations

import re

from ..log_format import NUMBER, FallFormat, whole_number
from ..steps import Steps

_OVERFLOW = re.compile(
    rb"Gradient overflow(?:\.\s{1,2}Skipping step, (?:loss scaler \d{1,6} )?reducing loss scale to "
    + NUMBER
    + rb"|, skipping update)"
)
_CLOSURE = re.compile(rb"OVERFLOW within closure! Skipping step, reducing loss scale to " + NUMBER)


class Apex(FallFormat):
    """`Gradient overflow.  Skipping step, loss scaler <i> reducing loss scale to <x>`.

    Source: NVIDIA/apex before May 2025, apex/amp/handle.py, scale_loss. Each rank prints it. Growth is not printed, and
    at verbosity 0 nothing is, so a missing message proves nothing. Without a `min_loss_scale` the scale has no floor
    (NVIDIA/apex#318).
    """

    name = "apex"
    reads = "APEX (`Gradient overflow.  Skipping step, ...`)"
    marks = (b"Gradient overflow.", b"Gradient overflow, skipping", b"OVERFLOW within closure")
    floor = 0.0
    window = 2000

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for pattern in (_OVERFLOW, _CLOSURE):
            for match in pattern.finditer(line):
                self.lines += copies
                self.fell(whole_number(match, 1), steps.upto(at), copies)
