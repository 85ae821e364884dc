"""torch_npu's GradScaler: two messages per overflow on every rank, one where the scale grows."""

from __future__ import annotations

import re

from ..count import Occurrences
from .reader import NUMBER, Reader, number

__all__ = ["TorchNpu"]

_MESSAGE = re.compile(
    rb"(?P<over>Gradient overflow\. Skipping step(?!,))|"
    rb"Loss scaler (?P<way>reducing|increasing) loss scale to (?P<scale>" + NUMBER[1:-1] + rb")"
)


class TorchNpu(Reader):
    """`Gradient overflow. Skipping step`, then `Loss scaler reducing loss scale to <x>` (torch_npu/npu/amp).

    Ranks print on one physical line without an end between them (LLaMA-Factory#8514): messages count, not lines.
    """

    name = "torch_npu"
    marks = (b"Gradient overflow", b"Loss scaler ")
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.scale.behind = 1
        self.messages = 0

    def line(self, line: bytes) -> bool:
        taken = False
        for match in _MESSAGE.finditer(line):
            taken = True
            if match["over"]:
                self.messages += 1
            else:
                self._moved(match["way"] == b"reducing", number(match["scale"]))
            self.found.scaling = "dynamic"
        return taken

    def _moved(self, down: bool, value: float) -> None:
        if down:
            self.occurrences.add(value, self.at, self.spacing)
        else:
            self.occurrences.rose()
        self.scale.add(self.place(self.occurrences.total), value)

    def tally(self) -> Occurrences:
        """Each overflow prints a message with the new scale, which tells steps apart, and one without."""
        self.occurrences.total = max(self.occurrences.total, self.messages)
        return self.occurrences
