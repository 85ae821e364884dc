"""``ge.proto.ModelDef`` in its binary form: the first partition of a compiled model.

Field numbers: hicann/ge graph_metadef/proto/ge_ir.proto:60-353.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...graph import Weights
from ..dtypes import ge_dtype
from ..wire import VARINT, fields, key, repeated, signed, text
from .model import CONTINUOUS, FACTS, FUSED_FROM, LISTS, MODE, NUMBERS, PARENT, Desc, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .model import GeModel

_GRAPH, _MODEL_ATTR, _GRAPH_NAME, _OPERATOR, _GRAPH_ATTR = key(7), key(11), key(1), key(6), key(11)
_KEY, _VALUE = key(1), key(2)
_S, _I, _B, _LIST, _TENSOR = key(2), key(3, VARINT), key(5, VARINT), key(1), key(12)
_LIST_S, _LIST_I, _LIST_I_PACKED = key(2), key(3, VARINT), key(3)
_WORDS = {b"origin_data_type": "origin_data_type", b"origin_format": "origin_format"}
_MOST_CACHED = 1 << 14


class BinaryModel:
    """Reads a ModelDef into a :class:`~.model.GeModel`.

    :param start: the place of the data in the file
    :param weights: path, first byte and size of the partition of weights, if the file has one
    """

    def __init__(self, data: bytes, start: int, model: GeModel, weights: Weights | None = None) -> None:
        self._data = data
        self._start = start
        self._model = model
        self._weights = weights
        self._descs: dict[bytes, Desc] = {}

    def read(self) -> None:
        """Read everything.

        :raises WireFault: if the data is not a ModelDef; its place is that in the data
        """
        data, model = self._data, self._model
        for tag, start, end in fields(data, 0, len(data)):
            if tag == _GRAPH and end >= 0:
                model.open_graph()
                self._graph(start, end)
            elif tag == _MODEL_ATTR:
                name, value, stop = self._entry(start, end)
                if name.decode("utf-8", "replace") in FACTS:
                    model.facts[name.decode()] = self._string(value, stop)

    def _graph(self, start: int, end: int) -> None:
        data, model = self._data, self._model
        model.name_graph(next((text(data, *span) for tag, *span in fields(data, start, end) if tag == _GRAPH_NAME), ""))
        for tag, first, last in fields(data, start, end):
            if tag == _OPERATOR:
                model.add(self._operator(first, last))
            elif tag == _GRAPH_ATTR:
                name, value, stop = self._entry(first, last)
                if name == MODE.encode() and (mode := self._number(value, stop)) is not None:
                    model.mode = mode if model.mode is None else model.mode

    def _operator(self, start: int, end: int) -> Op:
        data = self._data
        name = op_type = ""
        inputs: list[str] = []
        input_descs: list[Desc] = []
        output_descs: list[Desc] = []
        subgraphs: list[str] = []
        fused: list[str] = []
        attributes: dict[str, int | tuple[int, ...]] = {}
        weights: list[Weights] = []
        for tag, first, last in fields(data, start, end):
            if tag == 0x52:  # attr = 10
                self._attribute(first, last, attributes, fused, weights)
            elif tag == 0x2A:  # input = 5
                inputs.append(text(data, first, last))
            elif tag == 0x0A:
                name = text(data, first, last)
            elif tag == 0x12:
                op_type = text(data, first, last)
            elif tag == _INPUT_DESC:
                input_descs.append(self._desc(first, last))
            elif tag == _OUTPUT_DESC:
                output_descs.append(self._desc(first, last))
            elif tag == _SUBGRAPH:
                subgraphs.append(text(data, first, last))
        return Op(
            name, op_type, inputs, input_descs, output_descs, attributes, subgraphs, fused, next(iter(weights), None)
        )

    def _attribute(
        self,
        start: int,
        end: int,
        attributes: dict[str, int | tuple[int, ...]],
        fused: list[str],
        weights: list[Weights],
    ) -> None:
        name, value, stop = self._entry(start, end)
        if name in _KEPT:
            number = self._number(value, stop)
            if number is not None:
                attributes[name.decode()] = number
        elif name in _KEPT_LISTS:
            attributes[name.decode()] = tuple(self._integers(value, stop))
        elif name == _FUSED:
            fused += self._strings(value, stop)
        elif name == b"value" and (found := self._constant(value, stop)):
            weights.append(found)

    def _desc(self, start: int, end: int) -> Desc:
        said = self._data[start:end]
        found = self._descs.get(said)
        if found is None:
            if len(self._descs) >= _MOST_CACHED:
                self._descs.clear()
            found = self._descs[said] = self._described(start, end)
        return found

    def _described(self, start: int, end: int) -> Desc:
        data = self._data
        dtype = layout = None
        shape: tuple[int, ...] = ()
        original_shape = None
        words: dict[str, str] = {}
        numbers: dict[str, int] = {}
        for tag, first, last in fields(data, start, end):
            if tag == 0x10:
                dtype = ge_dtype(first)
            elif tag == 0x1A:
                shape = tuple(dim for inner, *span in fields(data, first, last) for dim in self._dims(inner, *span))
            elif tag == 0x22:
                layout = text(data, first, last) or None
            elif tag == 0x2A:
                name, value, stop = self._entry(first, last)
                if name in _WORDS:
                    words[_WORDS[name]] = self._string(value, stop)
                elif name == b"origin_shape":
                    original_shape = tuple(self._integers(value, stop))
                elif name in _TENSOR_NUMBERS and (number := self._number(value, stop)) is not None:
                    numbers[name.decode()] = number
        return self._model.descriptor(dtype, layout, shape, words, original_shape, numbers)

    def _dims(self, tag: int, first: int, last: int) -> list[int]:
        return repeated(self._data, tag, first, last) if tag >> 3 == 1 else []

    def _entry(self, start: int, end: int) -> tuple[bytes, int, int]:
        """Key and the place of the value of an entry of a map."""
        name, value, stop = b"", end, end
        for tag, first, last in fields(self._data, start, end):
            if tag == _KEY:
                name = self._data[first:last]
            elif tag == _VALUE:
                value, stop = first, last
        return name, value, stop

    def _number(self, start: int, end: int) -> int | None:
        return next((signed(value) for tag, value, _ in fields(self._data, start, end) if tag in (_I, _B)), None)

    def _string(self, start: int, end: int) -> str:
        return next((text(self._data, *span) for tag, *span in fields(self._data, start, end) if tag == _S), "")

    def _listed(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        for tag, first, last in fields(self._data, start, end):
            if tag == _LIST:
                yield from fields(self._data, first, last)

    def _strings(self, start: int, end: int) -> list[str]:
        return [text(self._data, *span) for tag, *span in self._listed(start, end) if tag == _LIST_S]

    def _integers(self, start: int, end: int) -> list[int]:
        found: list[int] = []
        for tag, first, last in self._listed(start, end):
            if tag in (_LIST_I, _LIST_I_PACKED):
                found += repeated(self._data, tag, first, last)
        return found

    def _constant(self, start: int, end: int) -> Weights | None:
        """Return the place of a constant's values: in its own attribute, else in the partition of weights."""
        offset, size = -1, 0
        for tag, first, last in fields(self._data, start, end):
            if tag != _TENSOR:
                continue
            for inner, begin, stop in fields(self._data, first, last):
                if inner == key(2) and stop > begin:
                    return Weights(self._model.path, self._start + begin, stop - begin)
                if inner == key(1):
                    said = {number: value for number, value, last in fields(self._data, begin, stop) if last < 0}
                    offset, size = signed(said.get(key(18, VARINT), 0)), signed(said.get(key(11, VARINT), 0))
        store = self._weights
        if store is None or size <= 0 or not 0 <= offset <= store.size - size:
            return None
        return Weights(store.path, store.offset + offset, size)


_KEPT = frozenset(name.encode() for name in NUMBERS)
_KEPT_LISTS = frozenset(name.encode() for name in LISTS)
_TENSOR_NUMBERS = (CONTINUOUS.encode(), PARENT.encode())
_FUSED = FUSED_FROM.encode()
_INPUT_DESC, _OUTPUT_DESC, _SUBGRAPH = key(33), key(34), key(35)
