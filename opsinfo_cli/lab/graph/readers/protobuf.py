"""Protocol buffers without a package: the binary and the text form as one kind of tree.

A message is a dict of lists of values by field name: numbers, bytes or text for strings, messages, and for the bytes of
weights the place of them, so that one walk reads every form. In JSON a field may be a value instead of a list, in the
text form a number is a word. Source: Protocol Buffers documentation, "Encoding" and "Text Format Language
Specification" (protobuf.dev/programming-guides/encoding, protobuf.dev/reference/protobuf/textformat-spec).
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..graph import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    Message: TypeAlias = dict[str, Any]
    Table: TypeAlias = Mapping[str, Mapping[int, tuple[str, str]]]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
NUMBER, TEXT, PLACE, VARINTS = "number", "text", "place", "varints"
"""Kinds of fields; any other kind is the name of a message. PLACE: of bytes; VARINTS: of variable-length numbers."""
DEEPEST = 64
"""Messages inside messages; protobuf itself allows 100."""
_MOST_SHARED = 1 << 14


class WireFault(Exception):
    """Bytes that are not a message.

    :ivar at: the offset in the data that was read
    """

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


class TextFault(WireFault):
    """Text that is not of this form."""

    def place(self, text: bytes) -> tuple[int, int]:
        """Return the line and the column of the fault in a text of at least the bytes before it."""
        before = text[: self.at]
        return before.count(b"\n") + 1, self.at - before.rfind(b"\n")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an unsigned number and the offset after it.

    :raises IndexError: if the data ends first
    :raises WireFault: if it is longer than ten bytes
    """
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            raise WireFault(at, "a number is longer than ten bytes")


def _to_signed(value: int) -> int:
    """A varint as int32 or int64."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of the message between ``at`` and ``end``: key, value, -1 of a number; key, start, end of bytes.

    :raises WireFault: if a field exceeds the message
    """
    try:
        while at < end:
            begin, tag = at, data[at]
            tag, at = (tag, at + 1) if tag < 128 else varint(data, at)
            wire = tag & 7
            if wire in (BYTES, VARINT):
                value = data[at]
                value, at = (value, at + 1) if value < 128 else varint(data, at)
                first, last, at = (at, at + value, at + value) if wire == BYTES else (value, -1, at)
                if at > end and wire == BYTES:
                    left = max(end - first, 0)
                    raise WireFault(begin, f"field {tag >> 3} has {value} bytes, {left} are left")
            elif wire in (FIXED32, FIXED64):
                first, last = at, at + (4 if wire == FIXED32 else 8)
                at = last
            else:
                raise WireFault(begin, f"wire type {wire} is unknown")
            if at > end:
                raise WireFault(begin, f"field {tag >> 3} exceeds its message")
            yield tag, first, last
    except IndexError:
        raise WireFault(len(data), "the data ends inside a field") from None


def unpack(data: bytes, at: int, end: int) -> list[int]:
    """Return a packed list of varints, as int64.

    :raises WireFault: if a number exceeds the data
    """
    found = []
    try:
        while at < end:
            value, at = varint(data, at)
            found.append(_to_signed(value))
    except IndexError:
        raise WireFault(len(data), "the data ends inside a number") from None
    return found


@dataclass(eq=False)
class Decoder:
    """Decodes the binary form.

    :param table: the fields that are read of each message, by number: name, and kind or message
    :param keys: keys of entries (messages named ``Entry``) that are read; None for all
    :param made: makes the values of messages that often repeat, by name; equal messages become one value
    """

    data: bytes
    table: Table
    path: str
    start: int = 0
    keys: frozenset[bytes] | None = None
    made: Mapping[str, Callable[[Message], object]] = field(default_factory=dict)
    _known: dict[bytes, object] = field(default_factory=dict)

    def message(self, name: str, start: int, end: int) -> Message:
        """Return the message between two places of the data.

        :raises WireFault: if it is broken
        """
        known, data = self.table[name], self.data
        message: Message = {}
        for tag, first, last in fields(data, start, end):
            key, kind = known.get(tag >> 3, ("", ""))
            wire = tag & 7
            if kind == NUMBER:
                if wire in (BYTES, VARINT):
                    message.setdefault(key, []).extend([_to_signed(first)] if last < 0 else unpack(data, first, last))
            elif kind in (PLACE, VARINTS):
                if last > first:
                    encoding = "varint" if kind == VARINTS else "raw"
                    place = Weights(self.path, self.start + first, last - first, encoding)
                    message.setdefault(key, []).append(place)
            elif kind and wire == BYTES:
                if kind == TEXT:
                    message.setdefault(key, []).append(data[first:last])
                elif kind != "Entry" or self.keys is None or self._key(first, last) in self.keys:
                    message.setdefault(key, []).append(self._inner(kind, first, last))
        return message

    def _key(self, start: int, end: int) -> bytes:
        return next((self.data[first:last] for tag, first, last in fields(self.data, start, end) if tag == 0x0A), b"")

    def _inner(self, name: str, start: int, end: int) -> object:
        make = self.made.get(name)
        if make is None:
            return self.message(name, start, end)
        data = self.data[start:end]
        found = self._known.get(data)
        if found is None:
            if len(self._known) >= _MOST_SHARED:
                self._known.clear()
            found = self._known[data] = make(self.message(name, start, end))
        return found


