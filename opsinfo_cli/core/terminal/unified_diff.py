"""A unified diff that `patch` accepts, built from the edits without a search, so large files are fast."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...errors import Damaged
from ..text.escape import visible
from ..text.members import Members, read_members
from ..text.patch import Patch, changed_lines, edits_between
from ..text.source import Source

_CONTEXT = 3
_LONGEST_HEADING = 100


def unified_diff(source: Source, patch: Patch, result: Source, is_new: bool = False) -> str:
    """Return the diff from ``source`` to ``result``, both with the path as given; from /dev/null if ``is_new``."""
    name = _header(result.path)
    if is_new:
        lines = _lines(result)
        return f"--- /dev/null\n+++ {name}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(_line("+", line) for line in lines)
    if not patch:
        return ""
    old, new = _lines(source), _lines(result)
    outcome = read_members(source)
    members = (outcome.members or []) if isinstance(outcome, Members) else []
    parts = [f"--- {name}\n+++ {name}\n"]
    shift = 0
    for start, end, grown, at in _hunks(source, patch, len(old), len(new) - len(old)):
        # after the second `@@` the top-level key that contains the edit, an op type in a library
        key = next((each.key for each in members if each.start <= at < each.end), "")
        heading = f" {visible(key)}" if key and len(key) <= _LONGEST_HEADING else ""
        parts += _hunk(old, new, start, end, start + shift, end + shift + grown, heading)
        shift += grown
    return "".join(parts)


def diff_of_bytes(path: str, old: bytes | None, new: bytes | None) -> str:
    """Return the diff of two contents of a file, None for no file; for binary contents only that they differ."""
    if old == new:
        return ""
    try:
        before, after = Source(old or b"", path), Source(new or b"", path)
    except Damaged:
        return f"Binary files {path} differ\n"
    if old is None or new is None:
        shown = unified_diff(after, Patch("", ()), after if old is None else before, is_new=True)
        return shown if old is None else _reverse(shown)
    edits = tuple(edits_between(before.text, after.text))
    return unified_diff(before, Patch(before.sha256, edits, drop_bom=before.bom and not after.bom), after)


def _reverse(diff: str) -> str:
    """Return the diff that removes a file, given the one that creates it."""
    _, name, hunk, *lines = diff.splitlines(keepends=True)
    count = hunk.split("+1,")[1].split(" ")[0]
    return f"--- {name[4:]}+++ /dev/null\n@@ -1,{count} +0,0 @@\n" + "".join(
        "-" + line[1:] if line.startswith("+") else line for line in lines
    )


def _header(path: str) -> str:
    """Return a path as a header requires it: quoted if it has special characters, with a tab after it if blanks."""
    if any(ord(character) < 32 or character in '"\\\x7f' for character in path):
        escaped = (f"\\{byte:03o}" if byte < 32 or byte >= 127 else chr(byte) for byte in os.fsencode(path))
        return '"' + "".join("\\" + each if each in '"\\' else each for each in escaped) + '"'
    return path + "\t" if " " in path else path


def _lines(source: Source) -> list[str]:
    """Return the lines with their ends; the first has the byte order mark."""
    text = ("\ufeff" if source.bom else "") + source.text
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(source: Source, patch: Patch, count: int, growth: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (first line, line after the last, lines gained, offset of the first edit) of every changed region.

    Context is included; lines and offsets refer to the old text.
    """
    regions: list[list[int]] = [[0, 1, 0, 0]] if patch.drop_bom else []
    for edit in patch.edits:
        first = source.place(edit.start).line - 1
        last = first + source.text.count("\n", edit.start, edit.end) + 1
        grown = edit.text.count("\n") - source.text.count("\n", edit.start, edit.end)
        if regions and first <= regions[-1][1] + 2 * _CONTEXT:
            regions[-1][1] = max(regions[-1][1], last)
            regions[-1][2] += grown
        else:
            regions.append([first, last, grown, edit.start])
    if regions:  # an edit may add or remove the last line end, which is a line here but not for `patch`
        regions[-1][2] += growth - sum(region[2] for region in regions)
    for first, last, grown, at in regions:
        yield max(0, first - _CONTEXT), min(count, last + _CONTEXT), grown, at


def _hunk(old: list[str], new: list[str], a1: int, a2: int, b1: int, b2: int, heading: str) -> Iterator[str]:
    before, after = old[a1:a2], new[b1:b2]
    yield f"@@ -{_range(a1, len(before))} +{_range(b1, len(after))} @@{heading}\n"
    at = 0
    for changed in changed_lines(before, after):
        yield from (_line(" ", line) for line in before[at : changed.start])
        yield from (_line("-", line) for line in before[changed.start : changed.end])
        yield from (_line("+", line) for line in after[changed.new_start : changed.new_end])
        at = changed.end
    yield from (_line(" ", line) for line in before[at:])


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
