"""Findings as text for people: message, place, source line with carets, hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .answer import Line, Span
from .escape import cell_width, shortened, visible

if TYPE_CHECKING:
    from ..check.finding import Finding
    from ..text.source import Excerpt

_TAB = 4
_CUT = "..."
_LEAST = 8
"""The fewest cells of source that a line shows, even on a narrower terminal."""
_PIPE = 100
"""The width of a line of source off a terminal."""


def finding_lines(findings: Iterable[Finding], width: int = 0, seen_from: str = "") -> Iterator[Line]:
    """Yield a paragraph for each finding, followed by a blank line.

    :param width: cells of the terminal; 0 off a terminal, where messages are not broken
    :param seen_from: on a terminal, the folder to which places are shown relative
    """
    for finding in findings:
        yield [Span(f"{finding.severity}[{finding.rule.code}]:", finding.severity), Span(f" {finding.message}")]
        yield f"  --> {place(finding, width, seen_from)}"
        if finding.start and finding.snippet:
            yield from caret_lines(finding.snippet, finding.start.line, width or _PIPE, finding.severity)
        if finding.hint:
            yield ""
            yield [Span("hint:", "hint"), Span(f" {finding.hint}")]
        yield ""


def place(finding: Finding, width: int = 0, seen_from: str = "") -> str:
    """Return `path:line:column`; on a terminal relative to a folder, and shortened."""
    path = visible(finding.path)
    suffix = f":{finding.start.line}:{finding.start.column}" if finding.start else ""
    if width and seen_from:
        path = shortened(path.removeprefix(seen_from.rstrip("/") + "/"), width - len("  --> " + suffix))
    return path + suffix


def caret_lines(snippet: Excerpt, line: int, width: int, style: str) -> Iterator[Line]:
    """Yield three lines: a gutter, the source, the carets. They fit ``width``, for source of any length."""
    gutter = len(str(line)) + 1
    room = max(_LEAST, width - gutter - 3)
    low = max(0, snippet.start - room)  # text further away is never shown, so it is not measured
    characters = [_character(each) for each in snippet.text[low : snippet.start + room]]
    widths = list(map(cell_width, characters))
    start = snippet.start - low
    is_cut = snippet.cut_left or snippet.cut_right or low or len(characters) < len(snippet.text)
    first, last = _window(widths, start, room) if is_cut or sum(widths) > room else (0, len(widths))
    end = max(start + 1, min(snippet.end - low, last))
    cut_left = _CUT if snippet.cut_left or low + first > 0 else ""
    cut_right = _CUT if snippet.cut_right or low + last < len(snippet.text) else ""
    blanks = " " * (len(cut_left) + sum(widths[first:start]))
    yield f"{' ' * gutter} |"
    yield f" {line} | {cut_left}{''.join(characters[first:last])}{cut_right}".rstrip()
    yield [Span(f"{' ' * gutter} | {blanks}"), Span("^" * (sum(widths[start:end]) or 1), style)]  # type: ignore[arg-type]


def _character(character: str) -> str:
    return " " * _TAB if character == "\t" else visible(character)


def _window(widths: Sequence[int], start: int, room: int) -> tuple[int, int]:
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
