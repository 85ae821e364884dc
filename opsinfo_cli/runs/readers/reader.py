"""The base of log readers: windows of a log in, evidence out, in constant memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from ..count import Count
from ..steps import StepFields
from ..trajectory import Trajectory

NUMBER = rb"([-+]?(?:\d{1,60}\.?\d{0,60}(?:[eE][-+]?\d{1,4})?|inf|nan))"


def number(text: bytes) -> float:
    """:param text: what :data:`NUMBER` matched"""
    return float(text)


def number_or_none(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass
class Evidence:
    """What one log proves about mixed precision, independent of its format.

    :param format: the name of the reader that understood it, or ``unknown``
    :param level: the opt level or precision mode, as printed
    :param precision: ``float16`` or ``bfloat16``
    :param scaling: ``dynamic`` or ``static``; None if the log does not show it
    :param floor: the scale at which, or below which, the scaler of this format is at its end
    :param fatal: a message with which the run gave up
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
    lines: int = 0
    known: bool = False


class Reader:
    """One log format. :meth:`window` is given the parts of a log that hold one of :data:`marks`."""

    name: ClassVar[str]
    reads: ClassVar[str]
    """The logs it is for, in words."""
    marks: ClassVar[tuple[bytes, ...]]
    floor: ClassVar[float] = 1.0
    window_default: ClassVar[int | None] = None
    """Clean steps after which this scaler grows, by default."""

    def __init__(self) -> None:
        self.lines = 0
        """Lines or messages understood."""
        self.overflow_words = 0
        """How often it has read the word `overflow` in a message."""
        self.scale_words = 0
        """How often it has read `cale` in a message: `loss scale`, `loss scaler`."""
        self.printed_ranks: tuple[int, ...] = ()
        """Numbers of ranks that the log prints at its start; a log of several nodes has more ranks than that."""
        self.steps_printed = False
        """Whether the log prints steps at all; set before :meth:`evidence`."""
        self.found = Evidence(self.name, floor=self.floor, window=self.window_default)
        self.scale = self.found.scale

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        """Read what begins before ``limit``."""
        raise NotImplementedError

    @property
    def counts(self) -> bool:
        """Whether it has seen anything that counts overflows, more than options printed at the start."""
        return self.lines > 0

    def place(self, at: int | None, messages: int) -> int:
        """Where in the run a message stands: at the step printed last before it, else at its own number."""
        if at is None:
            return messages
        self.found.at_is_step = True
        return at

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        raise NotImplementedError

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        """:param steps: all steps if known
        :param ranks: how many ranks print if known
        """
        self.found.count = self.tally(steps, ranks)
        self.found.lines = self.lines
        self.found.known = self.lines > 0
        if self.found.scaling is None and self.scale.changes and self.scale.lowest < math.inf:
            self.found.scaling = "dynamic"
        return self.found


class LineReader(Reader):
    """A format that is read line by line."""

    def __init__(self) -> None:
        super().__init__()
        self._patterns = compiled_marks(self.marks)

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        patterns = [pattern for mark, pattern in self._patterns if mark in data]
        for start, end in lines_with(data, limit, patterns):
            self.lines += self.line(data[start:end])

    def line(self, line: bytes) -> bool:
        """:returns: whether the line was of this format"""
        raise NotImplementedError


def lines_with(data: bytes, limit: int, patterns: list[re.Pattern[bytes]]) -> list[tuple[int, int]]:
    """Where the lines begin and end in which one of the patterns is found, in order."""
    found: dict[int, int] = {}
    for pattern in patterns:
        at = 0
        while match := pattern.search(data, at, limit):
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end(), limit)
            at = end = end if end >= 0 else limit
            found[start] = end
    return sorted(found.items()) if len(found) > 1 else list(found.items())


def compiled_marks(marks: tuple[bytes, ...]) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """Words with a pattern for each, which :func:`lines_with` takes."""
    return [(mark, re.compile(re.escape(mark))) for mark in marks]


_DIGITS = re.compile(rb"\s{0,20}(\d{1,15})")


def counted_lines(
    data: bytes, limit: int, word: bytes, counter: re.Pattern[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """Lines with a step and, behind it, a counter: (step, count, where the step ends, where the counter ends).

    :param word: what is before the step
    :param counter: finds the counter, its first group is the number
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
    """What the groups of a pattern find in each line, for lines that hold each of some words once; else nothing.

    :param pattern: finds at most one row a line, and holds the words
    """
    rows: list[tuple[bytes, ...]] = pattern.findall(data, 0, limit)
    return rows if all(data.count(word, 0, limit) == len(rows) for word in words) else []


_NEAR = 12
"""Messages closer than this have no step field between them."""


def message_runs(
    pattern: re.Pattern[bytes], data: bytes, limit: int, steps: StepFields | None = None
) -> Iterator[tuple[re.Match[bytes], int]]:
    """Equal messages that follow each other: the first of each run, and how many they are.

    ``steps`` is at the place of the run when it is given out. Every byte is looked at once, whatever share of the
    lines are messages.
    """
    end = copies = begin = 0
    text = b""
    for run in _repeated(pattern).finditer(data, 0, limit):
        start, this = run.start(), run["message"]
        many = 1 if run.end() - start == len(this) else run[0].count(this)
        near = start - end < _NEAR
        if near and this == text:
            copies += many
        else:
            if copies:
                yield _again(pattern, data, begin), copies
            if not near and steps:
                steps.skip(end)
                steps.advance(data, start)
            text, copies, begin = this, many, start
        end = run.end()
    if copies:
        yield _again(pattern, data, begin), copies
        if steps:
            steps.skip(end)


@cache
def _repeated(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    """A message and its copies: hundreds of ranks print the same line."""
    return re.compile(rb"(?P<message>" + pattern.pattern + rb")(?:\n?(?P=message))*")


def _again(pattern: re.Pattern[bytes], data: bytes, start: int) -> re.Match[bytes]:
    match = pattern.match(data, start)
    assert match is not None
    return match
