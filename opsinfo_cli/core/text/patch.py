"""Edits as values, so that a change can be shown, proved and tested without writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ...errors import Stale
from .source import Source, encoded


class Edit(NamedTuple):
    """Replace the code points ``start:end`` by ``text``."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[Edit]) -> str:
    """:raises ValueError: if edits overlap; adjacent ones are fine"""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise ValueError(f"edit {edit} overlaps another or is outside the text")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    parts.append(text[at:])
    return "".join(parts)


class Patch(NamedTuple):
    """Edits bound to the SHA-256 of the bytes they were computed from."""

    sha256: str
    edits: tuple[Edit, ...]
    drop_bom: bool = False

    def __bool__(self) -> bool:
        return bool(self.edits) or self.drop_bom

    def apply(self, source: Source) -> bytes:
        """:raises Stale: if ``source`` is not the text the patch was made for"""
        if source.sha256 != self.sha256:
            message = f"the file changed since the edit was planned: {self.sha256[:12]} then, {source.sha256[:12]} now"
            hint = "plan the change again"
            raise Stale(message, path=source.path, hint=hint)
        text = splice(source.text, self.edits)
        return encoded(text) if self.drop_bom else source.with_text(text)


class ChangedLines(NamedTuple):
    """The lines ``start:end`` of the old text correspond to ``new_start:new_end`` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


_MOST_WORK = 20_000_000
"""Lines and pairs of equal lines that are compared, a few seconds; what is left then is one block a gap."""


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLines]:
    """Yield the differing blocks of two texts, in order."""
    start, end, new_end = 0, len(old), len(new)
    while start < min(end, new_end) and old[start] == new[start]:
        start += 1
    while end > start and new_end > start and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    at, new_at = start, start
    for match in [*_equal_blocks(old[start:end], new[start:new_end]), (end - start, new_end - start, 0)]:
        if at < start + match[0] or new_at < start + match[1]:
            yield ChangedLines(at, start + match[0], new_at, start + match[1])
        at, new_at = start + match[0] + match[2], start + match[1] + match[2]


def _equal_blocks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return what `SequenceMatcher.get_matching_blocks` returns, but stop where that would take minutes."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old, new)
    counts = Counter(new)
    frequent = len(new) // 100 + 1 if len(new) >= 200 else len(new)  # the matcher skips what is more frequent
    costs = [0, *accumulate(1 + counts[line] * (counts[line] <= frequent) for line in old)]
    left = _MOST_WORK
    blocks = []
    gaps = [(0, len(old), 0, len(new))]
    while gaps:
        start, end, new_start, new_end = gaps.pop()
        left -= costs[end] - costs[start]
        at, new_at, size = matcher.find_longest_match(start, end, new_start, new_end) if left > 0 else (0, 0, 0)
        if size:
            blocks.append((at, new_at, size))
            gaps += [(start, at, new_start, new_at), (at + size, end, new_at + size, new_end)]
    return sorted(blocks)


def edits_between(old: str, new: str) -> list[Edit]:
    """Return edits, line by line, that turn one text into the other."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, before))]
    return [
        Edit(starts[each.start], starts[each.end], "".join(after[each.new_start : each.new_end]))
        for each in changed_lines(before, after)
    ]
