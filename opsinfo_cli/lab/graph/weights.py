"""The values of constants, read from the model's file, from files beside it or from memory, in slices, with numpy."""

from __future__ import annotations

import os
from math import prod
from typing import TYPE_CHECKING

from ...errors import Damaged, MissingPackage, OpsinfoError, Refused
from ...opening import open_file, open_inside, unreadable
from .readers.protobuf import WireFault, unescape, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any

    from .graph import GraphNode, Weights

WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
"""The sizes of the dtypes that are read, in bytes."""
_MOST = 64
"""The largest number of whole numbers that are read."""
_LONGEST = 10
"""Bytes of the longest number of variable length."""
_SLICE = 1 << 18
"""Values that are read at once."""


def scalar_of(constant: GraphNode) -> float | None:
    """Return the value of a constant of one floating-point value, of any rank; None if it is not known."""
    tensor = constant.outputs[0]
    dtype = tensor.first_dtype
    if constant.weights is None or dtype not in WIDTHS or tensor.shape is None or prod(tensor.shape) != 1:
        return None
    try:
        return next((float(values[0]) for values in values_of(constant.weights, dtype) if len(values)), None)
    except OpsinfoError:
        return None


def integers_of(constant: GraphNode) -> list[int] | None:
    """Return the values of a small constant of int32 or int64; None if they are not known."""
    weights, tensor = constant.weights, constant.outputs[0]
    count = _MOST + 1 if tensor.shape is None or min(tensor.shape, default=0) < 0 else prod(tensor.shape)
    width = {"int32": 4, "int64": 8}.get(tensor.first_dtype or "")
    if weights is None or width is None or count > _MOST:
        return None
    try:
        if weights.tensor is not None:
            from onnx import numpy_helper

            return [int(value) for value in numpy_helper.to_array(weights.tensor).reshape(-1)]
        with _open(weights) as file:
            file.seek(weights.offset)
            data = file.read(weights.size if 0 <= weights.size <= _MOST * _LONGEST else _MOST * _LONGEST)
        if weights.encoding == "varint":
            values = unpack(data, 0, len(data))
            return (values + values[-1:] * count)[:count] if values else None
        data = unescape(data) if weights.encoding == "escaped" else data
        if len(data) != count * width:
            return None
        return [int.from_bytes(data[at : at + width], "little", signed=True) for at in range(0, len(data), width)]
    except Exception:  # of a package or a damaged file: the values are not known
        return None


def numpy() -> Any:
    """:raises MissingPackage: if numpy is not installed"""
    try:
        import numpy as module
    except ImportError:
        raise MissingPackage("the values of constants are not checked: numpy is not installed") from None
    return module


def values_of(weights: Weights, dtype: str) -> Iterator[Any]:
    """Yield the values of a constant as arrays of float32 or float64."""
    if weights.tensor is not None:
        from onnx import numpy_helper

        try:
            yield numpy_helper.to_array(weights.tensor).reshape(-1).astype("f8" if dtype == "float64" else "f4")
        except Exception:  # the package raises several kinds of exceptions
            message = f"the values of the constant `{weights.tensor.name}` do not fit its dtype and shape"
            raise Damaged(message, name="damaged-model", path=weights.path) from None
        return
    try:
        with _open(weights) as file:
            end = file.seek(0, 2)
            size = weights.size if weights.size >= 0 else max(end - weights.offset, 0)
            last = weights.offset + size
            if last > end:
                message = f"the values of a constant are at bytes {weights.offset} to {last}, the file has {end}"
                raise Damaged(message, name="damaged-model", path=weights.path)
            file.seek(weights.offset)
            if weights.encoding == "raw":
                step = _SLICE * WIDTHS[dtype]
                for left in range(size, 0, -step):
                    yield _floats(file.read(min(step, left)), dtype)
            elif weights.encoding == "escaped":
                yield _floats(unescape(file.read(size)), dtype)
            else:  # patterns of 16 bits, each written as a number of one to ten bytes
                patterns = [value & 0xFFFF for value in unpack(file.read(size), 0, size)]
                yield _floats(numpy().array(patterns, "<u2").tobytes(), dtype)
    except OSError as error:
        raise unreadable(error, weights.path) from None
    except WireFault as fault:
        message = f"the values of a constant are broken at byte {weights.offset + fault.at}"
        raise Damaged(message, name="damaged-model", path=weights.path) from None


def _open(weights: Weights) -> IO[bytes]:
    """:raises Refused: if the file is missing, outside the folder of its model, or cannot be read"""
    if not os.path.lexists(weights.path):
        message = "the file with the values of constants is missing"
        hint = "put the external data beside the model, under the name in the model"
        raise Refused(message, name="missing-weights", path=weights.path, hint=hint)
    if weights.folder is None:
        return open_file(weights.path)
    return open_inside(weights.folder, os.path.relpath(weights.path, weights.folder))


def _floats(data: bytes, dtype: str) -> Any:
    """Return values as an array; the rest of a value that is cut off is left out."""
    np = numpy()
    data = data[: len(data) - len(data) % WIDTHS[dtype]]
    if dtype == "bfloat16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    values = np.frombuffer(data, {"float64": "<f8", "float32": "<f4", "float16": "<f2"}[dtype])
    return values.astype("f4") if dtype == "float16" else values
