"""Nodes of TensorFlow, from the binary and the text form of a GraphDef.

Field numbers and names: tensorflow/tensorflow tensorflow/core/framework/, graph.proto, node_def.proto,
attr_value.proto, tensor.proto, tensor_shape.proto, function.proto, op_def.proto.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..graph import Weights
from .dtypes import tensorflow_dtype, word_dtype
from .slim import MARKER_KEY, marked
from .wire import fields, key, repeated, signed, text

if TYPE_CHECKING:
    from .slim import Plan, Slim
    from .textproto import Message, Value

_PAYLOADS = tuple(key(number) for number in (4, 5, 6, 7, 8, 9, 10, 11, 13))
_TENSOR: Plan = dict.fromkeys(_PAYLOADS)
_NODE: Plan = {key(5): {key(2): {key(8): _TENSOR, key(1): {key(8): _TENSOR}}}}
_FUNCTIONS: Plan = {key(1): {key(3): _NODE}}
GRAPH_PLAN: Plan = {key(1): _NODE, key(2): _FUNCTIONS}
"""The fields of tensor values in a GraphDef."""

_HALF = key(13)


class TfTensor(NamedTuple):
    """A constant's dtype and shape (None: unknown rank), and the place of its values."""

    dtype: str | None
    shape: tuple[int, ...] | None
    weights: Weights | None = None


class Types(NamedTuple):
    """A list of dtypes."""

    dtypes: tuple[str | None, ...]


class Type(NamedTuple):
    """A dtype."""

    dtype: str | None


class Shape(NamedTuple):
    """A shape; None: unknown rank."""

    dims: tuple[int, ...] | None


class Function(NamedTuple):
    """Names of functions."""

    names: tuple[str, ...]


class TfNode:
    """A node: its inputs are ``name``, ``name:1``, or ``^name`` for a control edge."""

    __slots__ = ("attributes", "inputs", "name", "op")

    def __init__(self, name: str, op: str, inputs: list[str], attributes: dict[str, object]) -> None:
        self.name = name
        self.op = op
        self.inputs = inputs
        self.attributes = attributes


