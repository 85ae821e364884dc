"""Edits of JSON with comments (``.jsonc``), which a team keeps with the reason of each entry.

A comment is before an entry, or after it on the same line; a comma may follow the last entry. Removing an entry removes
its comma and the comments on both sides of the comma. A new entry gets its own line if the last one has its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .layout import Style, line_indent
from .patch import Edit
from .scanner import COMMENT, Node

_BLANKS_AND_COMMENTS = re.compile(rf"(?:[ \t\r\n]|{COMMENT})*")
_COMMENTS = re.compile(rf"(?:[ \t]|{COMMENT})*")


def add_entries(text: str, container: Node, bodies: Sequence[str], style: Style) -> list[Edit]:
    """Insert parts at the end of an array or object, each on a line of its own if the last one is."""
    closing = container.end - 1
    newline = style.newline
    if not container.parts:
        indent = line_indent(text, container.start)
        inner = indent + (style.unit or "    ")
        lines = f",{newline}".join(inner + body for body in bodies)
        at = len(text[:closing].rstrip(" \t"))
        before = "" if text[:at].endswith("\n") else newline
        return [Edit(at, closing, f"{before}{lines}{newline}{indent}")]
    last = container.parts[-1]
    comma = _comma_after(text, last.end)
    end = last.end if comma is None else comma + 1
    rest = _end_of_line(text, end)
    if rest is None:  # more of the container is on this line
        return [Edit(end, end, ("" if comma is not None else ",") + " " + ", ".join(bodies))]
    indent = line_indent(text, last.start)
    lines = "".join(f"{newline}{indent}{body}," for body in bodies)
    lines = lines if comma is not None else lines[:-1]
    commas = [] if comma is not None else [Edit(last.end, last.end, ",")]
    if rest == last.end and commas:
        return [Edit(last.end, last.end, "," + lines)]
    return [*commas, Edit(rest, rest, lines)]


def drop_entries(text: str, container: Node, indexes: Sequence[int]) -> list[Edit]:
    """Remove items of an array; an array that becomes empty stays, with the comments in it."""
    return [_drop(text, container.items[index]) for index in indexes]


def _drop(text: str, item: Node) -> Edit:
    comma = _comma_after(text, item.end)
    end = item.end if comma is None else comma + 1
    start = item.start
    begin = text.rfind("\n", 0, start) + 1
    rest = _end_of_line(text, end)
    if rest is not None and not text[begin:start].strip(" \t"):  # the only one of its line
        return Edit(begin, min(len(text), text.find("\n", rest) + 1 or len(text)), "")
    if rest is None:  # the last one of its line takes the comment after it along
        rest = len(text) - len(text[end:].lstrip(" \t"))
    return Edit(start, rest, "")


def _end_of_line(text: str, at: int) -> int | None:
    """Return the offset of the end of a line whose rest is comments; None if it is not."""
    comments = _COMMENTS.match(text, at)
    end = comments.end() if comments else at
    ends = end == len(text) or text.startswith(("\n", "\r\n"), end)
    return end if ends and "\n" not in text[at:end] else None


def _comma_after(text: str, end: int) -> int | None:
    """Return the offset of the comma behind a part."""
    blanks = _BLANKS_AND_COMMENTS.match(text, end)
    at = blanks.end() if blanks else end
    return at if text[at : at + 1] == "," else None
