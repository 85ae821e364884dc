"""Values of constants, read in slices: whether they overflow or become zero in a low dtype.

A value overflows from half a step beyond the largest finite one on, and vanishes up to half the smallest subnormal:
IEEE 754 rounds to nearest, ties to even.
"""

from __future__ import annotations

import math
import struct
from array import array
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Damaged, Refused
from .textproto import unescaped
from .wire import WireFault, varint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import IO

    from ..graph import Weights

LIMITS = {
    "float16": (65520.0, 2.0**-25),
    "bfloat16": ((2.0 - 2.0**-8) * 2.0**127, 2.0**-134),
}
"""By low dtype, the smallest absolute value that overflows, and the largest that becomes zero."""

_SLICE = 1 << 20
_SMALL = 1 << 14
_WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


class Extremes(NamedTuple):
    """The outcome of a constant's values.

    :param values: the number of values read
    :param overflowing: the number of finite values that overflow
    :param vanishing: the number of nonzero values that become zero
    :param largest: the largest finite absolute value
    :param overflow: the first one that overflows
    :param vanish: the first one that becomes zero
    """

    values: int = 0
    overflowing: int = 0
    vanishing: int = 0
    largest: float = 0.0
    overflow: float | None = None
    vanish: float | None = None

    @property
    def harmless(self) -> bool:
        """Whether no value overflows or becomes zero."""
        return not self.overflowing and not self.vanishing


def extremes(weights: Weights, dtype: str, low: str = "float16") -> Extremes | None:
    """Return the outcome of a constant's values in the dtype ``low``; None if their dtype is not floating.

    :raises Refused: if the file with the values cannot be read
    :raises Damaged: if it is too short
    """
    if dtype not in _WIDTHS or low not in LIMITS:
        return None
    bound, smallest = LIMITS[low]
    found = Extremes()
    for values in _slices(weights, dtype):
        found = _joined(found, _looked_at(values, bound, smallest))
    return found


def harmless(constants: Sequence[Weights], dtype: str, low: str) -> bool:
    """Return whether no value of several small constants overflows or vanishes.

    :returns: False also if unknown: a file cannot be read, or is too short
    """
    if dtype not in _WIDTHS or low not in LIMITS:
        return True
    width = _WIDTHS[dtype]
    spans = [(each.offset, each.offset + each.size - each.size % width) for each in constants]
    try:
        parts = _parts(constants[0].path, spans)
    except OSError:
        return False
    if any(len(part) != end - start for part, (start, end) in zip(parts, spans, strict=True)):
        return False
    return _looked_at(_floats(b"".join(parts), dtype), *LIMITS[low]).harmless


def _parts(path: str, spans: list[tuple[int, int]]) -> list[bytes]:
    """Return the bytes of a file at each of several spans; those that are close together are read at once."""
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    with open(path, "rb") as file:
        if last - first <= _SLICE:
            file.seek(first)
            data = file.read(last - first)
            return [data[start - first : end - first] for start, end in spans]
        parts = []
        for start, end in spans:
            file.seek(start)
            parts.append(file.read(end - start))
    return parts


def is_small(weights: Weights) -> bool:
    """Return whether opening the file of a constant would take longer than checking its values."""
    return weights.encoding == "raw" and 0 <= weights.size <= _SMALL


def _joined(one: Extremes, other: Extremes) -> Extremes:
    return Extremes(
        one.values + other.values,
        one.overflowing + other.overflowing,
        one.vanishing + other.vanishing,
        max(one.largest, other.largest),
        other.overflow if one.overflow is None else one.overflow,
        other.vanish if one.vanish is None else one.vanish,
    )


def _looked_at(values: array[float], bound: float, smallest: float) -> Extremes:
    if not values:
        return Extremes()
    try:
        import numpy
    except ImportError:
        return _counted(values, bound, smallest)
    numbers = numpy.frombuffer(values, dtype=f"f{values.itemsize}")
    absolute = numpy.abs(numbers)
    finite = numpy.isfinite(absolute)
    over = finite & (absolute >= bound)
    under = (absolute <= smallest) & (absolute > 0)
    return Extremes(
        len(values),
        int(over.sum()),
        int(under.sum()),
        float(absolute[finite].max()) if finite.any() else 0.0,
        float(numbers[over.argmax()]) if over.any() else None,
        float(numbers[under.argmax()]) if under.any() else None,
    )


