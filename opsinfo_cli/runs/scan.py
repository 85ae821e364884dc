"""One pass over a log: each window goes to the readers whose marks it contains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import IO

from .count import Count, checked
from .metric import Metric
from .readers import READERS
from .readers.deepspeed import DeepSpeed
from .readers.megatron import Megatron
from .readers.reader import Evidence, Reader, compiled_marks, lines_with
from .sheet import Sheet
from .startup import MARKS, Startup
from .steps import StepFields
from .stream import Window, windows

STARTUP = 1 << 26
"""Levels and modes are searched in the first 64 MiB: a run prints them when it starts."""

FILTERS = (b"verflow", b"VERFLOW", b"kipped", b"cale", b"Bool,", b"num_updates")
"""Every line of every reader, except start-up lines, contains one of these; a test checks that.

They are searched one by one: an alternation is thirty times slower than a literal string.
"""

_NEAR = 512
"""Messages this close are in most lines."""

_AGAIN = 8
"""A log whose lines have many shapes is asked again in every eighth window."""

_OVERFLOW, _SCALE = b"verflow", b"cale"
_BESIDE = {
    b"isFinite": b"cale",
    b"outputs are (": b"Bool,",
    b"optimizer not run": b"cale",
    b"Found inf or nan": b"cale",
}
_STARTING = compiled_marks(MARKS)


def _gate(mark: bytes) -> bytes | None:
    """Return the filter that every line with a mark contains; None for a start-up mark."""
    if mark.endswith(b" .."):
        return None
    return _BESIDE.get(mark) or next(word for word in FILTERS if word in mark)


_GATES = {reader: [(mark, _gate(mark)) for mark in reader.marks] for reader in READERS}


def _gated(reader: Reader) -> list[tuple[bytes, bytes | None]]:
    return _GATES[type(reader)]


class Log:
    """The evidence of one log, in constant memory."""

    def __init__(self, path: str, metric: Metric | None = None) -> None:
        self.path = path
        self.bytes = 0
        self.metric = metric
        self.startup = Startup()
        self.steps = StepFields()
        self._readers = [reader() for reader in READERS]
        self._by_shape = True
        """Whether the lines of the next window are looked up by shape."""
        self._windows = 0
        self._newest: dict[Reader, tuple[bytes, bytes | None]] = {}
        """The mark that was found last, by reader."""

    def take(self, window: Window) -> None:
        data, limit = window
        sheet = Sheet(data, limit, self._by_shape)
        starting = self.bytes < STARTUP
        self.bytes += limit
        if starting:
            self._start(sheet)
        is_dense = self._read(sheet, starting)
        self._windows += 1
        self._by_shape = is_dense or sheet.kinds is not None or self._windows % _AGAIN == 0
        self.steps.finish(sheet)
        if self.metric:
            self.metric.window(data, limit)

    def _start(self, sheet: Sheet) -> None:
        if sheet.kinds is not None:
            marks = [mark for mark, _ in _STARTING if sheet.has(mark)]
            if marks and self.startup.may_say(sheet.kinds):
                self.startup.lines(*sheet.lines_with(*marks))
            return
        data, limit = sheet.data, sheet.limit
        found = lines_with(data, limit, [each for mark, each in _STARTING if mark in data])
        self.startup.lines([data[start:end] for start, end in found])

    def _read(self, sheet: Sheet, starting: bool) -> bool:
        """Pass a window to the readers with a mark in it. Returns whether most of its lines counted.

        A mark is searched for only if the filter for it is there, and one of overflows or scales only until all of
        these are read.
        """
        present = set(filter(sheet.has, FILTERS))
        if not present and not starting:
            return False
        overflows = sheet.count(_OVERFLOW) if _OVERFLOW in present else 0
        scales = sheet.count(_SCALE) if _SCALE in present else 0
        messages = 0
        for reader in sorted(self._readers, key=lambda reader: (-reader.overflow_words, -reader.scale_words)):
            if overflows <= 0:
                present.discard(_OVERFLOW)
            if scales <= 0:
                present.discard(_SCALE)
            if self._is_marked(reader, sheet, present, starting):
                overflows += reader.overflow_words
                scales += reader.scale_words
                messages -= reader.lines
                reader.sheet(sheet, self.steps)
                messages += reader.lines
                overflows -= reader.overflow_words
                scales -= reader.scale_words
        return messages * _NEAR > sheet.limit

    def _is_marked(self, reader: Reader, sheet: Sheet, present: set[bytes], starting: bool) -> bool:
        """Whether a mark of a reader is in a window: most often it is the one of the window before."""
        newest = self._newest.get(reader)
        marks = _gated(reader) if newest is None else (newest, *_gated(reader))
        for mark, gate in marks:
            if (starting if gate is None else gate in present) and sheet.has(mark):
                self._newest[reader] = (mark, gate)
                return True
        return False

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        """Return the evidence of the best reader, completed from the start of the log."""
        reader = self._chosen()
        if reader:
            reader.printed_ranks = self.startup.ranks
            reader.steps_printed = self.steps.total is not None
        total = steps or self._steps_of_megatron(reader)
        found = reader.evidence(total, ranks) if reader else Evidence("unknown", count=_nothing(steps))
        if found.count and found.count.steps is None:
            found.count = replace(found.count, steps=self.steps.total)
            if self.steps.note:
                found.count = found.count.noted(self.steps.note)
        if found.count:
            found.count = checked(found.count)
        found.known |= self.startup.known or any(each.lines for each in self._readers)
        self._add_startup(found, reader)
        return found

    def _add_startup(self, found: Evidence, reader: Reader | None) -> None:
        startup = self.startup
        found.level = startup.level or found.level or ("fp32" if startup.is_float32 else None)
        found.precision = found.precision or startup.precision
        if startup.scaling and not isinstance(reader, DeepSpeed):
            found.scaling, found.static_scale = startup.scaling, startup.static_scale

    def _chosen(self) -> Reader | None:
        """Return the first reader, in order of preference, that understood a line.

        With DeepSpeed neither Megatron's scale nor its counter is in use.
        """
        telling = [reader for reader in self._readers if reader.lines]
        if any(isinstance(reader, DeepSpeed) for reader in telling):
            telling = [reader for reader in telling if not isinstance(reader, Megatron)]
        return min(telling, key=lambda reader: (not reader.counts, READERS.index(type(reader))), default=None)

    def _steps_of_megatron(self, reader: Reader | None) -> int | None:
        """Return the steps that Megatron's lines count, if Megatron runs on DeepSpeed."""
        for each in self._readers:
            if isinstance(each, Megatron) and isinstance(reader, DeepSpeed) and each.counters.lines:
                return each.counters.count(None).steps
        return None


def _nothing(steps: int | None) -> Count:
    return Count(0, 0, steps, 0, "no messages")


def read_log(
    path: str,
    metric: Metric | None = None,
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> Log:
    """:raises Refused: if the log cannot be read"""
    log = Log(path, metric)
    for window in windows(path, stdin, seen):
        log.take(window)
    return log
