"""The lines in which two texts differ, in time proportional to their length.

The standard library's matcher needs minutes for thousands of equal lines. Here lines that appear once in both texts
align the two; the matcher compares only the lines between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SMALL = 64
"""Lines, old and new together, up to which the standard library's matcher is used."""
_DEEPEST = 16


class ChangedLines(NamedTuple):
    """The lines ``start:end`` of the old text correspond to ``new_start:new_end`` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLines]:
    """Yield the differing blocks of two texts, in order."""
    waiting = [(ChangedLines(0, len(old), 0, len(new)), 0)]
    while waiting:
        here, depth = waiting.pop()
        here = _without_common_ends(old, new, here)
        if here.start == here.end and here.new_start == here.new_end:
            continue
        anchors = _anchors(old, new, here) if depth < _DEEPEST and here.start < here.end else []
        if anchors:
            waiting += [(each, depth + 1) for each in reversed(list(_between(here, anchors)))]
        else:
            yield from _small(old, new, here)


def _without_common_ends(old: Sequence[str], new: Sequence[str], here: ChangedLines) -> ChangedLines:
    start, end, new_start, new_end = here
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return ChangedLines(start, end, new_start, new_end)


def _anchors(old: Sequence[str], new: Sequence[str], here: ChangedLines) -> list[tuple[int, int]]:
    """Return pairs of lines that appear once in both: the longest series that is in order in both."""
    counts, new_counts = Counter(old[here.start : here.end]), Counter(new[here.new_start : here.new_end])
    places = {new[at]: at for at in range(here.new_start, here.new_end) if new_counts[new[at]] == 1}
    pairs = [(at, places[old[at]]) for at in range(here.start, here.end) if counts[old[at]] == 1 and old[at] in places]
    ends: list[int] = []
    links: list[tuple[tuple[int, int], int]] = []
    tops: list[int] = []
    for pair in pairs:
        pile = bisect_left(ends, pair[1])
        links.append((pair, tops[pile - 1] if pile else -1))
        ends[pile : pile + 1] = [pair[1]]
        tops[pile : pile + 1] = [len(links) - 1]
    run = []
    at = tops[-1] if tops else -1
    while at >= 0:
        pair, at = links[at]
        run.append(pair)
    return run[::-1]


def _between(here: ChangedLines, anchors: list[tuple[int, int]]) -> Iterator[ChangedLines]:
    start, new_start = here.start, here.new_start
    for at, new_at in anchors:
        yield ChangedLines(start, at, new_start, new_at)
        start, new_start = at + 1, new_at + 1
    yield ChangedLines(start, here.end, new_start, here.new_end)


def _small(old: Sequence[str], new: Sequence[str], here: ChangedLines) -> Iterator[ChangedLines]:
    """Yield the differences of a part without common unique lines: line by line if it is short, else as one block."""
    start, end, new_start, new_end = here
    if start == end or new_start == new_end or end - start + new_end - new_start > _SMALL:
        yield here
        return
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield ChangedLines(start + i1, start + i2, new_start + j1, new_start + j2)