_BLANK = re.compile(rb"(?:[\s,;]+|#[^\n]*)*+" if sys.version_info >= (3, 11) else rb"(?:[\s,;]+|#[^\n]*)*")
_WORD = re.compile(rb"[A-Za-z_][\w.]*|\[[\w./-]{1,400}\]|-?\s?[\w.][\w.+-]*")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.S)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_QUOTES = (b'"', b"'")


def unescape(body: bytes) -> bytes:
    """Return the bytes of a string between its quotes."""
    return _ESCAPE.sub(_meant, body) if b"\\" in body else body


def _meant(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    first = escape[:1]
    if first.isdigit() and first < b"8":
        return bytes([int(escape, 8) & 255])
    if first in b"xX" and len(escape) > 1:
        return bytes([int(escape[1:], 16)])
    if first in b"uU" and len(escape) > 1:
        code = int(escape[1:], 16)
        return chr(code).encode("utf-8", "replace") if code < 0x110000 else b"?"
    return _SIMPLE.get(escape, escape)


def parse(text: bytes) -> Message:
    """Return the message of the text form, in any layout.

    :raises TextFault: if the text is broken or nested too deep
    """
    return _Parser(text).message(b"", 0)


class _Parser:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def message(self, closing: bytes, depth: int) -> Message:
        """Return the fields up to the closing bracket, which is skipped; empty: up to the end."""
        if depth > DEEPEST:
            raise TextFault(self._at, f"messages are nested more than {DEEPEST} deep")
        message: Message = {}
        while (sign := self._next()) != closing:
            if not sign:
                raise TextFault(self._at, "the text ends inside a message")
            values = message.setdefault(self._word("a field's name"), [])
            colon = self._next() == b":"
            self._at += colon
            sign = self._next()
            if sign != b"[":
                values.append(self._value(sign, colon, depth))
                continue
            self._at += 1
            while (sign := self._next()) != b"]":
                values.append(self._value(sign, True, depth))
            self._at += 1
        self._at += len(closing)
        return message

    def _value(self, sign: bytes, colon: bool, depth: int) -> Any:
        if sign in (b"{", b"<"):
            self._at += 1
            return self.message(b"}" if sign == b"{" else b">", depth + 1)
        if not colon:
            raise TextFault(self._at, "expected a colon or a message after a field's name")
        return self._string() if sign in _QUOTES else self._word("a value")

    def _next(self) -> bytes:
        """The next sign; empty at the end."""
        if match := _BLANK.match(self._text, self._at):
            self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _word(self, wanted: str) -> str:
        match = _WORD.match(self._text, self._at)
        if not match:
            raise TextFault(self._at, f"expected {wanted}")
        self._at = match.end()
        return match[0].decode("ascii", "replace")

    def _string(self) -> bytes:
        """A string; adjacent pieces are joined."""
        text, parts = self._text, []
        while (quote := self._next()) in _QUOTES:
            end, slashes = self._at, 1
            while slashes % 2:  # a quote behind an odd number of backslashes does not close the string
                end = text.find(quote, end + 1)
                if end < 0:
                    raise TextFault(self._at, "an unterminated string")
                slashes = 0
                while text[end - slashes - 1 : end - slashes] == b"\\":
                    slashes += 1
            if text.find(b"\n", self._at, end) >= 0:
                raise TextFault(self._at, "a string does not end in its line")
            parts.append(unescape(text[self._at + 1 : end]))
            self._at = end + 1
        return b"".join(parts)


def values(message: object, name: str) -> list[Any]:
    """Return the items of a repeated field, and a single value as its only item."""
    value = message.get(name) if isinstance(message, dict) else None
    return value if isinstance(value, list) else [] if value is None else [value]


def messages(message: object, name: str) -> list[Message]:
    """Return the messages of a field; an empty one may be written as null in JSON."""
    return [value if isinstance(value, dict) else {} for value in values(message, name)]


def words(message: object, name: str) -> list[str]:
    texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values(message, name)]
    return [value if isinstance(value, str) else "" for value in texts]


def word(message: object, name: str) -> str:
    """Return the text of a field; empty if it is missing."""
    return next(reversed(words(message, name)), "")


def number(value: object) -> int:
    """Return a whole number or truth value, which the text form has as a word; 0 for anything else."""
    if isinstance(value, int):
        return int(value)
    if value in ("true", "True", "t"):
        return 1
    try:
        return int(value, 0) if isinstance(value, str) and len(value) < 25 else 0
    except ValueError:
        return 0


def numbers(message: object, name: str) -> list[int]:
    return [number(value) for value in values(message, name) if isinstance(value, (int, str))]
