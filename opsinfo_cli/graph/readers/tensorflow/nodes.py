"""Messages of TensorFlow, from the binary and the text form of a GraphDef or a SavedModel, and nodes made of them.

Field numbers and names: tensorflow/tensorflow tensorflow/core/framework/, graph.proto, node_def.proto,
attr_value.proto, tensor.proto, tensor_shape.proto, function.proto, op_def.proto; core/protobuf/, saved_model.proto,
meta_graph.proto.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...dtypes import tensorflow_dtype, word_dtype
from ...graph import Weights
from ..protobuf import HALVES, NUMBER, PLACE, TEXT, Decoder, messages, number, word, words

if TYPE_CHECKING:
    from typing import Any

    from ..protobuf import Message

_FIELDS: dict[str, dict[int, tuple[str, str]]] = {
    "SavedModel": {2: ("meta_graphs", "MetaGraph")},
    "MetaGraph": {2: ("graph_def", "Graph"), 5: ("signature_def", "SignatureEntry")},
    "SignatureEntry": {1: ("key", TEXT), 2: ("value", "Signature")},
    "Signature": {2: ("outputs", "OutputEntry")},
    "OutputEntry": {1: ("key", TEXT), 2: ("value", "Named")},
    "Named": {1: ("name", TEXT)},
    "Graph": {1: ("node", "Node"), 2: ("library", "Library")},
    "Library": {1: ("function", "Function")},
    "Function": {1: ("signature", "Operator"), 3: ("node_def", "Node"), 4: ("ret", "Return")},
    "Operator": {1: ("name", TEXT), 2: ("input_arg", "Named"), 3: ("output_arg", "Named")},
    "Return": {1: ("key", TEXT), 2: ("value", TEXT)},
    "Node": {1: ("name", TEXT), 2: ("op", TEXT), 3: ("input", TEXT), 5: ("attr", "Attribute")},
    "Attribute": {1: ("key", TEXT), 2: ("value", "Value")},
    "Value": {
        1: ("list", "List"),
        2: ("s", TEXT),
        3: ("i", NUMBER),
        5: ("b", NUMBER),
        6: ("type", NUMBER),
        7: ("shape", "Shape"),
        8: ("tensor", "Tensor"),
        10: ("func", "Named"),
    },
    "List": {3: ("i", NUMBER), 6: ("type", NUMBER), 9: ("func", "Named")},
    "Shape": {2: ("dim", "Dim"), 3: ("unknown_rank", NUMBER)},
    "Dim": {1: ("size", NUMBER)},
    "Tensor": {
        1: ("dtype", NUMBER),
        2: ("tensor_shape", "Shape"),
        13: ("values", HALVES),
        **dict.fromkeys((4, 5, 6, 7, 8, 9, 10, 11), ("values", PLACE)),
    },
}
"""The fields that are read of each message, by number: name, and kind or message."""


def binary_message(data: bytes, name: str, path: str) -> Message:
    """Return a message of the binary form.

    :param name: of the message, a key of the table of fields
    :raises WireFault: if the data is broken
    """
    return Decoder(data, _FIELDS, path).message(name, 0, len(data))


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


def node_of(message: Message) -> TfNode:
    """The node of a NodeDef."""
    attributes = {}
    for entry in messages(message, "attr"):
        for value in messages(entry, "value"):
            attributes[word(entry, "key")] = _attribute(value)
    return TfNode(word(message, "name"), word(message, "op"), words(message, "input"), attributes)


def function_of(message: Message) -> TfFunction:
    """The function of a FunctionDef."""
    signature = next(iter(messages(message, "signature")), {})
    results = {word(entry, "key"): word(entry, "value") for entry in messages(message, "ret")}
    order = [word(each, "name") for each in messages(signature, "output_arg")]
    return TfFunction(
        word(signature, "name"),
        tuple(word(each, "name") for each in messages(signature, "input_arg")),
        tuple((each, results.get(each, "")) for each in order),
        tuple(node_of(each) for each in messages(message, "node_def")),
    )


def _attribute(message: Message) -> object:
    for name, values in message.items():
        first = values[0] if values else 0
        if name == "type":
            return Type(_dtype(first))
        if name in ("i", "b"):
            return number(first)
        if name == "s":
            return first[:4096].decode("utf-8", "replace") if isinstance(first, bytes) else first
        if not isinstance(first, dict):
            continue
        if name == "tensor":
            return _tensor(first)
        if name == "shape":
            return Shape(_shape(first))
        if name == "func":
            return Function((word(first, "name"),))
        if name == "list":
            return _list(first)
    return None


def _list(message: Message) -> object:
    if message.get("type"):
        return Types(tuple(map(_dtype, message["type"])))
    if "func" in message:
        return Function(tuple(word(each, "name") for each in messages(message, "func")))
    return [number(each) for each in message.get("i", [])]


def _tensor(message: Message) -> TfTensor:
    dtypes, shapes = message.get("dtype"), messages(message, "tensor_shape")
    places = [value for value in message.get("values", []) if isinstance(value, Weights)]
    shape = _shape(shapes[-1]) if shapes else ()
    return TfTensor(_dtype(dtypes[0]) if dtypes else None, shape, places[-1] if places else None)


def _shape(message: Message) -> tuple[int, ...] | None:
    """A TensorShapeProto."""
    if number(message.get("unknown_rank", ["false"])[0]):
        return None
    return tuple(number(each.get("size", ["0"])[0]) for each in messages(message, "dim"))


def _dtype(value: Any) -> str | None:
    if isinstance(value, int):
        return tensorflow_dtype(value) if value >= 0 else None
    if not isinstance(value, str):
        return None
    return tensorflow_dtype(int(value)) if value.isdigit() and len(value) < 10 else word_dtype(value)
