"""fairseq: a message per overflow on the first rank, and a counter of updates."""

from __future__ import annotations

import re

from ..count import Count
from ..occurrences import Occurrences
from ..steps import StepFields
from .reader import NUMBER, Evidence, Reader, number

_OVERFLOW = re.compile(rb"overflow detected, (?:ignoring gradient, )?setting loss scale to: " + NUMBER)
_FATAL = re.compile(rb"Minimum loss scale reached \(" + NUMBER)
_UPDATES = re.compile(rb"num_updates\"?[=: ]{1,2}\"?(\d{1,15})")
_SCALE = re.compile(rb"\bloss_scale\"?[=: ]{1,2}\"?" + NUMBER)
_LINE = 4096


class Fairseq(Reader):
    """`NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: <x>`; `WARNING: overflow detected,
    setting loss scale to: <x>` before version 0.9.

    Source: facebookresearch/fairseq, fairseq/optim/dynamic_loss_scaler.py, check_overflow (the message and the floor of
    1e-4); fairseq/trainer.py, train_step (each overflow is printed); fairseq/distributed/utils.py (only the first rank
    prints). `num_updates` does not count the steps that
    overflowed: all steps are the updates and the overflows. `loss_scale` is printed in float16 runs only.
    """

    name = "fairseq"
    reads = "fairseq (`overflow detected, ... setting loss scale to: <x>`, `num_updates`)"
    marks = (b"overflow detected, ", b"Minimum loss scale", b"num_updates")
    floor = 1e-4
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.updates: int | None = None
        self._apart = 0
        self._scale = 0.0
        self._prints_scale = False

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        if _FATAL.search(data, 0, limit):
            self.found.fatal = "Minimum loss scale reached"
            self.lines += 1
        messages = list(_OVERFLOW.finditer(data, 0, limit)) if self.marks[0] in data else []
        updates = _UPDATES.finditer(data, 0, limit) if self.marks[2] in data else iter(())
        upcoming = next(updates, None)
        for message in messages:
            while upcoming and upcoming.start() < message.start():
                self._updated(upcoming, data)
                upcoming = next(updates, None)
            self._overflow(number(message[1]))
        while upcoming:
            self._updated(upcoming, data)
            upcoming = next(updates, None)

    def _overflow(self, value: float) -> None:
        self.lines += 1
        self.overflow_words += 1
        self._scale = value
        self.scale.behind += self.scale.start is None
        self.occurrences.add(value, self.updates, self._apart)
        self._scaled(value)

    def _updated(self, match: re.Match[bytes], data: bytes) -> None:
        self.lines += 1
        updates = int(match[1])
        self._apart = max(self._apart, updates - (self.updates or 0))
        self.updates = max(self.updates or 0, updates)
        end = data.find(b"\n", match.end(), match.end() + _LINE)
        scale = _SCALE.search(data, match.end(), end if end >= 0 else match.end() + _LINE)
        if scale:
            value = number(scale[1])
            if value > self._scale > 0:
                self.occurrences.rose()
            self._scale = value
            self._prints_scale = True
            self._scaled(value)

    def _scaled(self, value: float) -> None:
        self.found.scaling, self.found.level = "dynamic", "fp16"
        self.found.at_is_step = True
        self.scale.add((self.updates or 0) + self.occurrences.total, value)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        over = self.occurrences.count(None, ranks or 1)
        if steps is None and self.updates is not None:
            steps = self.updates + over.low
        proof = over.proof or (
            "fairseq prints each overflow of a run that prints `loss_scale`" if self._prints_scale else None
        )
        return Count(over.low, over.high, steps, over.calibrating, over.basis, over.ranks, None, proof, over.notes)

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = super().evidence(steps, ranks)
        found.known = self._prints_scale or self.occurrences.total > 0 or found.fatal is not None
        return found
