"""APEX, and APEX on Ascend: a message per overflow on every rank, an option block at the start."""

from __future__ import annotations

import re

from ..count import Occurrences
from .reader import NUMBER, Reader, number

__all__ = ["Apex"]

_OVERFLOW = re.compile(
    rb"(?:Gradient overflow\.\s{1,2}Skipping step, (?:loss scaler \d{1,6} )?|"
    rb"OVERFLOW within closure! Skipping step, )reducing loss scale to " + NUMBER + rb"|"
    rb"Gradient overflow, skipping update"
)


class Apex(Reader):
    """`Gradient overflow.  Skipping step, loss scaler <i> reducing loss scale to <x>` (apex/amp/handle.py).

    Growth is not printed, and without a floor of its own the scale can fall towards 0 (NVIDIA/apex#318).
    """

    name = "apex"
    marks = (b"Gradient overflow", b"OVERFLOW within closure")
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.scale.behind = 1

    def line(self, line: bytes) -> bool:
        taken = False
        for match in _OVERFLOW.finditer(line):
            taken = True
            value = number(match[1]) if match[1] else None
            self.occurrences.add(value, self.at, self.spacing)
            if value is not None:
                self.scale.add(self.place(self.occurrences.total), value)
            self.found.scaling = "dynamic"
        return taken

    def tally(self) -> Occurrences:
        return self.occurrences
