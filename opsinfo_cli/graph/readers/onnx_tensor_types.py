"""The types of an ONNX model's values (TypeProto). Most are equal: each is read once, and equal tensors are shared."""

from __future__ import annotations

from ..graph import GraphTensor
from .dtypes import onnx_dtype
from .wire import DEEPEST, fields, key, signed


class TensorTypes:
    """The types in some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._types: dict[bytes, GraphTensor | None] = {}
        self._tensors: dict[tuple[int, tuple[int, ...] | None], GraphTensor] = {}

    def of(self, start: int, end: int) -> GraphTensor | None:
        """Return a TypeProto: a tensor, or the content of a sequence or an optional.

        :raises WireFault: if it is broken
        """
        said = self._data[start:end]
        if said not in self._types:
            self._types[said] = self._type(start, end, 0)
        return self._types[said]

    def tensor(self, dtype: int, shape: tuple[int, ...] | None) -> GraphTensor:
        """Return the tensor of a dtype's number and a shape."""
        found = self._tensors.get((dtype, shape))
        if found is None:
            found = self._tensors[dtype, shape] = GraphTensor(onnx_dtype(dtype), shape=shape)
        return found

    def _type(self, start: int, end: int, depth: int) -> GraphTensor | None:
        data = self._data
        for tag, first, last in fields(data, start, end):
            if tag in (0x0A, key(8)):  # tensor_type, sparse_tensor_type
                return self._tensor_type(first, last)
            if tag in (0x22, 0x4A) and depth < DEEPEST:  # sequence_type = 4, optional_type = 9
                inner = next(((begin, stop) for tag, begin, stop in fields(data, first, last) if tag == 0x0A), None)
                return self._type(inner[0], inner[1], depth + 1) if inner else None
        return None

    def _tensor_type(self, start: int, end: int) -> GraphTensor:
        data, dtype, shape = self._data, 0, None
        for tag, first, last in fields(data, start, end):
            if tag == 0x08:
                dtype = first
            elif tag == 0x12:
                shape = tuple(self._dim(*span) for tag, *span in fields(data, first, last) if tag == 0x0A)
        return self.tensor(dtype, shape)

    def _dim(self, start: int, end: int) -> int:
        return next((signed(value) for tag, value, _ in fields(self._data, start, end) if tag == 0x08), -1)
