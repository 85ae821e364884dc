"""fairseq: a message per overflow on the first rank, and a counter of updates."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, compress, count, groupby, islice
from math import isfinite
from operator import itemgetter, lt, ne, sub
from typing import NamedTuple

from ..count import Count
from ..occurrences import Occurrences
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from ..visits import skew_of
from .reader import NUMBER, Reader, number

_OVERFLOW = re.compile(rb"overflow detected, (?:ignoring gradient, )?setting loss scale to: " + NUMBER)
_FATAL = re.compile(rb"Minimum loss scale reached \(" + NUMBER)
_UPDATES = re.compile(rb"num_updates\"?[=: ]{1,2}\"?(\d{1,15})")
_SCALE = re.compile(rb"\bloss_scale\"?[=: ]{1,2}\"?" + NUMBER)
_LINE = 4096


_FEW = 4


class _Spot(NamedTuple):
    """Where a line has a message with the new scale, or a number of updates with the scale."""

    overflow: slice | None
    updates: slice
    scale: slice | None


def _spots_of(shape: bytes) -> list[_Spot]:
    found = [(match.start(), _Spot(slice(*match.span(1)), slice(0), None)) for match in _OVERFLOW.finditer(shape)]
    for match in _UPDATES.finditer(shape):
        scale = _SCALE.search(shape, match.end(), match.end() + _LINE)
        spot = _Spot(None, slice(*match.span(1)), slice(*scale.span(1)) if scale else None)
        found.append((match.start(), spot))
    return [spot for _, spot in sorted(found, key=itemgetter(0))]


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
        self._spots: Shapes[list[_Spot]] = Shapes(_spots_of)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        message, fatal, update = self.marks
        if sheet.has(fatal) and _FATAL.search(sheet.data, 0, sheet.limit):
            self.found.fatal = "Minimum loss scale reached"
            self.lines += 1
        lines, shapes = sheet.lines_with(message, update)
        overflows: list[bytes] = []
        places: list[int] = []
        updates: list[int] = []
        scales: list[bytes] = []
        for line, spots in zip(lines, self._spots.of_all(lines, shapes), strict=True):
            for overflow, step, scale in spots:
                if overflow:
                    overflows.append(line[overflow])
                    places.append(len(updates))
                else:
                    updates.append(int(line[step]))
                    scales.append(line[scale] if scale else b"")
        self._events(overflows, places, updates, scales)

    def _events(self, overflows: list[bytes], places: list[int], updates: list[int], scales: list[bytes]) -> None:
        """Take messages, each with the number of the updates before it in this window, and the updates, in order."""
        done = taken = 0
        while taken < len(overflows):
            self._updated(updates[done : places[taken]], scales[done : places[taken]])
            done = places[taken]
            together = bisect_right(places, done, taken)
            self._overflowed(overflows[taken:together])
            is_first, taken = not taken, together
            if is_first and self._steady(overflows[taken:], places[taken:], updates, scales, done):
                return
        self._updated(updates[done:], scales[done:])

    def _overflowed(self, scales: list[bytes]) -> None:
        """Take messages without updates between them."""
        values = list(map(number, scales))
        if len(values) < _FEW or not all(map(isfinite, values)):
            for value, copies in groupby(values):
                self._overflow(value, len(list(copies)))
            return
        self._counted(len(values))
        self._scale = values[-1]
        first = (self.updates or 0) + self.occurrences.total + 1
        self.occurrences.add_rows(values, [self.updates] * len(values), self._apart)
        self.scale.behind += self.scale.start is None
        self.scale.take(range(first, first + len(values)), values)
        self._note_scaler()

    def _steady(
        self, overflows: list[bytes], places: list[int], updates: list[int], scales: list[bytes], done: int
    ) -> bool:
        """Take the rest of a window at once in which every step is like the ones before; returns whether it was."""
        later = updates[done:]
        kept = {*overflows, *scales[done:]} - {b""}
        if len(overflows) < _FEW or not self.updates or any(number(each) != self._scale for each in kept):
            return False
        ats = [self.updates, *(updates[place - 1] if place else self.updates for place in places)]
        moves = list(map(sub, islice(ats, 1, None), ats))
        if max(moves) > skew_of(self._apart) or any(map(lt, later, (self.updates, *later))):
            return False
        self.occurrences.add(self._scale, ats[-1], self._apart, len(overflows), ats[1])
        self._counted(len(overflows))
        self._updated(later, scales[done:])
        return True

    def _counted(self, messages: int) -> None:
        self.lines += messages
        self.overflow_words += messages
        self.scale_words += messages

    def _overflow(self, value: float, copies: int) -> None:
        self._counted(copies)
        self._scale = value
        self.scale.behind += self.scale.start is None
        self.occurrences.add(value, self.updates, self._apart, 1)
        self._scaled(value)
        if copies > 1:
            self.occurrences.add(value, self.updates, self._apart, copies - 1)
            self._scaled(value)

    def _updated(self, updates: list[int], scales: list[bytes]) -> None:
        """Take updates, each with its scale or nothing."""
        if not updates:
            return
        self.lines += len(updates)
        most = list(accumulate(updates, max, initial=self.updates or 0))
        self._apart = max(self._apart, *map(sub, updates, most))
        self.updates = most[-1]
        shown = scales if b"" not in scales else [scale for scale in scales if scale]
        if not shown:
            return
        self.scale_words += len(shown)
        for at in [0, *compress(count(1), map(ne, islice(shown, 1, None), shown))]:
            value = number(shown[at])
            if value > self._scale > 0:
                self.occurrences.rose()
            self._scale = value
        self._prints_scale = True
        self._note_scaler()
        total = self.occurrences.total
        ats = [at + total for at, scale in zip(islice(most, 1, None), scales, strict=True) if scale]
        self.scale.add_rows(ats, shown)

    def _note_scaler(self) -> None:
        self.found.scaling, self.found.level = "dynamic", "fp16"
        self.found.at_is_step = True

    def _scaled(self, value: float) -> None:
        self._note_scaler()
        self.scale.add((self.updates or 0) + self.occurrences.total, value)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        over = self.occurrences.count(None, ranks or 1)
        if steps is None and self.updates is not None:
            steps = self.updates + over.low
        proof = over.proof or (
            "fairseq prints each overflow of a run that prints `loss_scale`" if self._prints_scale else None
        )
        return Count(over.low, over.high, steps, over.calibrating, over.basis, over.ranks, None, proof, over.notes)
