"""The text of one file: decoded strictly, with line and column of offsets, and encoded back to the same bytes."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, Refused

if TYPE_CHECKING:
    from typing import IO


class Place(NamedTuple):
    """A 1-based line and column, the column in code points."""

    line: int
    column: int


_FEW = 16
_PIECE = 1 << 20


class Source:
    """The content of a file. ``text`` has no byte order mark; offsets are code points into ``text``.

    The engine reads nothing after the first value: bytes there that are not UTF-8 are half surrogates in the text,
    as in paths.
    """

    __slots__ = ("_asked", "_line_ends", "_sha256", "bom", "path", "text")

    def __init__(self, data: bytes, path: str) -> None:
        """:raises Damaged: if bytes that the engine reads are not UTF-8; has the place of the first one"""
        self.path = path
        self.bom = data.startswith(codecs.BOM_UTF8)
        self._sha256: str | None = None
        self._asked = 0
        self._line_ends: list[int] = []
        said = data[3:] if self.bom else data
        try:
            self.text = said.decode("utf-8")
        except UnicodeDecodeError as error:
            if not _holds_a_value(said[: error.start].decode("utf-8")):
                raise _not_utf8(error, data, path) from None
            self.text = said.decode("utf-8", "surrogateescape")

    @classmethod
    def read(cls, path: str) -> Source:
        """:raises Refused: if the file cannot be read"""
        return cls(read_bytes(path), path)

    @property
    def data(self) -> bytes:
        """The bytes, encoded from the text on demand, because they are rarely needed."""
        return self.with_text(self.text)

    def says(self, data: bytes) -> bool:
        """Return whether ``data`` equals the bytes of this file."""
        at = 0
        for piece in self._pieces():
            if not data.startswith(piece, at):
                return False
            at += len(piece)
        return at == len(data)

    @property
    def sha256(self) -> str:
        if self._sha256 is None:
            import hashlib

            digest = hashlib.sha256()
            for piece in self._pieces():
                digest.update(piece)
            self._sha256 = digest.hexdigest()
        return self._sha256

    def _pieces(self) -> Iterator[bytes]:
        """Yield the bytes in parts, to avoid a copy of the file's size."""
        yield codecs.BOM_UTF8 if self.bom else b""
        for start in range(0, len(self.text), _PIECE):
            yield encoded(self.text[start : start + _PIECE])

    def place(self, offset: int) -> Place:
        text = self.text
        self._asked += 1
        if self._asked <= _FEW:
            return Place(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
        from bisect import bisect_left

        if not self._line_ends:  # called often: line ends are searched once
            self._line_ends = [-1, *(match.start() for match in re.finditer("\n", text))]
        line = bisect_left(self._line_ends, offset)
        return Place(line, offset - self._line_ends[line - 1])

    def with_text(self, text: str) -> bytes:
        """Return the bytes of this file with ``text`` as its text; a byte order mark is kept."""
        return (codecs.BOM_UTF8 if self.bom else b"") + encoded(text)


def encoded(text: str) -> bytes:
    """Return the bytes of a text; half surrogates become the bytes that they came from."""
    return text.encode("utf-8", "surrogateescape")


def _holds_a_value(text: str) -> bool:
    from .json_values import after_blanks, end_of_value

    try:
        end_of_value(text, after_blanks(text, 0))
    except ValueError:
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
    return Damaged(
        f"not UTF-8: byte 0x{error.object[error.start]:02x} at byte offset {error.start + skipped}",
        path=path,
        line=before.count("\n") + 1,
        column=len(before) - before.rfind("\n"),
        hint=hint,
    )


def read_bytes(path: str) -> bytes:
    """Return the bytes of a regular file.

    :raises Refused: if the file does not exist, is not regular, or cannot be read
    """
    try:
        # O_NONBLOCK: opening a FIFO must not wait for a writer
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not os.path.isfile(descriptor):
                raise Refused("not a regular file", name="not-a-file", path=path)
            return file.read()
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    except ValueError as error:
        raise Refused(str(error), name="unreadable", path=path) from None


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
        raise Refused(error.strerror or str(error), name="unreadable", path="-") from None
