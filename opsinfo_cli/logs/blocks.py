"""Read a log in blocks of whole lines, in constant memory: plain, gzipped or from a pipe."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple, cast

from ..errors import Damaged, Refused
from ..opening import unreadable

BLOCK = 1 << 18
LONGEST = 1 << 20
"""A line that is longer is cut."""
_GZIP = b"\x1f\x8b"


class Block(NamedTuple):
    """Lines that end with a newline, but for the last of a log and one that is cut. A carriage return of a progress bar
    is a newline. ``continues``: whether the first line began in the block before.
    """

    data: bytes
    continues: bool


def blocks(path: str, stdin: IO[bytes] | None = None, seen: Callable[[int], None] | None = None) -> Iterator[Block]:
    """Yield the blocks of the log at ``path`` (``-``: ``stdin``). A file is read up to the size that it has now.

    :param seen: called with the number of bytes read so far, for a progress line
    :raises Refused: if the log cannot be read
    :raises Damaged: if the gzip data is broken
    """
    carry, continues = b"", False
    for text in _texts(path, stdin, seen):
        data = carry + text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = data.rfind(b"\n") + 1
        is_cut = not end and len(data) > LONGEST
        end = len(data) if is_cut else end
        carry = data[end:]
        if end:
            yield Block(data[:end], continues)
            continues = is_cut
    if carry:
        yield Block(carry, continues)


def _texts(path: str, stdin: IO[bytes] | None, seen: Callable[[int], None] | None) -> Iterator[bytes]:
    if path == "-" and stdin is None:
        raise Refused("standard input is closed", name="unreadable", path=path)
    try:
        with os.fdopen(os.dup(stdin.fileno()), "rb") if path == "-" and stdin else open(path, "rb") as file:
            source = _Source(file, seen)
            packed = gzip.GzipFile(fileobj=cast("IO[bytes]", source), mode="rb") if source.is_packed else source
            while text := packed.read(BLOCK):
                yield text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = str(error)[:200] or "unexpected end of file"
        hint = "the readable part does not show the number of steps"
        raise Damaged(f"broken gzip: {reason}", path=path, hint=hint) from None
    except OSError as error:
        raise unreadable(error, path) from None
    except ValueError as error:  # a path with a NUL byte
        raise Refused(str(error), name="unreadable", path=path) from None


class _Source:
    """The bytes of a file up to the size that it has now: a log may be written while it is read."""

    def __init__(self, file: IO[bytes], seen: Callable[[int], None] | None) -> None:
        status = os.fstat(file.fileno())
        is_file = stat.S_ISREG(status.st_mode)
        self._left = max(0, status.st_size - file.tell()) if is_file else None
        self._file = file
        self._seen = seen
        self._head = b""
        self._head = self._next(len(_GZIP))
        self.is_packed = self._head == _GZIP

    def read(self, size: int) -> bytes:
        data, self._head = self._head + self._next(size - len(self._head)), b""
        if self._seen and data:
            self._seen(len(data))
        return data

    def _next(self, size: int) -> bytes:
        data = self._file.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data
