"""Runs of equal messages, searched for in the text of a window: hundreds of ranks print the same line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate, compress, count, islice, pairwise
from operator import add, ne
from typing import NamedTuple

from ..steps import StepFields

NEAR = 12
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
        if steps and len(gaps[first]) >= NEAR:
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
    breaks = [at for at, gap in enumerate(gaps) if at and len(gap) >= NEAR] if steps else []
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
