"""The line in which a span begins, shortened if it is very long."""

from __future__ import annotations

from typing import NamedTuple

_REACH = 200
"""The code points kept on either side, because a minified file is one line."""


class Excerpt(NamedTuple):
    """``text[start:end]`` is the marked part; ``end`` is the end of the text if the span continues on the next line."""

    text: str
    start: int
    end: int
    cut_left: bool
    cut_right: bool


def excerpt(text: str, start: int, end: int) -> Excerpt:
    """:param start: offset of the span, with ``end`` exclusive"""
    first, last = max(0, start - _REACH), min(len(text), start + _REACH)
    first = text.rfind("\n", first, start) + 1 or first
    newline = text.find("\n", start, last)
    last = last if newline < 0 else newline
    shown = text[first:last].removesuffix("\r")
    cut_left = first > 0 and text[first - 1] != "\n"
    cut_right = last < len(text) and not text.startswith(("\n", "\r\n"), last)
    return Excerpt(shown, start - first, min(end - first, len(shown)), cut_left, cut_right)
