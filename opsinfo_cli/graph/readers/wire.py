"""The wire format of protocol buffers, read without a package.

Source: Protocol Buffers documentation, "Encoding" (protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

DEEPEST = 64
"""Messages inside messages; protobuf itself allows 100."""


class WireFault(Exception):
    """Bytes that are not a message.

    :ivar at: the offset in the data that was read
    """

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


def key(number: int, wire: int = BYTES) -> int:
    """The tag that begins a field."""
    return number << 3 | wire


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


def signed(value: int) -> int:
    """A varint as int32 or int64."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of the message between ``at`` and ``end``: key, value, -1 of a number; key, start, end of bytes.

    :raises WireFault: if a field exceeds the message
    """
    try:
        while at < end:
            tag, value = data[at], data[at + 1]
            start = at + 2
            if tag & 0x87 == BYTES and value < 128:  # most fields: key and length have one byte each
                stop = start + value
                if stop > end:
                    raise _too_long(at, tag, value, end - start)
                yield tag, start, stop
                at = stop
            elif tag & 0x87 == VARINT and value < 128 and start <= end:
                yield tag, value, -1
                at = start
            else:
                tag, value, stop, at = field(data, at, end)
                yield tag, value, stop
    except IndexError:
        raise WireFault(len(data), "the data ends inside a field") from None


def field(data: bytes, begin: int, end: int) -> tuple[int, int, int, int]:
    """Return the field at ``begin`` as :func:`fields` does, and the offset after it.

    :raises WireFault: if it exceeds the message
    """
    try:
        tag, at = varint(data, begin)
        wire = tag & 7
        value, after = varint(data, at) if wire in (BYTES, VARINT) else (0, at)
    except IndexError:
        raise WireFault(len(data), "the data ends inside a field") from None
    if wire == BYTES:
        if after + value > end:
            raise _too_long(begin, tag, value, end - after)
        return tag, after, after + value, after + value
    if wire == VARINT:
        found = tag, value, -1, after
    elif wire in (FIXED32, FIXED64):
        after = at + (4 if wire == FIXED32 else 8)
        found = tag, at, after, after
    else:
        raise WireFault(begin, f"wire type {wire} is unknown")
    if found[-1] > end:
        raise WireFault(begin, f"field {tag >> 3} exceeds its message")
    return found


def _too_long(at: int, tag: int, size: int, left: int) -> WireFault:
    return WireFault(at, f"field {tag >> 3} has {size} bytes, {max(left, 0)} are left")


def numbers(data: bytes, at: int, end: int) -> list[int]:
    """A packed list of varints, as int64."""
    found = []
    try:
        while at < end:
            value, at = varint(data, at)
            found.append(signed(value))
    except IndexError:
        raise WireFault(len(data), "the data ends inside a number") from None
    return found


def repeated(data: bytes, tag: int, first: int, last: int) -> list[int]:
    """Integers of a repeated field, packed or one by one."""
    return [signed(first)] if last < 0 else numbers(data, first, last)
