"""The text of one file: decoded strictly, with line and column of offsets, and encoded back to the same bytes."""

from __future__ import annotations

import codecs
import re
import sys
from bisect import bisect_right
from functools import cached_property
from json import JSONDecoder
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Damaged, Refused
from ...opening import open_file, unreadable

if TYPE_CHECKING:
    from typing import IO


def is_commented(path: str) -> bool:
    """Return whether a file is a ``.jsonc``: a source with comments, which people keep and the engine does not read."""
    return path.lower().endswith(".jsonc")


class Place(NamedTuple):
    """A 1-based line and column, the column in code points."""

    line: int
    column: int


class Source:
    """The content of a file. ``text`` has no byte order mark; offsets are code points into ``text``.

    The engine reads nothing after the first value: bytes there that are not UTF-8 are half surrogates in the text,
    as in paths.

    :param strict: whether other bytes that are not UTF-8 are refused
    """

    def __init__(self, data: bytes, path: str, strict: bool = True) -> None:
        """:raises Damaged: if bytes that the engine reads are not UTF-8; has the place of the first one"""
        self.path = path
        self.strict = strict
        self.bom = data.startswith(codecs.BOM_UTF8)
        content = data[3:] if self.bom else data
        try:
            self.text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            if strict and not _has_a_value(content[: error.start].decode("utf-8")):
                raise _not_utf8(error, data, path) from None
            self.text = content.decode("utf-8", "surrogateescape")

    @classmethod
    def read(cls, path: str, tree: str | None = None) -> Source:
        """Arguments and errors are those of :func:`read_bytes`."""
        return cls(read_bytes(path, tree), path)

    @property
    def is_commented(self) -> bool:
        return is_commented(self.path)

    @property
    def data(self) -> bytes:
        """The bytes, encoded from the text on demand, because they are rarely needed."""
        return self.with_text(self.text)

    @cached_property
    def sha256(self) -> str:
        import hashlib

        return hashlib.sha256(self.data).hexdigest()

    def replaced(self, data: bytes) -> Source:
        return Source(data, self.path, self.strict)

    def place(self, offset: int) -> Place:
        line = bisect_right(self._line_starts, offset)
        return Place(line, offset - self._line_starts[line - 1] + 1)

    def span_of_line(self, number: int) -> tuple[int, int]:
        """Return the span of the text of a line, without its end.

        :param number: 1-based
        """
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return start, len(self.text) if end < 0 else end

    def damaged(self, message: str, offset: int, hint: str | None = None) -> Damaged:
        place = self.place(offset)
        return Damaged(message, path=self.path, line=place.line, column=place.column, hint=hint)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def with_text(self, text: str) -> bytes:
        """Return the bytes of this file with ``text`` as its text; a byte order mark is kept."""
        return (codecs.BOM_UTF8 if self.bom else b"") + encoded(text)


def encoded(text: str) -> bytes:
    """Return the bytes of a text; half surrogates become the bytes that they came from."""
    return text.encode("utf-8", "surrogateescape")


def _has_a_value(text: str) -> bool:
    decoder = JSONDecoder(parse_int=str, parse_float=str)
    try:
        decoder.raw_decode(text.lstrip(" \t\n\r"))
    except (ValueError, RecursionError):
        return False
    return True


def _not_utf8(error: UnicodeDecodeError, data: bytes, path: str) -> Damaged:
    before = error.object[: error.start].decode("utf-8")
    skipped = len(data) - len(error.object)
    hint = "save the file as UTF-8"
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        hint = "the file looks like UTF-16; save it as UTF-8"
    elif b"\0" in data:
        hint = "the file is binary; a text file is needed here"
    message = f"not UTF-8: byte 0x{error.object[error.start]:02x} at byte offset {error.start + skipped}"
    return Damaged(message, path=path, line=before.count("\n") + 1, column=len(before) - before.rfind("\n"), hint=hint)


def read_bytes(path: str, tree: str | None = None) -> bytes:
    """Return the bytes of a regular file.

    :param tree: the folder in which the path was met; None for a path that the user names
    :raises Refused: if the file does not exist, is not regular, cannot be read, or is outside the tree
    """
    try:
        with open_file(path, tree) as file:
            return file.read()
    except OSError as error:
        raise unreadable(error, path) from None


def standard_input() -> IO[bytes] | None:
    """Return standard input; None if it is closed, as for a daemon."""
    return sys.stdin.buffer if sys.stdin else None


def read_standard_input() -> bytes:
    """:raises Refused: if standard input is closed or cannot be read"""
    stream = standard_input()
    if stream is None:
        raise Refused("standard input is closed", name="unreadable", path="-")
    try:
        return stream.read()
    except OSError as error:
        raise unreadable(error, "-") from None


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
