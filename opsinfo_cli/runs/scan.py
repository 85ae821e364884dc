"""One pass over a log: each line of interest goes to the readers that may know it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import IO

from .count import Count
from .metric import Metric
from .readers import READERS, Evidence, Reader
from .startup import MARKS, Startup
from .steps import StepField
from .stream import Window, windows

__all__ = ["FILTERS", "STARTUP", "Log", "read_log"]

STARTUP = 1 << 26
"""Levels and modes are looked for in the first 64 MiB: a run says them when it starts."""

FILTERS = (b"verflow", b"VERFLOW", b"kipped", b"cale", b"Bool,")
"""Every line of every reader but a start-up line holds one of these; a test holds them to that.

They are searched one by one, and begin with a rare letter: a literal is then found at the speed of memory, while an
alternation is thirty times slower.
"""


SHORT = 256


class _Words:
    """Words one of which a line must hold: one pattern is faster on short lines, single searches on long ones."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = tuple(dict.fromkeys(words))
        self._pattern = re.compile(b"|".join(map(re.escape, self._words)))

    def within(self, line: bytes) -> bool:
        if len(line) < SHORT:
            return self._pattern.search(line) is not None
        return any(word in line for word in self._words)


_STARTING = _Words(MARKS)
_READ = _Words(mark for reader in READERS for mark in reader.marks)


class Log:
    """Everything of interest in one log, in constant memory."""

    def __init__(self, path: str, metric: Metric | None = None) -> None:
        self.path = path
        self.bytes = 0
        self.metric = metric
        self.startup = Startup()
        self.steps = StepField()
        self._readers = [reader() for reader in READERS]
        self._hot = [re.compile(re.escape(word)) for word in FILTERS]
        self._cold = [re.compile(re.escape(word)) for word in MARKS]

    def take(self, window: Window) -> None:
        data, limit = window
        starting = self.bytes < STARTUP
        self.bytes += limit
        for start, end in _lines(data, limit, self._hot + self._cold if starting else self._hot):
            line = data[start:end]
            if starting and _STARTING.within(line):
                self.startup.line(line)
            if len(line) >= SHORT or _READ.within(line):  # of long ones the readers' own search costs less
                self._offer(line, data, start)
        if not any(reader.lines and reader.own_steps for reader in self._readers):
            self.steps.window(data, limit)
        if self.metric:
            self.metric.window(data, limit)

    def _offer(self, line: bytes, data: bytes, start: int) -> None:
        """To the reader that had the last one first: logs are of one format."""
        for number, reader in enumerate(self._readers):
            if (number or not reader.own_steps) and not any(mark in line for mark in reader.marks):
                continue
            if not reader.own_steps:
                reader.at, reader.spacing = self.steps.at(data, start), self.steps.spacing
            if reader.line(line):
                reader.lines += 1
                if number:
                    self._readers.insert(0, self._readers.pop(number))
                return

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        """What the most telling reader makes of it, with what the start of the log says beyond that."""
        reader = self._chosen()
        found = (
            reader.evidence(steps, ranks) if reader else Evidence("unknown", count=Count(0, 0, steps, 0, "no message"))
        )
        if found.count and found.count.steps is None:
            found.count = replace(found.count, steps=self.steps.total)
        found.level = self.startup.level or found.level
        found.precision = found.precision or self.startup.precision
        if self.startup.scaling:
            found.scaling, found.static_scale = self.startup.scaling, self.startup.static_scale
        return found

    def _chosen(self) -> Reader | None:
        telling = [reader for reader in self._readers if reader.lines]
        return min(telling, key=lambda reader: READERS.index(type(reader)), default=None)


def _lines(data: bytes, limit: int, filters: list[re.Pattern[bytes]]) -> list[tuple[int, int]]:
    """Where the lines begin and end that hold a word of the filters, in order."""
    found: dict[int, int] = {}
    for pattern in filters:
        at = 0
        while match := pattern.search(data, at, limit):
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end(), limit)
            at = end = end if end >= 0 else limit
            found[start] = end
    return sorted(found.items()) if len(found) > 1 else list(found.items())


def read_log(
    path: str,
    metric: Metric | None = None,
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> Log:
    """:raises Refused: where the log cannot be read"""
    log = Log(path, metric)
    for window in windows(path, stdin, seen):
        log.take(window)
    return log
