"""The structure of a large binary model, without the values of its weights.

A model of gigabytes is mostly weights. Everything else is read into memory. Each long payload is replaced by a small
marker with its place in the file, so that the result is still a valid message, with one more unknown field.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .wire import BYTES, DEEPEST, FIXED32, FIXED64, VARINT, WireFault, field_bytes, fields, key, number_bytes, varint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, TypeAlias

    Plan: TypeAlias = dict[int, "Plan | None"]

MARKER = 400_000_001
"""Field number of a marker: a message of three numbers: the omitted key, the offset of its bytes, their number."""
MARKER_KEY = key(MARKER)

SMALL = 1 << 10
"""The longest payload that is kept in place."""
WHOLE = 1 << 25
"""The longest file, in bytes, that is read unchanged."""
LONGEST = 1 << 24
"""The longest field outside the plan, in bytes; longer ones are not structure and are left out."""
MOST = 1 << 31
"""The longest structure, in bytes: the limit of a protobuf message."""

_WINDOW = 1 << 18


class Slim(NamedTuple):
    """Structure, and the places in the file that its bytes come from.

    The bytes of ``data`` from ``starts[i]`` on were copied from ``places[i]`` on in the file.
    """

    data: bytes
    starts: array[int]
    places: array[int]

    def place(self, at: int) -> int:
        """Return the place in the file of the byte ``at`` of the data."""
        piece = max(bisect_right(self.starts, at) - 1, 0)
        return self.places[piece] + at - self.starts[piece]

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Faults raised inside name their place in the file."""
        try:
            yield
        except WireFault as fault:
            raise WireFault(self.place(fault.at), fault.said) from None


def slim(file: IO[bytes], start: int, end: int, plan: Plan, mark_all: bool = False) -> Slim:
    """Return the structure of the message between ``start`` and ``end`` of a file.

    :param plan: the fields to read, by key: None for a payload, a plan for a message with payloads
    :param mark_all: whether small payloads, which are kept, get a marker too, for data that is written again
    :raises WireFault: if it is not a message; its place is that in the file
    """
    if end - start <= WHOLE and not mark_all:
        file.seek(start)
        return Slim(file.read(end - start), array("q", [0]), array("q", [start]))
    return _Slimmer(file, mark_all).slim(start, end, plan)


def marked(data: bytes, start: int, end: int) -> tuple[int, int, int]:
    """Return the content of a marker: the key of the payload, its place in the file, its size in bytes."""
    found = {tag: value for tag, value, _ in fields(data, start, end)}
    return found.get(key(1, VARINT), 0), found.get(key(2, VARINT), 0), found.get(key(3, VARINT), 0)


class _Slimmer:
    def __init__(self, file: IO[bytes], mark_all: bool) -> None:
        self._file = file
        self._small = 0 if mark_all else SMALL
        self._mark_all = mark_all
        self._window = b""
        self._at = 0
        self._kept = 0

    def slim(self, start: int, end: int, plan: Plan) -> Slim:
        pieces, _ = self._message(start, end, plan, 0)
        starts, places, parts, at = array("q"), array("q"), [], 0
        for made, place, size in pieces:
            starts.append(at)
            places.append(place)
            parts.append(made if made else self._copied(place, size))
            at += size
        return Slim(b"".join(parts), starts, places)

    def _copied(self, place: int, size: int) -> bytes:
        self._file.seek(place)
        data = self._file.read(size)
        if len(data) < size:
            raise WireFault(place + len(data), "the file ends inside a field")
        return data

    def _peek(self, at: int) -> bytes:
        """Some bytes from ``at`` on, at least twenty if the file has them."""
        begin = at - self._at
        if begin < 0 or begin + 20 > len(self._window):
            self._file.seek(at)
            self._window, self._at, begin = self._file.read(_WINDOW), at, 0
        return self._window[begin : begin + 20]

    def _header(self, at: int) -> tuple[int, int, int]:
        """Key, first byte and end of the field at ``at``."""
        data = self._peek(at)
        try:
            tag, length = varint(data, 0)
            wire = tag & 7
            if wire == BYTES:
                size, length = varint(data, length)
                return tag, at + length, at + length + size
            if wire == VARINT:
                _, stop = varint(data, length)
                return tag, at + length, at + stop
            if wire in (FIXED32, FIXED64):
                return tag, at + length, at + length + (4 if wire == FIXED32 else 8)
        except IndexError:
            raise WireFault(at, "the file ends inside a field") from None
        raise WireFault(at, f"wire type {wire} is unknown")

    def _short_fields(self, at: int, end: int) -> int:
        """Return the length of the short fields of bytes from ``at`` on: they are kept, whatever the plan says."""
        window, first = self._window, at - self._at
        if first < 0:
            return 0
        last = min(len(window) - 20, end - self._at)
        stop = begin = first
        while begin < last and window[begin] & 0x87 == BYTES:
            size = window[begin + 1]
            if size < 128:
                begin += 2 + size
            elif window[begin + 2] < SMALL >> 7:
                begin += 3 + (size & 127) + (window[begin + 2] << 7)
            else:
                break
            if begin > end - self._at:
                break
            stop = begin
        self._kept += stop - first
        return stop - first

    def _message(self, start: int, end: int, plan: Plan, depth: int) -> tuple[list[tuple[bytes, int, int]], int]:
        """Pieces (bytes made here or empty, place in the file, size) and their length together."""
        if depth > DEEPEST:
            raise WireFault(start, f"messages are nested more than {DEEPEST} deep")
        pieces: list[tuple[bytes, int, int]] = []
        at = run = start

        def made(data: bytes, place: int) -> None:
            if run < at:
                pieces.append((b"", run, at - run))
            pieces.append((data, place, len(data)))

        while at < end:
            if not self._mark_all and (skipped := self._short_fields(at, end)):
                at += skipped
                continue
            tag, body, stop = self._header(at)
            if stop > end:
                raise WireFault(at, f"field {tag >> 3} has {stop - body} bytes, {max(end - body, 0)} are left")
            inner = plan.get(tag)
            if inner and stop - body > self._small:
                nested, length = self._message(body, stop, inner, depth + 1)
                made(number_bytes(tag) + number_bytes(length), at)
                pieces += nested
                run = stop
            elif stop - body > (SMALL if tag in plan else LONGEST):
                made(_marker(tag, body, stop - body), at)
                run = stop
            else:
                if self._mark_all and tag in plan and inner is None:
                    small = at
                    at = stop
                    made(_marker(tag, body, stop - body), small)
                    run = stop
                self._kept += stop - at
                if self._kept > MOST:
                    raise WireFault(at, f"the structure is longer than {MOST >> 30} GiB")
            at = stop
        if run < at:
            pieces.append((b"", run, at - run))
        return pieces, sum(size for _, _, size in pieces)


def _marker(tag: int, place: int, size: int) -> bytes:
    parts = [
        number_bytes(key(number, VARINT)) + number_bytes(value) for number, value in enumerate((tag, place, size), 1)
    ]
    return field_bytes(MARKER, b"".join(parts))
