"""The base of log readers: reads windows of a log, returns evidence, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress
from typing import ClassVar

from ..columns import picked
from ..count import Count
from ..sheet import Sheet
from ..steps import StepFields
from ..trajectory import Trajectory

NUMBER = rb"([-+]?(?:\d{1,60}\.?\d{0,60}(?:[eE][-+]?\d{1,4})?|inf|nan))"


def number(text: bytes) -> float:
    """:param text: a match of :data:`NUMBER`"""
    return float(text)


def number_or_none(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass
class Evidence:
    """The evidence of one log about mixed precision, independent of its format.

    :param format: the name of the reader that understood it, or ``unknown``
    :param level: the opt level or precision mode, as printed
    :param precision: ``float16`` or ``bfloat16``
    :param scaling: ``dynamic`` or ``static``; None if the log does not show it
    :param floor: the lowest scale of this format's scaler
    :param fatal: the message with which the run aborted
    :param unreadable: why no scale can be read, although the log prints it
    :param known: whether any line of the log was understood
    """

    format: str
    level: str | None = None
    precision: str | None = None
    scaling: str | None = None
    static_scale: float | None = None
    floor: float = 1.0
    fatal: str | None = None
    window: int | None = None
    at_is_step: bool = False
    count: Count | None = None
    scale: Trajectory = field(default_factory=Trajectory)
    unreadable: str | None = None
    lines: int = 0
    known: bool = False


class Reader:
    """One log format. :meth:`sheet` gets the windows of a log that contain one of :data:`marks`."""

    name: ClassVar[str]
    reads: ClassVar[str]
    """The logs that it reads, as text for people."""
    marks: ClassVar[tuple[bytes, ...]]
    floor: ClassVar[float] = 1.0
    window_default: ClassVar[int | None] = None
    """Clean steps after which this scaler grows by default."""

    def __init__(self) -> None:
        self.lines = 0
        """Lines or messages understood."""
        self.overflow_words = 0
        """How often the word `overflow` was read in a message."""
        self.scale_words = 0
        """How often `cale` was read in a message: `loss scale`, `loss scaler`."""
        self.printed_ranks: tuple[int, ...] = ()
        """Numbers of ranks that the log prints at its start; a log of several nodes has more ranks."""
        self.steps_printed = False
        """Whether the log prints steps at all; set before :meth:`evidence`."""
        self.found = Evidence(self.name, floor=self.floor, window=self.window_default)
        self.scale = self.found.scale

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        """Read the messages that begin in a window of the log."""
        raise NotImplementedError

    @property
    def counts(self) -> bool:
        """Whether anything that counts overflows was read, not only options printed at the start."""
        return self.lines > 0

    def place(self, at: int | None, messages: int) -> int:
        """Return the place of a message in the run: the last step printed before it, else the number of its first copy.

        :param messages: how many were there before it
        """
        if at is None:
            return messages + 1
        self.found.at_is_step = True
        return at

    def places(self, ats: list[int | None], numbers: Iterable[int], wanted: list[bool]) -> list[int]:
        """Return :meth:`place` of those of some messages in order that are wanted.

        :param ats: the last step before each; after one that has a step, each has one
        :param numbers: the number of each
        """
        numbers = compress(numbers, wanted)
        shown = picked(ats, wanted)
        if not shown or shown[-1] is None:
            return list(numbers)
        self.found.at_is_step = True
        known = [at for at in shown if at is not None]
        if len(known) == len(shown):
            return known
        return [number if at is None else at for at, number in zip(shown, numbers, strict=False)]

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        raise NotImplementedError

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        """:param steps: the number of steps, if known
        :param ranks: the number of ranks that print, if known
        """
        self.found.count = self.tally(steps, ranks)
        self.found.lines = self.lines
        if self.found.scaling is None and self.scale.changes:
            self.found.scaling = "dynamic"
        return self.found


def lines_with(data: bytes, limit: int, patterns: list[re.Pattern[bytes]]) -> list[tuple[int, int]]:
    """Return start and end of every line that matches one of the patterns, in order."""
    found: dict[int, int] = {}
    for pattern in patterns:
        at = 0
        while match := pattern.search(data, at, limit):
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end(), limit)
            at = end = end if end >= 0 else limit
            found[start] = end
    return sorted(found.items())


def compiled_marks(marks: tuple[bytes, ...]) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """Return each mark with its pattern, for :func:`lines_with`."""
    return [(mark, re.compile(re.escape(mark))) for mark in marks]


_DIGITS = re.compile(rb"\s{0,20}(\d{1,15})")


def counted_lines(
    data: bytes, limit: int, word: bytes, counter: re.Pattern[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (step, count, end of the step, end of the counter) for lines with a step followed by a counter.

    :param word: the text before the step
    :param counter: the pattern of the counter; its first group is the number
    """
    before = 0
    for match in counter.finditer(data, 0, limit):
        line = data.rfind(b"\n", before, match.start()) + 1 or before
        at = data.find(word, line, match.start())
        before = match.end()
        step = _DIGITS.match(data, at + len(word)) if at >= 0 else None
        if step:
            yield int(step[1]), int(match[1]), step.end(), match.end()


def rows_of(pattern: re.Pattern[bytes], data: bytes, limit: int, words: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    """Return the groups of a pattern's matches, if every line has each of some words once; else nothing.

    :param pattern: matches at most once per line, and contains the words
    """
    rows: list[tuple[bytes, ...]] = pattern.findall(data, 0, limit)
    return rows if all(data.count(word, 0, limit) == len(rows) for word in words) else []
