"""Cells of a terminal: a Chinese character takes two, a mark that joins takes none."""

from __future__ import annotations

import re
import unicodedata

_OPENING, _CLOSING = "（《“‘【", "，。；：、！？）》”’】"
_PIECE = f" +|[{_OPENING}]*(?:[!-~]+(?: %[!-~]*)?|[^ !-~])[{_CLOSING}]*"
"""What stays on one line: blanks, a word, a number and its %, or a single wide character with its marks."""


def cell_width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, cells: int) -> str:
    """Filled with blanks to a width."""
    return text + " " * (cells - cell_width(text))


def wrapped(text: str, cells: int) -> list[str]:
    """Lines of at most so many cells, broken at blanks and between Chinese characters, never before a closing mark.

    >>> wrapped("引擎只读 JSON，其余不认。", 14)
    ['引擎只读 JSON，', '其余不认。']
    """
    lines = [""]
    for piece in re.findall(_PIECE, text):
        if cell_width(lines[-1]) + cell_width(piece.rstrip(" ")) > cells and lines[-1]:
            lines[-1] = lines[-1].rstrip(" ")
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line.rstrip(" ") for line in lines]
