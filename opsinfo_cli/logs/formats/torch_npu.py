"""torch_npu's GradScaler: every rank prints two messages per overflow, and one if the scale grows."""

from __future__ import annotations

import re
from dataclasses import replace

from ..count import Overflows
from ..log_format import NUMBER, FallFormat, whole_number
from ..steps import Steps

_OVERFLOW = re.compile(rb"Gradient overflow\. Skipping step(?!,)")
_MOVED = re.compile(rb"Loss scaler (reducing|increasing) loss scale to " + NUMBER)
_TOGETHER = re.compile(rb"(?:Gradient overflow\. Skipping step){2,}")


class TorchNpu(FallFormat):
    """`Gradient overflow. Skipping step`, then `Loss scaler reducing loss scale to <x>`.

    Source: Ascend/pytorch, torch_npu/npu/amp/grad_scaler.py. Every rank prints both, and one message if the scale
    grows. Ranks print on one line without a newline between them (hiyouga/LLaMA-Factory#8514), so messages are counted,
    not lines.
    """

    name = "torch_npu"
    reads = "torch_npu (`Gradient overflow. Skipping step`)"
    marks = (b"Gradient overflow. Skipping step", b"Loss scaler ")

    def __init__(self) -> None:
        super().__init__()
        self._messages = 0

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for match in _MOVED.finditer(line):
            self.lines += copies
            self.found.scaling = "dynamic"
            value = whole_number(match, 2)
            steps.upto(at)
            if match[1] == b"reducing":
                self.fell(value, steps, copies)
                continue
            self.occurrences.rose()
            if value is not None:
                self.scale.add(self.place(steps.at, self.occurrences.total), value)
        messages = len(_OVERFLOW.findall(line))
        if messages:
            self.lines += messages * copies
            self._messages += messages * copies
            self.found.scaling = "dynamic"
        for match in _TOGETHER.finditer(line) if messages > 1 else ():
            self.occurrences.together = max(self.occurrences.together, match[0].count(b"Gradient"))

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        """Count overflows: each prints one message with the new scale, which separates steps, and one without."""
        with_scale = self.occurrences.total
        if self._messages > with_scale > 0:
            count = super().tally(steps, ranks)
            most = -(-self._messages // (count.ranks or 1))
            note = f"{self._messages} overflow messages, {with_scale} messages of a lower scale"
            return count if most <= count.high else replace(count, high=most).with_note(note)
        self.occurrences.total = max(with_scale, self._messages)
        return super().tally(steps, ranks)
