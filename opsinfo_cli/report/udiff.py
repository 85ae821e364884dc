"""A unified diff that `patch` accepts, made from the edits: no search, whatever the size of the file."""

from __future__ import annotations

from collections.abc import Iterator

from ..text.patch import Patch
from ..text.source import Source

__all__ = ["unified_diff"]

_CONTEXT = 3


def unified_diff(source: Source, patch: Patch, result: Source) -> str:
    """From ``source`` to ``result``, both under the path as given."""
    if not patch:
        return ""
    old, new = _lines(source), _lines(result)
    hunks = _hunks(source, patch, len(old), len(new) - len(old))
    parts = [f"--- {source.path}\n+++ {source.path}\n"]
    shift = 0
    for start, end, grown in hunks:
        parts += _hunk(old, new, start, end, start + shift, end + shift + grown)
        shift += grown
    return "".join(parts)


def _lines(source: Source) -> list[str]:
    """Lines with their ends, a byte order mark standing where it stands in the file."""
    text = ("\ufeff" if source.bom else "") + source.text
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(source: Source, patch: Patch, count: int, growth: int) -> Iterator[tuple[int, int, int]]:
    """(first line, line behind the last, lines gained) of every changed region, context included, in the old text."""
    regions: list[list[int]] = [[0, 1, 0]] if patch.drop_bom else []
    for edit in patch.edits:
        first = source.text.count("\n", 0, edit.start)
        last = first + source.text.count("\n", edit.start, edit.end) + 1
        grown = edit.text.count("\n") - source.text.count("\n", edit.start, edit.end)
        if regions and first <= regions[-1][1] + 2 * _CONTEXT:
            regions[-1][1] = max(regions[-1][1], last)
            regions[-1][2] += grown
        else:
            regions.append([first, last, grown])
    if regions:  # an edit of the last line may add or take its end: that is a line more or less to nobody but us
        regions[-1][2] += growth - sum(region[2] for region in regions)
    for first, last, grown in regions:
        yield max(0, first - _CONTEXT), min(count, last + _CONTEXT), grown


def _hunk(old: list[str], new: list[str], a1: int, a2: int, b1: int, b2: int) -> Iterator[str]:
    import difflib

    before, after = old[a1:a2], new[b1:b2]
    yield f"@@ -{_range(a1, len(before))} +{_range(b1, len(after))} @@\n"
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            yield from (_line(" ", line) for line in before[i1:i2])
        else:
            yield from (_line("-", line) for line in before[i1:i2])
            yield from (_line("+", line) for line in after[j1:j2])


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
