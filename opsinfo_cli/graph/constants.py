"""Constants whose values overflow or become zero on an edge that becomes low.

A value overflows from half a step beyond the largest finite one on, and vanishes up to half the smallest subnormal:
IEEE 754 rounds to nearest, ties to even. Values are read in slices with numpy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, MissingPackage, OpsinfoError, Refused
from ..opening import open_file, open_inside, unreadable
from .readers.protobuf import WireFault, packed, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any

    from .answer import Answer
    from .graph import Weights

LIMITS = {
    "float16": (65520.0, 2.0**-25),
    "bfloat16": ((2.0 - 2.0**-8) * 2.0**127, 2.0**-134),
}
"""By low dtype, the smallest absolute value that overflows, and the largest that becomes zero."""

_CLIPPED = frozenset({"float32", "float64"})
"""Dtypes of constants that ``--is_weight_clip`` clips (hicann/ge ffdcbc9f, compiler/graph/passes/feature/
constant_clip_pass.cc:114-144)."""
_SLICE = 1 << 18
"""Values that are read at once."""
_WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


class ConstantFault(NamedTuple):
    """A constant with a value that its low dtype cannot represent.

    :param value: the first such value
    """

    name: str
    used_by: str
    value: float
    why: str


class ConstantCheck(NamedTuple):
    """The check of constants on edges that become low.

    :param unread: by file, why values could not be read
    """

    faults: list[ConstantFault]
    unread: dict[str, str]


class Extremes(NamedTuple):
    """The outcome of a constant's values.

    :param values: the number of values read
    :param overflowing: the number of finite values that overflow
    :param vanishing: the number of nonzero values that become zero
    :param overflow: the first one that overflows
    :param vanish: the first one that becomes zero
    """

    values: int
    overflowing: int
    vanishing: int
    overflow: float | None
    vanish: float | None


def constant_faults(answer: Answer) -> ConstantCheck:
    """Return the constants whose values overflow or become zero, with the nodes that use them.

    Only constants on edges that become low are read.
    """
    nodes = answer.graph.nodes
    faults: list[ConstantFault] = []
    unread: dict[str, str] = {}
    for cast in answer.casts:
        producer, low = nodes[cast.producer], cast.end
        weights = producer.weights
        if not cast.constant or weights is None or low not in LIMITS or weights.path in unread:
            continue
        try:
            found = extremes(weights, producer.outputs[cast.output].first_dtype or cast.begin, low)
        except OpsinfoError as error:
            unread[weights.path] = error.message
            continue
        if found is None:
            continue
        names = producer.name, nodes[cast.consumer].name
        if found.overflow is not None:
            is_clipped = answer.considered.clips and cast.begin in _CLIPPED
            becomes = "are clipped to the range of" if is_clipped else "overflow"
            why = f"{found.overflowing} of {found.values} values {becomes} {low}"
            faults.append(ConstantFault(*names, found.overflow, why))
        if found.vanish is not None:
            why = f"{found.vanishing} of {found.values} values become 0 in {low}"
            faults.append(ConstantFault(*names, found.vanish, why))
    return ConstantCheck(faults, unread)


def extremes(weights: Weights, dtype: str, low: str = "float16") -> Extremes | None:
    """Return the outcome of a constant's values in the dtype ``low``; None if their dtype is not floating.

    :raises Refused: if the file with the values cannot be read
    :raises Damaged: if it is too short
    :raises MissingPackage: if numpy is not installed
    """
    if dtype not in _WIDTHS or low not in LIMITS:
        return None
    np = _numpy()
    bound, smallest = LIMITS[low]
    count, counts = 0, [0, 0]
    first: list[float | None] = [None, None]
    for values in values_of(weights, dtype):
        absolute = np.abs(values)
        count += int(values.size)
        marks = np.isfinite(absolute) & (absolute >= bound), (absolute <= smallest) & (absolute > 0)
        for at, marked in enumerate(marks):
            counts[at] += int(np.count_nonzero(marked))
            if first[at] is None and marked.any():
                first[at] = float(values[marked.argmax()])
    return Extremes(count, *counts, *first)


def _numpy() -> Any:
    """:raises MissingPackage: if numpy is not installed"""
    try:
        import numpy
    except ImportError:
        raise MissingPackage("the values of constants are not checked: numpy is not installed") from None
    return numpy


def values_of(weights: Weights, dtype: str) -> Iterator[Any]:
    """Yield the values of a constant as arrays of float32 or float64."""
    if weights.tensor is not None:
        yield _in_memory(weights, dtype)
        return
    try:
        with _opened(weights) as file:
            end = file.seek(0, 2)
            size = weights.size if weights.size >= 0 else max(end - weights.offset, 0)
            last = weights.offset + size
            if last > end:
                message = f"the values of a constant are at bytes {weights.offset} to {last}, the file has {end}"
                raise Damaged(message, name="damaged-model", path=weights.path)
            file.seek(weights.offset)
            if weights.encoding == "raw":
                step = _SLICE * _WIDTHS[dtype]
                for left in range(size, 0, -step):
                    yield _floats(file.read(min(step, left)), dtype)
            else:
                data = file.read(size)
                yield _floats(unescaped(data) if weights.encoding == "escaped" else _patterns(data), dtype)
    except OSError as error:
        raise unreadable(error, weights.path) from None
    except WireFault as fault:
        message = f"the values of a constant are broken at byte {weights.offset + fault.at}"
        raise Damaged(message, name="damaged-model", path=weights.path) from None


def _opened(weights: Weights) -> IO[bytes]:
    """:raises Refused: if the file is missing, outside the folder of its model, or cannot be read"""
    if not os.path.lexists(weights.path):
        message = "the file with the values of constants is missing"
        hint = "put the external data beside the model, under the name in the model"
        raise Refused(message, name="missing-weights", path=weights.path, hint=hint)
    if weights.folder is None:
        return open_file(weights.path)
    return open_inside(weights.folder, os.path.relpath(weights.path, weights.folder))


def _in_memory(weights: Weights, dtype: str) -> Any:
    from onnx import numpy_helper

    try:
        values = numpy_helper.to_array(weights.tensor)
        return values.reshape(-1).astype("f8" if dtype == "float64" else "f4")
    except Exception:  # the package raises several kinds of exceptions
        message = f"the values of the constant `{weights.tensor.name}` do not fit its dtype and shape"
        raise Damaged(message, name="damaged-model", path=weights.path) from None


def _patterns(data: bytes) -> bytes:
    """Return patterns of 16 bits, each written as a number of one to ten bytes."""
    values: bytes = _numpy().array([value & 0xFFFF for value in packed(data, 0, len(data))], "<u2").tobytes()
    return values


def _floats(data: bytes, dtype: str) -> Any:
    """Return values as an array; the rest of a value that is cut off is left out."""
    np = _numpy()
    data = data[: len(data) - len(data) % _WIDTHS[dtype]]
    if dtype == "bfloat16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    values = np.frombuffer(data, {"float64": "<f8", "float32": "<f4", "float16": "<f2"}[dtype])
    return values.astype("f4") if dtype == "float16" else values
