"""torch_npu's GradScaler: every rank prints two messages per overflow, and one if the scale grows."""

from __future__ import annotations

import re
from dataclasses import replace

from ..count import Count
from ..sheet import Sheet
from ..steps import StepFields
from .falls import FallReader
from .message import Message, number_places
from .messages import Messages
from .reader import NUMBER, number

_OVERFLOW = Message(re.compile(rb"Gradient overflow\. Skipping step(?!,)"), b"Gradient overflow. Skipping step")
_MOVED = Message(
    re.compile(rb"Loss scaler (reducing|increasing) loss scale to " + NUMBER),
    b"Loss scaler ",
    lambda match: number_places(match, 2),
)
_TWO = b"stepGradient"
_TOGETHER = re.compile(rb"(?:Gradient overflow\. Skipping step){2,}")


class TorchNpu(FallReader):
    """`Gradient overflow. Skipping step`, then `Loss scaler reducing loss scale to <x>`.

    Source: Ascend/pytorch, torch_npu/npu/amp/grad_scaler.py. Ranks print on one line without a newline between
    them (hiyouga/LLaMA-Factory#8514), so messages are counted, not lines.
    """

    name = "torch_npu"
    reads = "torch_npu (`Gradient overflow. Skipping step`)"
    marks = (_OVERFLOW.mark, _MOVED.mark)
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.messages = 0

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        moved = Messages(_MOVED, sheet)
        if not self.moved_often(moved, steps, _is_fall):
            for match, copies in moved.runs(steps):
                self.lines += copies
                self.scale_words += 2 * copies
                self._moved(_is_fall(match), number(match[2]), steps, copies)
        for _, copies in Messages(_OVERFLOW, sheet).runs():
            self.lines += copies
            self.messages += copies
            self.overflow_words += copies
            self.found.scaling = "dynamic"
        for match in _TOGETHER.finditer(sheet.data, 0, sheet.limit) if sheet.has(_TWO) else ():
            many = match[0].count(b"Gradient")
            self.occurrences.together = max(self.occurrences.together, many)

    def _moved(self, down: bool, value: float, steps: StepFields, copies: int) -> None:
        self.found.scaling = "dynamic"
        if down:
            self.fell(value, steps, copies)
        else:
            self.occurrences.rose()
            self.scale.add(self.place(steps.at, self.occurrences.total), value)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        """Count overflows: each prints one message with the new scale, which separates steps, and one without."""
        with_scale = self.occurrences.total
        if self.messages > with_scale and with_scale:
            count = self.occurrences.count(steps, ranks, self.steps_printed)
            most = -(-self.messages // (count.ranks or 1))
            note = f"{self.messages} overflow messages, {with_scale} messages of a lower scale"
            return count if most <= count.high else replace(count, high=most).noted(note)
        self.occurrences.total = max(with_scale, self.messages)
        return self.occurrences.count(steps, ranks, self.steps_printed)


def _is_fall(match: re.Match[bytes]) -> bool:
    return match[1] == b"reducing"
