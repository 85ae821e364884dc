"""Which lines differ, found in time that follows the texts' length, whatever stands in them.

The standard library's matcher needs minutes for thousands of equal lines. Here lines that stand once in both texts
hold the two together; it is asked only about the little that lies between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from ..typed import NamedTuple

_SMALL = 64
"""Lines, old and new together, that the standard library is asked about."""
_DEEPEST = 16


class ChangedLines(NamedTuple):
    """The lines ``start:end`` of the old text stand for ``new_start:new_end`` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLines]:
    """Where two texts differ, in order; what lies between is the same in both."""
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
    """Lines that stand once in both: the longest run of pairs that are in order in both."""
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
    """What nothing holds together: told line by line where it is little, else as a whole."""
    start, end, new_start, new_end = here
    if start == end or new_start == new_end or end - start + new_end - new_start > _SMALL:
        yield here
        return
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield ChangedLines(start + i1, start + i2, new_start + j1, new_start + j2)