class TfFunction(NamedTuple):
    """A function of a library: arguments, results by name, and nodes whose inputs are ``node:result:number``."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    nodes: tuple[TfNode, ...]


class BinaryValues:
    """Reads nodes out of bytes."""

    def __init__(self, slim: Slim, path: str) -> None:
        self._data = slim.data
        self._slim = slim
        self._path = path

    def node(self, start: int, end: int) -> TfNode:
        data = self._data
        name = op = ""
        inputs: list[str] = []
        attributes: dict[str, object] = {}
        for tag, first, last in fields(data, start, end):
            if tag == 0x1A:
                inputs.append(text(data, first, last))
            elif tag == 0x2A:
                entry = {inner: span for inner, *span in fields(data, first, last)}
                if 0x0A in entry and 0x12 in entry:
                    attributes[text(data, *entry[0x0A])] = self._value(*entry[0x12])
            elif tag == 0x0A:
                name = text(data, first, last)
            elif tag == 0x12:
                op = text(data, first, last)
        return TfNode(name, op, inputs, attributes)

    def function(self, start: int, end: int) -> TfFunction:
        data = self._data
        name = ""
        arguments: list[str] = []
        order: list[str] = []
        nodes: list[TfNode] = []
        results: dict[str, str] = {}
        for tag, first, last in fields(data, start, end):
            if tag == 0x0A:  # signature
                for inner, begin, stop in fields(data, first, last):
                    if inner == 0x0A:
                        name = text(data, begin, stop)
                    elif inner in (0x12, 0x1A):
                        (arguments if inner == 0x12 else order).append(self._name(begin, stop))
            elif tag == 0x1A:
                nodes.append(self.node(first, last))
            elif tag == 0x22:  # ret
                entry = {inner: text(data, *span) for inner, *span in fields(data, first, last)}
                results[entry.get(0x0A, "")] = entry.get(0x12, "")
        return TfFunction(name, tuple(arguments), tuple((each, results.get(each, "")) for each in order), tuple(nodes))

    def _name(self, start: int, end: int) -> str:
        return next((text(self._data, *span) for tag, *span in fields(self._data, start, end) if tag == 0x0A), "")

    def _value(self, start: int, end: int) -> object:
        data = self._data
        for tag, first, last in fields(data, start, end):
            if tag == 0x30:
                return Type(tensorflow_dtype(first))
            if tag in (0x18, 0x28):
                return signed(first)
            if tag == 0x12:
                return data[first : min(last, first + 4096)].decode("utf-8", "replace")
            if tag == 0x42:
                return self._tensor(first, last)
            if tag == 0x3A:
                return Shape(self.shape(first, last))
            if tag == 0x0A:
                return self._list(first, last)
            if tag == 0x52:
                return Function((self._name(first, last),))
        return None

    def _list(self, start: int, end: int) -> object:
        data = self._data
        dtypes: list[str | None] = []
        functions: list[str] = []
        integers: list[int] = []
        for tag, first, last in fields(data, start, end):
            if tag in (0x30, 0x32):
                dtypes += [tensorflow_dtype(each) for each in repeated(data, tag, first, last)]
            elif tag == 0x4A:
                functions.append(self._name(first, last))
            elif tag in (0x18, 0x1A):
                integers += repeated(data, tag, first, last)
        return Types(tuple(dtypes)) if dtypes else Function(tuple(functions)) if functions else integers

    def shape(self, start: int, end: int) -> tuple[int, ...] | None:
        """A TensorShapeProto."""
        dims = []
        for tag, first, last in fields(self._data, start, end):
            if tag == 0x12:
                size = next((value for inner, value, _ in fields(self._data, first, last) if inner == 0x08), 0)
                dims.append(signed(size))
            elif tag == 0x18 and first:
                return None
        return tuple(dims)

    def _tensor(self, start: int, end: int) -> TfTensor:
        data, dtype, shape, weights = self._data, None, (), None
        for tag, first, last in fields(data, start, end):
            if tag == 0x08:
                dtype = tensorflow_dtype(first)
            elif tag == 0x12:
                shape = self.shape(first, last)  # type: ignore[assignment]
            elif tag == MARKER_KEY:
                payload, place, size = marked(data, first, last)
                weights = Weights(self._path, place, size, "varint" if payload == _HALF else "raw")
            elif tag in _PAYLOADS and last > first:
                weights = Weights(
                    self._path, self._slim.place(first), last - first, "varint" if tag == _HALF else "raw"
                )
            elif tag == key(5, 5):  # one float_val, not packed
                weights = Weights(self._path, self._slim.place(first), 4)
        return TfTensor(dtype, shape, weights)


class TextValues:
    """Reads nodes out of the tree of a text."""

    def node(self, message: Message) -> TfNode:
        attributes = {}
        for entry in _messages(message, "attr"):
            for value in _messages(entry, "value"):
                attributes[_word(entry, "key")] = self._value(value)
        inputs = [each.decode("utf-8", "replace") for each in message.get("input", []) if isinstance(each, bytes)]
        return TfNode(_word(message, "name"), _word(message, "op"), inputs, attributes)

    def function(self, message: Message) -> TfFunction:
        signature = next(iter(_messages(message, "signature")), {})
        results = {_word(entry, "key"): _word(entry, "value") for entry in _messages(message, "ret")}
        order = [_word(each, "name") for each in _messages(signature, "output_arg")]
        return TfFunction(
            _word(signature, "name"),
            tuple(_word(each, "name") for each in _messages(signature, "input_arg")),
            tuple((each, results.get(each, "")) for each in order),
            tuple(self.node(each) for each in _messages(message, "node_def")),
        )

    def _value(self, value: Message) -> object:
        for name, values in value.items():
            first = values[0]
            if name == "type":
                return Type(_dtype(first))
            if name in ("i", "b"):
                return _number(first)
            if name == "s":
                return first[:4096].decode("utf-8", "replace") if isinstance(first, bytes) else first
            if not isinstance(first, dict):
                continue
            if name == "tensor":
                dtypes, shapes = first.get("dtype"), _messages(first, "tensor_shape")
                shape = self.shape(shapes[0]) if shapes else ()
                return TfTensor(_dtype(dtypes[0]) if dtypes else None, shape)
            if name == "shape":
                return Shape(self.shape(first))
            if name == "func":
                return Function((_word(first, "name"),))
            if name == "list":
                if "type" in first:
                    return Types(tuple(_dtype(each) for each in first["type"]))
                if "func" in first:
                    return Function(tuple(_word(each, "name") for each in _messages(first, "func")))
                return [_number(each) for each in first.get("i", [])]
        return None

    def shape(self, message: Message) -> tuple[int, ...] | None:
        """A TensorShapeProto."""
        if message.get("unknown_rank", ["false"])[0] in ("true", "True", "t", "1"):
            return None
        return tuple(_number(each.get("size", ["0"])[0]) for each in _messages(message, "dim"))


def _messages(message: Message, name: str) -> list[Message]:
    return [each for each in message.get(name, []) if isinstance(each, dict)]


def _word(message: Message, name: str) -> str:
    value = message.get(name, [b""])[0]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _number(value: Value) -> int:
    if value in ("true", "True", "t"):
        return 1
    try:
        return int(value, 0) if isinstance(value, str) and len(value) < 25 else 0
    except ValueError:
        return 0


def _dtype(value: Value) -> str | None:
    if not isinstance(value, str):
        return None
    return tensorflow_dtype(int(value)) if value.isdigit() and len(value) < 10 else word_dtype(value)
