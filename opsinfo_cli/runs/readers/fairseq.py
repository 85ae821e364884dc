"""fairseq: a message per overflow on the first rank, and a counter of updates."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate, chain, compress, count, islice, pairwise
from math import isfinite
from operator import add, itemgetter, ne, sub
from typing import NamedTuple

from ..columns import Table, floats, picked
from ..count import Count
from ..occurrences import Occurrences
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from ..visits import skew_of
from .reader import NUMBER, Reader

_OVERFLOW = re.compile(rb"overflow detected, (?:ignoring gradient, )?setting loss scale to: " + NUMBER)
_FATAL = re.compile(rb"Minimum loss scale reached \(" + NUMBER)
_UPDATES = re.compile(rb"num_updates\"?[=: ]{1,2}\"?(\d{1,15})")
_SCALE = re.compile(rb"\bloss_scale\"?[=: ]{1,2}\"?" + NUMBER)
_LINE = 4096


_MOST_SPOTS = 1024


class _Events(NamedTuple):
    """Messages and updates, in order."""

    fell: list[bool]
    """Whether each is a message of an overflow."""
    updates: list[int]
    """The number of updates; 0 for a message."""
    scales: list[bytes]
    """The scale, if it is printed."""

    def part(self, begin: int, end: int) -> _Events:
        some = slice(begin, end)
        return _Events(self.fell[some], self.updates[some], self.scales[some])


class _Spot(NamedTuple):
    """Where a line has a message with the new scale, or a number of updates with the scale."""

    fell: bool
    updates: slice
    scale: slice


@lru_cache(_MOST_SPOTS)
def _spot(fell: bool, updates: tuple[int, int | None], scale: tuple[int, int | None]) -> _Spot:
    """Return the same object for the same places, so that lines of different shapes can be compared."""
    return _Spot(fell, slice(*updates), slice(*scale))


def _span(match: re.Match[bytes] | None) -> tuple[int, int | None]:
    """Return where the number of a shape is; without its end if that is the end of the shape."""
    if match is None:
        return 0, 0
    return match.start(1), match.end(1) if match.end(1) < len(match.string) else None


def _spots_of(shape: bytes) -> list[_Spot]:
    found = [(match.start(), _spot(True, (0, 0), _span(match))) for match in _OVERFLOW.finditer(shape)]
    for match in _UPDATES.finditer(shape):
        scale = _SCALE.search(shape, match.end(), match.end() + _LINE)
        found.append((match.start(), _spot(False, _span(match), _span(scale))))
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
        spots = self._spots.of_all(lines, shapes)
        if not all(map((1).__eq__, map(len, spots))):
            lines = [line for line, found in zip(lines, spots, strict=True) for _ in found]
        table = Table.of(lines, list(chain.from_iterable(spots)))
        if lines:
            fell = table.values(0)
            self._take(_Events(fell, _updates_of(table, fell), table.column(2)))

    def _take(self, events: _Events) -> None:
        scales = floats(list(filter(None, events.scales)))
        if not all(map(isfinite, scales)):
            self._take_parts(events)
            return
        falls = sum(events.fell)
        self.lines += len(events.fell)
        self.overflow_words += falls
        self.scale_words += len(scales)
        most, apart = self._before(events)
        if scales:
            shows = list(map(bool, events.scales))
            fell = picked(events.fell, shows)
            ats = picked(self._places(events.fell, most), shows)
            self._overflows(events.fell, most, apart, picked(scales, fell), self._rises(scales, fell))
            self._scaled(ats, scales, fell[0])
            self._prints_scale = self._prints_scale or len(scales) > falls
        self._apart = apart[-1]
        if falls < len(events.fell):
            self.updates = most[-1]

    def _before(self, events: _Events) -> tuple[list[int], list[int]]:
        """Return the number of updates and the greatest distance between two, before each event and after the last."""
        updates, many = self.updates or 0, len(events.fell)
        if all(events.fell):
            return [updates] * (many + 1), [self._apart] * (many + 1)
        most = [updates, *events.updates]
        if sorted(most) != most:
            most = list(accumulate(events.updates, max, initial=updates))
        moves = list(map(sub, events.updates, most))
        if max(moves) <= self._apart:
            return most, [self._apart] * (many + 1)
        return most, list(accumulate(moves, max, initial=self._apart))

    def _places(self, fell: list[bool], most: list[int]) -> list[int]:
        """Return the number of updates and overflows after each event."""
        before = self.occurrences.total
        if all(fell):
            return list(range(most[0] + before + 1, most[0] + before + len(fell) + 1))
        return list(map(add, islice(most, 1, None), islice(accumulate(fell, initial=before), 1, None)))

    def _rises(self, scales: list[float], fell: list[bool]) -> list[int]:
        """Return how often updates showed a higher scale before each overflow, and in all."""
        is_steady = scales.count(scales[0]) == len(scales) and not scales[0] > self._scale > 0
        if is_steady or all(fell):
            return [0] * (sum(fell) + 1)
        risen = [
            scale > last > 0 and not is_fall
            for scale, last, is_fall in zip(scales, (self._scale, *scales), fell, strict=False)
        ]
        counted = list(accumulate(risen))
        return [*compress(counted, fell), counted[-1]]

    def _overflows(
        self, fell: list[bool], most: list[int], apart: list[int], scales: list[float], rises: list[int]
    ) -> None:
        """Add overflows to the count.

        :param most: the number of updates before each event, and after the last one
        :param apart: the greatest distance between two updates before each
        :param scales: the scale after each overflow
        :param rises: what :meth:`_rises` returns
        """
        ats: list[int | None] = list(compress(most, fell))
        if self.updates is None and all(fell[: len(ats)]):  # no update is before any of them
            ats = [None] * len(ats)
        closed = list(map(ne, rises, (0, *rises)))
        spacings = list(compress(apart, fell))
        for begin, end in pairwise(_parts(spacings)):
            some = slice(begin, end)
            self.occurrences.add_rows(scales[some], ats[some], spacings[begin], closed[some])
        if closed[-1]:
            self.occurrences.rose()

    def _scaled(self, ats: list[int], scales: list[float], is_fall: bool) -> None:
        """:param is_fall: whether the first of these scales is one after an overflow"""
        self._note_scaler()
        self.scale.behind += is_fall and self.scale.start is None
        self.scale.take(ats, scales)
        self._scale = scales[-1]

    def _note_scaler(self) -> None:
        self.found.scaling, self.found.level = "dynamic", "fp16"
        self.found.at_is_step = True

    def _take_parts(self, events: _Events) -> None:
        """Take events of which some show a scale that is infinite or no number; each of these is taken alone."""
        finite = [isfinite(float(scale or 0)) for scale in events.scales]
        changes = compress(count(1), map(ne, islice(finite, 1, None), finite))
        for begin, end in pairwise([0, *changes, len(finite)]):
            if finite[begin]:
                self._take(events.part(begin, end))
                continue
            for fell, updates, scale in zip(*events.part(begin, end), strict=True):
                self._take_unusable(fell, updates, float(scale))

    def _take_unusable(self, fell: bool, updates: int, scale: float) -> None:
        """Take a scale that is infinite or no number."""
        self.lines += 1
        self.scale_words += 1
        self._note_scaler()
        if fell:
            self.overflow_words += 1
            self.scale.behind += self.scale.start is None
            self.occurrences.add(scale, self.updates, self._apart)
        else:
            self._prints_scale = True
            self._apart = max(self._apart, updates - (self.updates or 0))
            self.updates = max(self.updates or 0, updates)
            if scale > self._scale > 0:
                self.occurrences.rose()
        self._scale = scale
        self.scale.add((self.updates or 0) + self.occurrences.total, scale)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        over = self.occurrences.count(None, ranks or 1)
        if steps is None and self.updates is not None:
            steps = self.updates + over.low
        proof = over.proof or (
            "fairseq prints each overflow of a run that prints `loss_scale`" if self._prints_scale else None
        )
        return Count(over.low, over.high, steps, over.calibrating, over.basis, over.ranks, None, proof, over.notes)


def _updates_of(table: Table[_Spot], fell: list[bool]) -> list[int]:
    if all(fell):
        return [0] * len(fell)
    texts = table.column(1)
    return [int(text or 0) for text in texts] if any(fell) else list(map(int, texts))


def _parts(spacings: list[int]) -> list[int]:
    """Return where parts begin and end in which copies of ranks may be equally far apart."""
    if not spacings:
        return []
    changes: list[int] = []
    if skew_of(spacings[0]) < skew_of(spacings[-1]):
        skews = list(map(skew_of, spacings))
        changes = list(compress(count(1), map(ne, islice(skews, 1, None), skews)))
    return [0, *changes, len(spacings)]
