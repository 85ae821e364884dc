"""The structure of an ONNX model, read from its bytes without a package.

Field numbers: onnx/onnx onnx/onnx.proto (ModelProto, GraphProto, NodeProto, AttributeProto, TensorProto,
ValueInfoProto).
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from ..graph import GraphTensor, Weights
from .onnx_tensor_types import TensorTypes
from .slim import MARKER_KEY, marked
from .source import CONST, SourceGraph, SourceNode
from .wire import BYTES, DEEPEST, WireFault, field, fields, key, number_bytes, repeated, signed, text

if TYPE_CHECKING:
    from .slim import Plan, Slim

_PAYLOADS = tuple(key(number) for number in (4, 5, 6, 7, 9, 10, 11))
_TENSOR: Plan = dict.fromkeys(_PAYLOADS)
_GRAPH: Plan = {key(5): _TENSOR, key(15): {key(1): _TENSOR, key(2): _TENSOR}}
_ATTRIBUTE: Plan = {key(5): _TENSOR, key(10): _TENSOR, key(6): _GRAPH, key(11): _GRAPH, key(22): {key(1): _TENSOR}}
_NODE: Plan = {key(5): _ATTRIBUTE}
_GRAPH[key(1)] = _NODE
PLAN: Plan = {key(7): _GRAPH, key(25): {key(7): _NODE}}
"""The fields of tensor values in a model."""

_EXTERNAL = 1
_INTEGERS = (6, 7)
"""int32 and int64: the dtypes of shapes, axes and sizes."""
_SHORT = 64
"""The longest list of other numbers, such as scales, that inference may need."""
_VARINT_PAYLOADS = (key(5), key(7), key(11))
DEFAULT_DOMAINS = ("", "ai.onnx")


class OnnxModel(NamedTuple):
    """The content of a model file.

    :param opsets: version by domain
    :param functions: the number of functions that the model defines
    :param external: paths of the files with its external data
    :param refused: names of such files outside the model's folder, which ONNX forbids
    :param data: small constants by name, as bytes of TensorProto without the name, for inference; of long ones no bytes
    """

    graph: SourceGraph
    opsets: dict[str, int]
    functions: int
    producer: str
    external: set[str]
    refused: set[str]
    data: dict[str, bytes]


def parse_onnx(slim: Slim, path: str) -> OnnxModel:
    """The structure of a model.

    :param path: the model's path; external data is searched beside it
    :raises WireFault: if it is not a model
    """
    return Parser(slim, path).model()


class Parser:
    """Reads messages of ONNX out of bytes."""

    def __init__(self, slim: Slim, path: str) -> None:
        self._slim = slim
        self._data = slim.data
        self._path = path
        self._external: set[str] = set()
        self._refused: set[str] = set()
        self._small: dict[str, bytes] = {}
        self._types = TensorTypes(slim.data)
        self._ops: dict[bytes, str] = {}

    def model(self) -> OnnxModel:
        data = self._data
        opsets: dict[str, int] = {}
        graph = None
        functions, producer = 0, ""
        for tag, start, end in fields(data, 0, len(data)):
            if tag == 0x3A:  # graph = 7
                graph = self.graph(start, end, 0)
            elif tag == 0x42:  # opset_import = 8
                domain, version = self._opset(start, end)
                opsets[domain] = version
            elif tag == 0x12:
                producer = text(data, start, end)
            elif tag == key(25):
                functions += 1
        if graph is None:
            raise WireFault(0, "the model has no graph")
        return OnnxModel(graph, opsets, functions, producer, self._external, self._refused, self._small)

    def _opset(self, start: int, end: int) -> tuple[str, int]:
        domain, version = "", 1
        for tag, first, last in fields(self._data, start, end):
            if tag == 0x0A:
                domain = text(self._data, first, last)
            elif tag == 0x10:
                version = signed(first)
        return "" if domain in DEFAULT_DOMAINS else domain, version

    def graph(self, start: int, end: int, depth: int) -> SourceGraph:
        """Return a graph; its initializers become constants before its nodes."""
        if depth > DEEPEST // 4:
            raise WireFault(start, f"graphs are nested more than {DEEPEST // 4} deep")
        data = self._data
        graph = SourceGraph("")
        nodes: list[SourceNode] = []
        constants: list[SourceNode] = []
        for tag, first, last in fields(data, start, end):
            if tag == 0x0A:  # node = 1
                nodes.append(self._node(graph, first, last, depth))
            elif tag == 0x2A:  # initializer = 5
                constants.append(self._initializer(graph, first, last))
            elif tag == 0x12:
                graph.name = text(data, first, last)
            elif tag == 0x5A:  # input = 11
                graph.inputs.append(self.value(graph, first, last))
            elif tag == 0x62:  # output = 12
                graph.outputs.append(self.value(graph, first, last))
            elif tag == 0x6A:  # value_info = 13
                self.value(graph, first, last)
            elif tag == key(15):  # sparse_initializer
                inner = [(begin, stop) for tag, begin, stop in fields(data, first, last) if tag == 0x0A]
                constants += [self._initializer(graph, begin, stop, sparse=True) for begin, stop in inner]
        known = {node.name for node in constants}
        graph.inputs = [name for name in graph.inputs if name not in known]
        graph.nodes = [*constants, *nodes]
        return graph

    def value(self, graph: SourceGraph, start: int, end: int) -> str:
        """Read a ValueInfoProto into the graph, and return its name."""
        data, name, tensor = self._data, "", None
        for tag, first, last in fields(data, start, end):
            if tag == 0x0A:
                name = data[first:last].decode("utf-8", "replace")
            elif tag == 0x12:
                tensor = self._types.of(first, last)
        if tensor is not None:
            graph.tensors[name] = tensor
        return name

    def _node(self, graph: SourceGraph, start: int, end: int, depth: int) -> SourceNode:
        data = self._data[start:end] + b"\0"  # offsets in it are small numbers: counting in the file takes longer
        inputs: list[str] = []
        outputs: list[str] = []
        name = op = domain = ""
        attributes: list[tuple[int, int]] = []
        at, size = 0, end - start
        while at < size:  # not `fields`, which takes longer too: most of a large model are nodes
            tag, first = data[at], at + 2
            last = first + data[at + 1]
            if tag & 0x87 != BYTES or last > first + 127 or last > size:
                tag, first, last, after = field(self._data, start + at, end)
                first, last, at = first - start, last - start, after - start
            else:
                at = last
            if tag == 0x0A:
                inputs.append(data[first:last].decode("utf-8", "replace"))
            elif tag == 0x12:
                outputs.append(data[first:last].decode("utf-8", "replace"))
            elif tag == 0x1A:
                name = data[first:last].decode("utf-8", "replace")
            elif tag == 0x22:
                op = self._ops.get(data[first:last]) or self._new_op(data[first:last])
            elif tag == 0x2A:
                attributes.append((first, last))
            elif tag == 0x3A:
                domain = text(data, first, last)
        node = SourceNode(name, op if domain in DEFAULT_DOMAINS else f"{domain}::{op}", inputs, outputs)
        for first, last in attributes:
            self._attribute(graph, node, start + first, start + last, depth)
        if attributes and not node.type and not node.bodies:
            node.raw_attributes = tuple([data[first:last] for first, last in attributes])
        return node

    def _new_op(self, said: bytes) -> str:
        op = self._ops[said] = text(said, 0, len(said))
        return op

    def _attribute(self, graph: SourceGraph, node: SourceNode, start: int, end: int, depth: int) -> None:
        data, name = self._data, ""
        value: object = None
        integers: list[int] = []
        for tag, first, last in fields(data, start, end):
            if tag == 0x0A:
                name = text(data, first, last)
            elif tag == 0x18:
                value = signed(first)
            elif tag == 0x15:
                value = struct.unpack("<f", data[first:last])[0]
            elif tag == 0x22:
                value = data[first : min(last, first + 256)].decode("utf-8", "replace")
            elif tag in (0x40, 0x42):
                integers += repeated(data, tag, first, last)
            elif tag == 0x2A and node.op == "Constant":
                self._constant(graph, node, first, last)
            elif tag in (0x32, 0x5A):
                body = self.graph(first, last, depth + 1)
                body.attribute = name
                node.bodies = [*node.bodies, body]
        if value is not None or integers:
            node.attributes = {**node.attributes, name: integers if value is None else value}
        if node.op == "Constant" and name in _PLAIN and node.type != CONST:
            node.type = CONST
            dtype = _PLAIN[name]
            graph.tensors.setdefault(
                node.outputs[0] if node.outputs else "", GraphTensor(dtype, shape=() if name[-1] != "s" else None)
            )

    def _constant(self, graph: SourceGraph, node: SourceNode, start: int, end: int) -> None:
        made = self._initializer(graph, start, end, node.outputs[0] if node.outputs else node.name)
        node.type, node.weights = CONST, made.weights

    def _initializer(
        self, graph: SourceGraph, start: int, end: int, value: str = "", sparse: bool = False
    ) -> SourceNode:
        """Read a TensorProto: a constant, and the place of its values."""
        data = self._data
        name, dtype, dims = "", 0, []
        named = (start, start)
        weights: Weights | None = None
        external: dict[str, str] = {}
        location = 0
        for tag, first, last in fields(data, start, end):
            if tag in (0x08, 0x0A):
                dims += repeated(data, tag, first, last)
            elif tag == 0x10:
                dtype = first
            elif tag == 0x42:
                name, named = data[first:last].decode("utf-8", "replace"), (first, last)
            elif tag == MARKER_KEY:
                payload, place, size = marked(data, first, last)
                weights = Weights(self._path, place, size, "varint" if payload in _VARINT_PAYLOADS else "raw")
            elif tag in _PAYLOADS and last > first and weights is None:
                place = self._slim.place(first)
                weights = Weights(self._path, place, last - first, "varint" if tag in _VARINT_PAYLOADS else "raw")
            elif tag == 0x6A:
                entry = {number: text(data, *span) for number, *span in fields(data, first, last)}
                external[entry.get(0x0A, "")] = entry.get(0x12, "")
            elif tag == 0x70:
                location = first
        name = value or name
        node = SourceNode(name, CONST, [], [name])
        node.type = CONST
        if location == _EXTERNAL:
            weights = self._outside(external)
        node.weights = weights
        if not sparse:
            is_small = len(dims) < 2 and (dtype in _INTEGERS or not dims or dims[0] <= _SHORT)
            self._small[name] = _without(data, start, end, *named) if is_small else b""
        graph.tensors[name] = self._types.tensor(dtype, tuple(dims))
        return node

    def _outside(self, said: dict[str, str]) -> Weights | None:
        """Return the place of external data, beside or below the model; a size of -1: up to the end of the file."""
        name = said.get("location", "")
        if not name or "\0" in name or os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            self._refused.add(name)
            return None
        path = os.path.join(os.path.dirname(self._path), name)
        self._external.add(path)
        return Weights(path, max(_number(said.get("offset", "0")), 0), _number(said.get("length", "-1")))


_PLAIN = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}
_PLAIN |= {"value_string": "string", "value_strings": "string", "sparse_value": "float32"}


def _without(data: bytes, start: int, end: int, name_at: int, name_end: int) -> bytes:
    """Return a TensorProto without its name."""
    begin = name_at - len(number_bytes(name_end - name_at)) - 1
    return data[start:begin] + data[name_end:end] if name_end > name_at else data[start:end]


def _number(said: str) -> int:
    try:
        return int(said) if len(said) < 20 else -1
    except ValueError:
        return -1
