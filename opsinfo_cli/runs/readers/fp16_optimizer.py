"""FP16_Optimizer of APEX and its descendants: a message with the iteration on every rank."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import count, islice
from operator import gt

from ..columns import picked
from ..count import Count
from ..sheet import Sheet
from ..steps import StepFields
from ..trajectory import Trajectory
from .message import Message, number_places
from .messages import Messages
from .reader import NUMBER, Evidence, Reader, lines_with, number

_MARK = b"Grad overflow on iteration"
_USING = b"Using dynamic loss scale of"
_ITERATION = re.compile(rb"(?::?[^\S\n]{1,4}(\d{1,12})(?![\d.]))?")
_OVERFLOW = re.compile(_MARK + _ITERATION.pattern)
_SCALE = re.compile(_USING + rb":?\s{1,4}" + NUMBER)
_ITERATIONS = Message(_OVERFLOW, _MARK, lambda match: number_places(match, 1))
_SCALES = Message(_SCALE, _USING, lambda match: number_places(match, 1))
_USED = re.compile(_USING)
_WHOLE = re.compile(rb"(?:[^\n]{0,200}[\]:|>)-] ?)?" + _SCALE.pattern + rb"\r?")
"""A line with a message that nothing runs into."""
_REMEMBERED = 4096


class Fp16Optimizer(Reader):
    """`Grad overflow on iteration  <n>`, then `Using dynamic loss scale of <x>`.

    Source: NVIDIA/apex at 4ef930c1, apex/contrib/optimizers/fp16_optimizer.py; deepspeedai/DeepSpeed,
    deepspeed/runtime/fp16/fused_optimizer.py, _update_scale, has the first line, if it is verbose. The iteration
    distinguishes copies of ranks from repetitions.
    """

    name = "fp16_optimizer"
    reads = "APEX FP16_Optimizer (`Grad overflow on iteration <n>`)"
    marks = (_MARK, _USING)
    window_default = 1000

    def __init__(self) -> None:
        super().__init__()
        self._copies: defaultdict[int, int] = defaultdict(int)
        self._in_order = True
        """Whether the iterations that are kept rise in the order in which they came."""
        self._messages = self._before = 0
        self._is_mixed = False
        """Whether scales of several ranks ran into each other, such as `655366553632768.0`."""

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        found = _found_lines(sheet.copies) if sheet.copies else _found_by_shape(sheet)
        if many := sum(found.values()):
            self.found.level = "fp16"
            self.lines += many
            self._messages += many
            self.overflow_words += many
            self._iterations(found)
        self._is_mixed = self._is_mixed or _is_mixed(sheet)
        self._scaled(sheet, max(self._copies, default=None))

    def _scaled(self, sheet: Sheet, newest: int | None) -> None:
        """:param newest: the last iteration that overflowed"""
        messages = Messages(_SCALES, sheet)
        found = messages.scales()
        if found:
            (scales,) = found.columns
            places = self.places([newest] * len(scales), count(self.lines + 1), found.firsts)
            self.scale.take(places, picked(scales, found.firsts))
            self._scales_read(len(scales))
            return
        for match, copies in messages.runs():
            self.scale.add(self.place(newest, self.lines), number(match[1]))
            self._scales_read(copies)

    def _scales_read(self, many: int) -> None:
        self.lines += many
        self.scale_words += many
        self.found.scaling = "dynamic"

    def _iterations(self, found: Counter[bytes | str]) -> None:
        found.pop(b"", None)
        last = next(reversed(self._copies), -1)
        iterations = list(map(int, found))
        if self._in_order and all(map(gt, iterations, (last, *iterations))):
            self._copies.update(zip(iterations, found.values(), strict=True))
        else:
            known = len(self._copies)
            for iteration, copies in zip(iterations, found.values(), strict=True):
                self._copies[iteration] += copies
            new = list(islice(reversed(self._copies), len(self._copies) - known))
            self._in_order = self._in_order and all(map(gt, new, (*new[1:], last)))
        if len(self._copies) > _REMEMBERED:
            self._forget(len(self._copies) - _REMEMBERED)

    def _forget(self, many: int) -> None:
        """Forget the lowest iterations: the first ones, if they came in order."""
        self._before += many
        if self._in_order:
            for iteration in list(islice(self._copies, many)):
                del self._copies[iteration]
            return
        newest = sorted(self._copies)[many:]
        self._copies = defaultdict(int, zip(newest, map(self._copies.__getitem__, newest), strict=True))
        self._in_order = True

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        """Count iterations. If one is printed by one rank only, while others are by several, messages are counted."""
        most = ranks or max(self._copies.values(), default=1)
        sure = sorted(each for each, copies in self._copies.items() if copies > 1 or most == 1)
        alone = [each for each, copies in self._copies.items() if copies == 1 and most > 1]
        low = high = self._before + len(sure)
        broken = self._messages > low * most
        if broken or alone:
            most = ranks or self._ranks_of(most) or most
            low, high = (self._messages // most,) * 2 if self._messages % most == 0 else (low, self._messages)
        basis = f"{self._messages} messages" + (f" of {most} ranks" if most > 1 else "")
        proof = "the log has messages of skipped steps" if self._messages else None
        count = Count(low, high, steps, _leading(sure), basis, most, proof=proof)
        note = "messages of several ranks are mixed on one line, so some iterations are garbled"
        return count.noted(note) if broken else count

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = super().evidence(steps, ranks)
        if self._is_mixed:
            found.scale = Trajectory()
            found.unreadable = "messages of several ranks are mixed on one line, so their scales cannot be read"
        return found

    def _ranks_of(self, fewest: int) -> int | None:
        """Return the number of ranks from the log, if it divides the messages and is large enough."""
        for ranks in self.printed_ranks:
            if ranks >= fewest and self._messages % ranks == 0:
                return ranks
        return None


def _found_by_shape(sheet: Sheet) -> Counter[bytes | str]:
    """Return how often each iteration overflowed. The text is searched if the lines do not show it by their shape."""
    columns = Messages(_ITERATIONS, sheet).columns(list)
    return Counter(*columns) if columns else _found(sheet.data[: sheet.limit])


def _found(text: bytes) -> Counter[bytes | str]:
    """Return how often each iteration overflowed; copies of ranks, with what is between them, are looked at once."""
    pieces = text.split(_MARK)[1:]
    kinds = Counter(pieces)
    if 2 * len(kinds) > len(pieces):
        return Counter(_OVERFLOW.findall(text))
    found: Counter[bytes | str] = Counter()
    for piece, many in kinds.items():
        match = _ITERATION.match(piece)
        found[match[1] or b"" if match else b""] += many
    return found


def _found_lines(copies: Counter[bytes]) -> Counter[bytes | str]:
    """Return how often each iteration overflowed, from lines and how many there are of each."""
    lines = {line: many for line, many in copies.items() if _MARK in line}
    iterations = _OVERFLOW.findall(b"\n".join(lines))
    if len(set(iterations)) == len(lines) == len(iterations):
        return Counter(dict(zip(iterations, lines.values(), strict=True)))
    found: Counter[bytes | str] = Counter()
    for line, many in lines.items():
        for iteration in _OVERFLOW.findall(line):
            found[iteration] += many
    return found


def _is_mixed(sheet: Sheet) -> bool:
    """Whether a message with a scale is not a line of its own."""
    if sheet.kinds is None:
        lines = lines_with(sheet.data, sheet.limit, [_USED])
        return not all(_WHOLE.fullmatch(sheet.data[start:end]) for start, end in lines)
    return not all(_WHOLE.fullmatch(shape) for shape in sheet.kinds if _USING in shape)


def _leading(iterations: list[int]) -> int:
    """Return the overflows of the first descent: those in consecutive steps from the start."""
    lead, last = 0, -1
    for each in iterations:
        if each > last + 2:
            break
        lead, last = lead + 1, each
    return lead
