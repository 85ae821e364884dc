"""Read a log in windows, in constant memory: plain, gzipped or from a pipe."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple, cast

from ..errors import Damaged, Refused

BLOCK = 1 << 18
TAIL = 1 << 13
"""Bytes kept after ``limit``, so that a message that begins before it is complete."""

LONGEST = 1 << 20

_GZIP = b"\x1f\x8b"


class Window(NamedTuple):
    """Bytes of a log. Text from ``limit`` on is repeated in the next window."""

    data: bytes
    limit: int


def windows(path: str, stdin: IO[bytes] | None = None, seen: Callable[[int], None] | None = None) -> Iterator[Window]:
    """Yield the log at ``path`` (``-``: ``stdin``) in windows, cut at line ends if lines are shorter than a window.

    :param seen: called with the number of bytes read so far, for a progress line
    :raises Refused: if the log cannot be read
    :raises Damaged: if the gzip data is broken
    """
    carry = b""
    for block in _blocks(path, stdin, seen):
        data = carry + block
        limit = _limit(data)
        if not limit:
            carry = data
            continue
        yield Window(data, limit)
        carry = data[limit:]
    if carry:
        yield Window(carry, len(carry))


def _limit(data: bytes) -> int:
    """Return the offset after the last line end that leaves a tail; inside a line only if it is too long."""
    most = max(0, len(data) - TAIL)
    end = data.rfind(b"\n", 0, most) + 1
    if not end and len(data) > LONGEST:
        return data.rfind(b"\r", 0, most) + 1 or most  # a progress bar's
    return end


def _blocks(path: str, stdin: IO[bytes] | None, seen: Callable[[int], None] | None) -> Iterator[bytes]:
    try:
        with _opened(path, stdin) as file:
            first = file.read(BLOCK)
            if first.startswith(_GZIP):
                yield from _unpacked(_Joined(first, file, seen))
                return
            while first:
                if seen:
                    seen(len(first))
                yield first
                first = file.read(BLOCK)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        said = str(error)[:200] or "unexpected end of file"
        hint = "the readable part does not show the number of steps"
        raise Damaged(f"broken gzip: {said}", path=path, hint=hint) from None
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    except ValueError as error:  # a path with a NUL byte
        raise Refused(str(error), name="unreadable", path=path) from None


def _opened(path: str, stdin: IO[bytes] | None) -> IO[bytes]:
    if path == "-":
        if stdin is None:
            raise Refused("standard input is closed", name="unreadable", path=path)
        return cast(IO[bytes], os.fdopen(os.dup(stdin.fileno()), "rb"))
    return open(path, "rb")


def _unpacked(joined: _Joined) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=cast(IO[bytes], joined), mode="rb") as packed:
        while block := packed.read(BLOCK):
            yield block


class _Joined:
    """A stream with its first bytes, which were already read, put back."""

    def __init__(self, first: bytes, rest: IO[bytes], seen: Callable[[int], None] | None) -> None:
        self._first = first
        self._rest = rest
        self._seen = seen

    def read(self, size: int) -> bytes:
        if self._first:
            data, self._first = self._first[:size], self._first[size:]
        else:
            data = self._rest.read(size)
        if self._seen and data:
            self._seen(len(data))
        return data
