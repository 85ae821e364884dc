"""APEX, and APEX on Ascend: a message per overflow on every rank, an option block at the start."""

from __future__ import annotations

import re

from ..evidence import Evidence
from ..log_format import NUMBER, FallFormat, whole_number
from ..occurrences import Occurrences
from ..steps import Steps
from ..trajectory import Trajectory

_OVERFLOW = re.compile(
    rb"Gradient overflow(?:\.\s{1,2}Skipping step, (?:loss scaler (?P<scaler>\d{1,6}) )?reducing loss scale to (?P<to>"
    + NUMBER[1:-1]
    + rb")|, skipping update)"
)
_FP16 = re.compile(
    rb"OVERFLOW(?: within closure! Skipping step,|! Skipping step\. Attempted loss scale: "
    + NUMBER[1:-1]
    + rb",) reducing (?:loss scale )?to (?P<to>"
    + NUMBER[1:-1]
    + rb")"
)
"""NVIDIA/apex, apex/fp16_utils/fp16_optimizer.py, step and _step_with_closure, and Megatron-LM's copy of it."""

_MOST_SCALERS = 16


class Apex(FallFormat):
    """`Gradient overflow.  Skipping step, loss scaler <i> reducing loss scale to <x>`.

    Source: NVIDIA/apex before May 2025, apex/amp/handle.py, scale_loss. Each rank prints it. Growth is not printed, and
    at verbosity 0 nothing is, so a missing message proves nothing. Without a `min_loss_scale` the scale has no floor
    (NVIDIA/apex#318).
    """

    name = "apex"
    reads = "APEX (`Gradient overflow.  Skipping step, ...`)"
    marks = (b"Gradient overflow.", b"Gradient overflow, skipping", b"OVERFLOW within closure", b"OVERFLOW! Skipping")
    floor = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._scalers = {b"0": (self.occurrences, self.scale)}
        """By number: each loss of `amp.initialize(..., num_losses=N)` has a scale of its own."""

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for pattern in (_OVERFLOW, _FP16):
            for match in pattern.finditer(line):
                self.lines += copies
                groups = match.groupdict()
                scaler = groups.get("scaler") or b"0"
                if scaler not in self._scalers and len(self._scalers) < _MOST_SCALERS:
                    self._scalers[scaler] = Occurrences(), Trajectory()
                self.occurrences, self.scale = self._scalers.get(scaler, (self.occurrences, self.scale))
                self.fell(whole_number(match, "to") if groups["to"] else None, steps.upto(at), copies)

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        """Count the scaler with the most messages; show the scale of it, or of one that fell below 1."""
        used = [scaler for scaler in self._scalers.values() if scaler[0].total]
        if used:
            self.occurrences = max((messages for messages, _ in used), key=lambda messages: messages.total)
            self.scale = max(used, key=lambda scaler: (scaler[1].lowest < 1.0, scaler[0] is self.occurrences))[1]
        self.found.scale = self.scale
        evidence = super().evidence(steps, ranks)
        if len(used) > 1:
            note = f"{len(used)} loss scalers print messages: that with the most messages counts"
            evidence.count = evidence.count.with_note(note)
        return evidence
