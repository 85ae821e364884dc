"""The text of a list's file, and the line of the call or command in it that is meant: FILE or FILE:LINE."""

from __future__ import annotations

import os

from ..core.text.source import Source, read_bytes


class ListText(Source):
    """:ivar line: the line that was given with the path; None for the whole text"""

    line: int | None = None


def read_list_text(text: str) -> ListText:
    """:param text: the path of a file, or FILE:LINE"""
    path, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and not os.path.lexists(text) and os.path.lexists(path):
        source = ListText(read_bytes(path), path)
        source.line = int(number)
        return source
    return ListText(read_bytes(text), text)


def chosen_line(source: Source) -> int | None:
    return source.line if isinstance(source, ListText) else None
