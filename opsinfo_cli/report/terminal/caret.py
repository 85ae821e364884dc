"""A line of source with carets below a span, for lines of any length and characters of any width."""

from __future__ import annotations

from collections.abc import Iterator

from ...text.source import Excerpt
from ..escape import visible
from .cell_width import cell_width
from .style import Look

_TAB = 4
_CUT = "..."
_LEAST = 8
"""The fewest cells of source that a line shows, even on a narrower terminal."""


def caret_lines(snippet: Excerpt, line: int, look: Look, color: str) -> Iterator[str]:
    """Yield three lines: a gutter, the source, the carets."""
    gutter = len(str(line)) + 1
    room = max(_LEAST, look.width - gutter - 3)
    low = max(0, snippet.start - room)  # text further away is never shown, so it is not measured
    text = snippet.text[low : snippet.start + room]
    shown = _shown_all(text, look.encoding)
    widths = [1] * len(text) if shown is text else [cell_width(each) for each in shown]
    start = snippet.start - low
    whole = not (snippet.cut_left or snippet.cut_right or low or len(text) < len(snippet.text))
    first, last = (0, len(text)) if whole and sum(widths) <= room else _window(widths, start, room)
    end = max(start + 1, min(snippet.end - low, last))
    cut_left = snippet.cut_left or low + first > 0
    cut_right = snippet.cut_right or low + last < len(snippet.text)
    before = len(_CUT) * cut_left + sum(widths[first:start])
    yield f"{' ' * gutter} |"
    yield f" {line} | {_CUT * cut_left}{''.join(shown[first:last])}{_CUT * cut_right}".rstrip()
    yield f"{' ' * gutter} | {' ' * before}{look.paint('^' * (sum(widths[start:end]) or 1), color)}"


def _window(widths: list[int], start: int, room: int) -> tuple[int, int]:
    """Return (first, last): the most characters around ``start`` that fit if both sides are cut."""
    room = max(_LEAST, room - 2 * len(_CUT))
    first = last = min(start, len(widths))
    taken = 0
    while first and taken + widths[first - 1] <= room // 2:
        first -= 1
        taken += widths[first]
    while last < len(widths) and taken + widths[last] <= room:
        taken += widths[last]
        last += 1
    while first and taken + widths[first - 1] <= room:
        first -= 1
        taken += widths[first]
    return first, last


def _shown_all(text: str, encoding: str) -> str | list[str]:
    """Return each character as the encoding can show it; the text itself if nothing changes."""
    if text.isascii() and text.isprintable():
        return text
    return [_shown(character, encoding) for character in text]


def _shown(character: str, encoding: str) -> str:
    """Return a character as the encoding can show it."""
    if character == "\t":
        return " " * _TAB
    return visible(character).encode(encoding, "backslashreplace").decode(encoding)
