"""The base of log readers: reads windows of a log, returns evidence, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, compress, count, islice, pairwise
from operator import add, ne
from typing import ClassVar, NamedTuple

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

    def places(self, ats: list[int | None], before: int, wanted: list[bool]) -> list[int]:
        """Return :meth:`place` of those of some messages in order that are wanted.

        :param ats: the last step before each; after one that has a step, each has one
        :param before: the number of the messages before these
        """
        numbers = compress(count(before + 1), wanted)
        shown = list(compress(ats, wanted))
        if not shown or shown[-1] is None:
            return list(numbers)
        self.found.at_is_step = True
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


_NEAR = 12
"""Messages closer than this have no step field between them."""


def message_runs(
    pattern: re.Pattern[bytes],
    mark: bytes,
    data: bytes,
    limit: int,
    steps: StepFields | None = None,
    moves: Callable[[re.Match[bytes]], bool] | None = None,
) -> Iterator[tuple[re.Match[bytes], int]]:
    """Yield the first of each run of equal messages, and their number.

    ``steps`` is at the place of the run when it is yielded: equal messages with a step between them are a run each, or
    one run from ``steps.since`` to ``steps.at`` if they are so close that they may be copies of one message. Every byte
    is read once, for any share of lines that are messages.

    :param mark: text that each message has once
    :param moves: whether a message shows two scales, so that each copy is a run
    """
    found = pattern.search(data, 0, limit) if data.find(mark, 0, limit) >= 0 else None
    if found is None:
        return
    only = _only(found[0], mark, data, limit)
    if only and steps is None:
        yield found, only
        return
    texts, gaps, whole = _copied(found[0], only, data[:limit]) if only else _parted(pattern, data[:limit])
    ends = list(accumulate(map(add, map(len, gaps), map(len, whole))))
    changes = compress(count(1), map(ne, islice(texts, 1, None), texts)) if not only else ()
    for first, stop in pairwise([0, *changes, len(texts)]):
        begin = ends[first] - len(whole[first])
        match = _again(pattern, data, begin)
        if steps and len(gaps[first]) >= _NEAR:
            steps.skip(ends[first - 1] if first else 0)
            steps.advance(data, begin)
        if stop - first == 1:
            yield match, _copies(texts[first], whole[first])
            continue
        at_once = b"nan" not in texts[first] and not (moves and moves(match))
        for after, copies in _stretch(
            data, _Stretch(texts[first:stop], gaps[first:stop], whole[first:stop], ends[first:stop]), steps, at_once
        ):
            at = first + after
            yield (_again(pattern, data, ends[at] - len(whole[at])) if after else match), copies
    if steps:
        steps.skip(ends[-1])


def _only(text: bytes, mark: bytes, data: bytes, limit: int) -> int:
    """Return how many messages there are, if each is the same text at the end of its line; else 0."""
    many = data.count(mark, 0, limit)
    return many if data.count(text + b"\n", 0, limit) == many else 0


_Parts = tuple[list[bytes], list[bytes], list[bytes]]
"""The messages, the text before each, and each with its copies if they run together."""


def _copied(text: bytes, many: int, data: bytes) -> _Parts:
    texts = [text] * many
    return texts, data.split(text)[:-1], texts


def _parted(pattern: re.Pattern[bytes], data: bytes) -> _Parts:
    runs = _runs_of(pattern)
    parts = runs.split(data)
    gaps, whole, texts = (parts[each :: runs.groups + 1] for each in range(3))
    return texts, gaps, whole


class _Stretch(NamedTuple):
    """Copies of one message: the text of each, what is before it, it with the copies next to it, and its end."""

    texts: list[bytes]
    gaps: list[bytes]
    whole: list[bytes]
    ends: list[int]


_FEW = 4


def _stretch(data: bytes, stretch: _Stretch, steps: StepFields | None, at_once: bool) -> Iterator[tuple[int, int]]:
    """Yield the number of messages before each run of a message, and its copies."""
    texts, gaps, whole, ends = stretch
    copies = [1] * len(texts) if texts == whole else list(map(_copies, texts, whole))
    breaks = [at for at, gap in enumerate(gaps) if at and len(gap) >= _NEAR] if steps else []
    if not breaks or steps is None:
        yield 0, sum(copies)
        return
    yield 0, sum(copies[: breaks[0]])
    end = ends[-1]
    if at_once and len(breaks) >= _FEW and steps.sweep([gaps[at] for at in breaks], ends[breaks[0] - 1], end):
        yield breaks[0], sum(copies[breaks[0] :])
        steps.since = None
        return
    for first, stop in pairwise([*breaks, len(gaps)]):
        steps.skip(ends[first - 1])
        steps.advance(data, ends[first - 1] + len(gaps[first]))
        yield first, sum(copies[first:stop])


def _copies(text: bytes, whole: bytes) -> int:
    return 1 if len(text) == len(whole) else whole.count(text)


@cache
def _runs_of(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    """Return a pattern of a message and its copies: hundreds of ranks print the same line."""
    return re.compile(rb"((?P<message>" + pattern.pattern + rb")(?:\n?(?P=message))*)")


def _again(pattern: re.Pattern[bytes], data: bytes, start: int) -> re.Match[bytes]:
    match = pattern.match(data, start)
    assert match is not None
    return match