def _counted(values: Iterable[float], bound: float, smallest: float) -> Extremes:
    """The same without numpy."""
    count = 0
    largest = 0.0
    over: list[float] = []
    under: list[float] = []
    for value in values:
        count += 1
        absolute = abs(value)
        if absolute > largest and absolute != math.inf:
            largest = absolute
        if bound <= absolute < math.inf:
            over.append(value)
        elif 0.0 < absolute <= smallest:
            under.append(value)
    return Extremes(count, len(over), len(under), largest, over[0] if over else None, under[0] if under else None)


def _slices(weights: Weights, dtype: str) -> Iterator[array[float]]:
    try:
        with open(weights.path, "rb") as file:
            end = file.seek(0, 2)
            size = weights.size if weights.size >= 0 else max(end - weights.offset, 0)
            if weights.offset + size > end:
                last = weights.offset + size
                said = f"the values of a constant are at bytes {weights.offset} to {last}, the file has {end}"
                raise Damaged(said, name="damaged-model", path=weights.path)
            file.seek(weights.offset)
            yield from _READERS[weights.encoding](file, size, dtype)
    except FileNotFoundError:
        said = "the file with the values of constants is missing"
        hint = "put the external data beside the model, under the name in the model"
        raise Refused(said, name="missing-weights", path=weights.path, hint=hint) from None
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=weights.path) from None
    except WireFault as fault:
        said = f"the values of a constant are broken at byte {weights.offset + fault.at}"
        raise Damaged(said, name="damaged-model", path=weights.path) from None


def _raw(file: IO[bytes], size: int, dtype: str) -> Iterator[array[float]]:
    width = _WIDTHS[dtype]
    left = size - size % width
    while left and (data := file.read(min(_SLICE, left))):
        left -= len(data)
        yield _floats(data[: len(data) - len(data) % width], dtype)


def _escaped(file: IO[bytes], size: int, dtype: str) -> Iterator[array[float]]:
    """The inside of a string of text protobuf; a slice may end inside an escape or a value."""
    width = _WIDTHS[dtype]
    left, text, values = size, b"", b""
    while left and (data := file.read(min(_SLICE, left))):
        left -= len(data)
        text += data
        end = _whole_escapes(text) if left else len(text)
        values += unescaped(text[:end])
        text = text[end:]
        used = len(values) - len(values) % width
        yield _floats(values[:used], dtype)
        values = values[used:]


def _whole_escapes(text: bytes) -> int:
    """Return how much of a text can be read before its rest: an escape has at most ten characters."""
    end = max(len(text) - 10, 0)
    slash = text.rfind(b"\\", max(end - 10, 0), end)
    before = len(text[: slash + 1]) - len(text[: slash + 1].rstrip(b"\\"))
    return slash if before % 2 else end


def _varints(file: IO[bytes], size: int, dtype: str) -> Iterator[array[float]]:
    """Patterns of 16 bits, each written as a number of one to ten bytes."""
    left, rest, done = size, b"", 0
    while left and (data := file.read(min(_SLICE, left))):
        left -= len(data)
        data = rest + data
        patterns = array("H")
        at = 0
        while at < len(data) - (10 if left else 0):
            try:
                value, at = varint(data, at)
            except IndexError:
                raise WireFault(done + at, "the data ends inside a number") from None
            patterns.append(value & 0xFFFF)
        done += at
        rest = data[at:]
        yield _floats(_little(patterns).tobytes(), dtype)


_READERS: Mapping[str, Callable[[IO[bytes], int, str], Iterator[array[float]]]] = {
    "raw": _raw,
    "varint": _varints,
    "escaped": _escaped,
}


def _floats(data: bytes, dtype: str) -> array[float]:
    if dtype == "float16":
        return array("f", struct.unpack(f"<{len(data) // 2}e", data))
    if dtype == "bfloat16":
        wide = bytearray(len(data) * 2)
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        data = bytes(wide)
    values = array("d" if dtype == "float64" else "f")
    values.frombytes(data)
    return _little(values)


def _little(values: array) -> array:  # type: ignore[type-arg]
    """Values in the machine's order, from the files' (or back)."""
    import sys

    if sys.byteorder == "big":
        values.byteswap()
    return values
