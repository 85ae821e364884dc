"""Widths in terminal cells: a Chinese character takes two, a combining mark none."""

from __future__ import annotations

import re
import unicodedata

_OPENING, _CLOSING = "（《“‘【", "，。；：、！？）》”’】"
_PIECE = f" +|[{_OPENING}]*(?:[!-~]+(?: %[!-~]*)?|[^ !-~])[{_CLOSING}]*"
"""Pieces that are not broken: blanks, a word, a number and its %, or one wide character with its punctuation."""


def cell_width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, cells: int) -> str:
    """Return a text padded with blanks to a width."""
    return text + " " * (cells - cell_width(text))


def wrapped(text: str, cells: int) -> list[str]:
    """Return lines of at most ``cells`` cells, broken at blanks and between Chinese characters.

    A closing mark never begins a line.

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
