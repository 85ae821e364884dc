"""The text form of protocol buffers as protobuf prints it, read as a stream of blocks.

One field per line, two blanks of indentation per level, a message closed on its own line: the end of a message is
found by searching for a line, and its content need not be read. Other layouts are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..textproto import TextFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_OPENING = re.compile(rb"( *)([A-Za-z_]\w*) \{\n")
_SCALAR = re.compile(rb"( *)([A-Za-z_]\w*): ")
_STRICT = re.compile(rb"(?: *(?:[A-Za-z_]\w*(?: \{|: (?:[-+\w.]+|\"(?:[^\"\\\n]|\\.)*\"))|\}))?")

_CHUNK = 1 << 20
_LOOKED_AT = 1 << 14
"""The bytes at the beginning that are read line by line, to detect the layout."""


class Block(NamedTuple):
    """A field: a message with its opening and closing line, or a scalar's line.

    :param inside: names of the containers around it
    :param at: the byte of the file it begins at
    """

    inside: tuple[str, ...]
    name: str
    text: bytes
    at: int


def blocks(file: IO[bytes], containers: frozenset[tuple[str, ...]]) -> Iterator[Block]:
    """The fields of a text; those of ``containers`` (paths of names) are entered, and given with an empty text before.

    :raises TextFault: if the text is broken; its place is that in the file
    """
    start = file.tell()
    head = file.read(_LOOKED_AT)
    file.seek(start)
    if not _canonical(head):
        raise TextFault(start, "the text is not laid out as the graph engine prints it, one field a line")
    yield from _Stream(file, containers).blocks()


def _canonical(head: bytes) -> bool:
    lines = head.split(b"\n")[:-1] if b"\n" in head else []
    return bool(lines) and all(_STRICT.fullmatch(line) for line in lines if len(line) < 1 << 12)


class _Stream:
    def __init__(self, file: IO[bytes], containers: frozenset[tuple[str, ...]]) -> None:
        self._file = file
        self._containers = containers
        self._buffer = b""
        self._at = 0
        self._base = 0
        self._ended = False

    def blocks(self) -> Iterator[Block]:
        inside: tuple[str, ...] = ()
        while self._has_line():
            indent = b"  " * len(inside)
            opening = _OPENING.match(self._buffer, self._at)
            if opening and opening[1] == indent:
                name = opening[2].decode()
                if (*inside, name) in self._containers:
                    yield Block(inside, name, b"", self._base + self._at)
                    inside = (*inside, name)
                    self._at = opening.end()
                    continue
                begin = self._base + self._at
                yield Block(inside, name, self._taken(b"\n" + indent + b"}\n", opening.end() - 1), begin)
                continue
            scalar = None if opening else _SCALAR.match(self._buffer, self._at)
            if scalar and scalar[1] == indent:
                begin = self._base + self._at
                yield Block(inside, scalar[2].decode(), self._taken(b"\n", scalar.end()), begin)
            elif inside and self._buffer.startswith(indent[2:] + b"}\n", self._at):
                self._at += len(indent)
                inside = inside[:-1]
            elif self._buffer.startswith(b"\n", self._at):
                self._at += 1
            else:
                raise TextFault(self._base + self._at, "this line is not a field of the message around it")
        if inside:
            raise TextFault(self._base + self._at, f"the text ends inside `{inside[-1]}`")

    def _has_line(self) -> bool:
        """Return whether there is another line; its beginning is then in the buffer."""
        while self._buffer.find(b"\n", self._at) < 0 and len(self._buffer) - self._at < 1 << 16 and not self._ended:
            self._more()
        return self._at < len(self._buffer)

    def _taken(self, closing: bytes, search: int) -> bytes:
        """The text up to and with ``closing``."""
        search -= self._at
        while (end := self._buffer.find(closing, self._at + search)) < 0:
            if self._ended:
                raise TextFault(self._base + len(self._buffer), "the text ends inside a field")
            search = max(len(self._buffer) - self._at - len(closing), search)
            self._more()
        end += len(closing)
        text = self._buffer[self._at : end]
        self._at = end
        return text

    def _more(self) -> None:
        rest = self._buffer[self._at :]
        data = self._file.read(max(_CHUNK, len(rest)))
        self._base += self._at
        self._at = 0
        if not data:
            self._ended = True
            data = b"" if not rest or rest.endswith(b"\n") else b"\n"
        self._buffer = rest + data
