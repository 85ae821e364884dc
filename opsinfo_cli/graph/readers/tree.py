"""Messages of protocol buffers as trees: a dict of lists of values by field name.

The text form, the binary form and JSON give the same tree, so that one walk reads all of them: numbers, bytes or text
for strings, messages, and for the bytes of weights the place of them. In JSON a field may be a value instead of a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph import Weights
from .wire import BYTES, VARINT, fields, repeated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Message: TypeAlias = dict[str, Any]
    Table: TypeAlias = Mapping[str, Mapping[int, tuple[str, str]]]

NUMBER, TEXT, PLACE, HALVES = "number", "text", "place", "halves"
"""Kinds of fields; any other kind is the name of a message. HALVES: 16-bit patterns as variable-length numbers."""
_MOST_SHARED = 1 << 14


class Decoder:
    """Decodes the binary form.

    :param table: the fields that are read of each message, by number: name, and kind or message
    :param path: the file with the data, for the places of weights
    :param start: the place of the data in the file
    :param keys: keys of entries (messages named ``Entry``) that are read; None for all
    :param shared: names of messages that often repeat; equal ones become one object
    """

    def __init__(
        self,
        data: bytes,
        table: Table,
        path: str,
        start: int = 0,
        keys: frozenset[bytes] | None = None,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self.data = data
        self.table = table
        self.path = path
        self.start = start
        self.keys = keys
        self.shared = shared
        self._known: dict[bytes, Message] = {}

    def message(self, name: str, start: int, end: int) -> Message:
        """Return the message between two places of the data.

        :raises WireFault: if it is broken
        """
        known, data = self.table[name], self.data
        message: Message = {}
        for tag, first, last in fields(data, start, end):
            field = known.get(tag >> 3)
            if field is None:
                continue
            key, kind = field
            wire = tag & 7
            if kind == NUMBER:
                if wire in (BYTES, VARINT):
                    message.setdefault(key, []).extend(repeated(data, tag, first, last))
            elif kind in (PLACE, HALVES):
                if last > first:
                    encoding = "varint" if kind == HALVES else "raw"
                    place = Weights(self.path, self.start + first, last - first, encoding)
                    message.setdefault(key, []).append(place)
            elif wire == BYTES:
                if kind == TEXT:
                    message.setdefault(key, []).append(data[first:last])
                elif kind != "Entry" or self.keys is None or self._key(first, last) in self.keys:
                    message.setdefault(key, []).append(self._inner(kind, first, last))
        return message

    def _key(self, start: int, end: int) -> bytes:
        return next((self.data[first:last] for tag, first, last in fields(self.data, start, end) if tag == 0x0A), b"")

    def _inner(self, name: str, start: int, end: int) -> Message:
        if name not in self.shared:
            return self.message(name, start, end)
        data = self.data[start:end]
        found = self._known.get(data)
        if found is None:
            if len(self._known) >= _MOST_SHARED:
                self._known.clear()
            found = self._known[data] = self.message(name, start, end)
        return found


def values(message: object, name: str) -> list[Any]:
    """Return the values of a field; of a value that is no list, itself."""
    value = message.get(name) if isinstance(message, dict) else None
    return value if isinstance(value, list) else [] if value is None else [value]


def messages(message: object, name: str) -> list[Message]:
    """Return the messages of a field; an empty one may be written as null in JSON."""
    return [each if isinstance(each, dict) else {} for each in values(message, name)]


def words(message: object, name: str) -> list[str]:
    """Return the texts of a field."""
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in values(message, name)]
    return [each if isinstance(each, str) else "" for each in texts]


def word(message: object, name: str) -> str:
    """Return the text of a field; empty if it is missing."""
    return next(reversed(words(message, name)), "")


def numbers(message: object, name: str) -> list[int]:
    """Return the whole numbers of a field."""
    return [int(each) for each in values(message, name) if isinstance(each, int)]
