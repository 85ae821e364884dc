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
    first = max(0, start - _REACH)
    line = text.rfind("\n", first, start) + 1
    first = line or first
    last = text.find("\n", start, start + _REACH)
    cut_right = last < 0 and start + _REACH < len(text)
    if last < 0:
        last = min(len(text), start + _REACH)
    shown = text[first:last].removesuffix("\r")
    return Excerpt(shown, start - first, min(end - first, len(shown)), not line and first > 0, cut_right)
