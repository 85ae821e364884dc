"""fairseq: a message per overflow on each rank, and a count of the updates that were made."""

from __future__ import annotations

import re

from ..count import Occurrences
from .reader import NUMBER, Evidence, Reader, number

__all__ = ["Fairseq"]

_OVERFLOW = re.compile(rb"NOTE: (?:gradient )?overflow detected, ignoring gradient, setting loss scale to: " + NUMBER)
_FATAL = re.compile(rb"Minimum loss scale reached \(" + NUMBER)
_UPDATES = re.compile(rb"\"?num_updates\"?[=:] ?\"?(\d{1,15})")
_SCALE = re.compile(rb"\"?\bloss_scale\"?[=:] ?\"?" + NUMBER)


class Fairseq(Reader):
    """`NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: <x>` (fairseq/optim, trainer.py).

    `num_updates` does not count the steps that overflowed: all steps are the updates and the overflows.
    """

    name = "fairseq"
    marks = (b"overflow detected, ignoring", b"Minimum loss scale", b"num_updates")
    floor = 1e-4
    window = 2000
    own_steps = True

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.updates: int | None = None
        self._apart = 0
        self._scale = 0.0

    def line(self, line: bytes) -> bool:
        taken = False
        for match in _OVERFLOW.finditer(line):
            taken = True
            value = self._scale = number(match[1])
            self.scale.behind += self.scale.start is None
            self.occurrences.add(value, self.updates, self._apart)
            self._told(value)
        if _FATAL.search(line):
            self.found.fatal = "Minimum loss scale reached"
            return True
        updates = _UPDATES.search(line)
        if updates:
            taken = True
            self._updated(int(updates[1]), line)
        return taken

    def _updated(self, updates: int, line: bytes) -> None:
        self._apart = max(self._apart, updates - (self.updates or 0))
        self.updates = max(self.updates or 0, updates)
        scale = _SCALE.search(line)
        if scale:
            value = number(scale[1])
            if value > self._scale > 0:
                self.occurrences.rose()
            self._scale = value
            self._told(value)

    def _told(self, value: float) -> None:
        self.found.scaling, self.found.level = "dynamic", "fp16"
        self.found.at_is_step = True
        self.scale.add((self.updates or 0) + self.occurrences.total, value)

    def tally(self) -> Occurrences:
        return self.occurrences

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        if steps is None and self.updates is not None:
            steps = self.updates + self.occurrences.count(None, ranks).low
        return super().evidence(steps, ranks)
