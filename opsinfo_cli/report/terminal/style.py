"""The capabilities of an output medium."""

from __future__ import annotations

from typing import NamedTuple

_COLORS = {
    "error": "1;31",
    "warning": "33",
    "note": "36",
    "hint": "36",
    "title": "1",
    "dim": "2",
    "white": "1",
    "black": "34",
    "gray": "90",
    "+": "32",
    "-": "31",
    "@": "36",
}
"""Select graphic rendition parameters (ECMA-48, 8.3.117) by style name."""


class Look(NamedTuple):
    """:param width: in cells
    :param encoding: characters that it lacks are shown escaped
    :param breaks: whether long lines are broken between words; a terminal would break them anywhere
    :param seen_from: the folder to which places are shown relative and shortened; empty to show them whole
    """

    colored: bool = False
    width: int = 100
    encoding: str = "utf-8"
    breaks: bool = False
    seen_from: str = ""

    def paint(self, text: str, color: str) -> str:
        return painted(text, color) if self.colored else text


PLAIN = Look()
"""A file."""


def painted(text: str, color: str) -> str:
    code = _COLORS.get(color)
    return f"\033[{code}m{text}\033[0m" if code else text
