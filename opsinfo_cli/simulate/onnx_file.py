"""An ONNX file as a simulation needs it: every node in one list, large weights kept apart.

The file is read once. Weights above a megabyte are kept as arrays and handed to every session as they are; weights in
other files stay there, and onnxruntime maps them. The file itself is never changed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, Refused
from .packages import needed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LARGE = 1 << 20
"""Bytes of a weight above which it is kept apart."""
IR_VERSIONS = 8, 10
"""IR versions: the oldest that allows weights that are not inputs and has every inserted operator, and the newest that
every accepted onnxruntime reads; a newer one adds dtypes, which onnxruntime checks itself.
"""
_GRAPH, _GRAPHS = 5, 10
_EXTERNAL = 1
_APART = "kept-apart"
_RANDOM = frozenset(
    ["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"]
)


class FlatNode(NamedTuple):
    """A node of the model or of a body in it.

    :param scope: the number of its graph; 0 is the main graph
    """

    proto: Any
    scope: int


class OnnxFile:
    """The structure of a model.

    :ivar proto: the ModelProto, without large weights
    :ivar folder: the folder of its external data
    :ivar weights: the large weights by name, as arrays
    :ivar scopes: the GraphProto of the main graph and of each body
    :ivar nodes: all nodes, those of the main graph first
    :ivar original: every value that a node yields in the user's file; a conversion to a newer opset adds others
    """

    def __init__(
        self, proto: Any, folder: str, weights: dict[str, Any], original: frozenset[str] = frozenset()
    ) -> None:
        self.proto = proto
        self.folder = folder
        self.weights = weights
        self.scopes: list[Any] = []
        self.nodes: list[FlatNode] = []
        self._of_scope: list[list[int]] = []
        self._bodies: dict[int, list[tuple[str, int]]] = {}
        self._add(proto.graph)
        self.original = original or frozenset(value for node in self.nodes for value in node.proto.output)

    @classmethod
    def read(cls, path: str) -> OnnxFile:
        """Read a model; its functions are inlined.

        :raises MissingPackage: if the ``onnx`` package is not installed
        :raises Refused: if the file cannot be read
        :raises Damaged: if it is not an ONNX model, or external data is missing or outside its folder
        """
        proto = loaded(path)
        folder = os.path.dirname(os.path.abspath(path))
        for tensor in _tensors(proto.graph):
            _require_inside(tensor, folder, path)
        if proto.functions:
            from onnx.inliner import inline_local_functions

            proto = inline_local_functions(proto)
        oldest, newest = IR_VERSIONS
        proto.ir_version = min(max(proto.ir_version, oldest), newest)
        _move_constants(proto.graph)
        weights = _kept_apart(proto.graph)
        for graph in _graphs(proto.graph):
            _seed(graph)
            _name_once(graph)
        return cls(proto, folder, weights)

    @property
    def opset(self) -> int:
        """Return the version of the default domain."""
        found = [each.version for each in self.proto.opset_import if each.domain in ("", "ai.onnx")]
        return int(found[0]) if found else 1

    def nodes_of(self, scope: int) -> list[int]:
        """Numbers of the nodes of one graph, in the file's order."""
        return self._of_scope[scope]

    def bodies_of(self, node: int) -> list[tuple[str, int]]:
        """Return the bodies of a node: the attribute of each, and the number of its graph."""
        return self._bodies.get(node, [])

    def _add(self, graph: Any) -> int:
        scope = len(self.scopes)
        self.scopes.append(graph)
        first = len(self.nodes)
        self.nodes += [FlatNode(node, scope) for node in graph.node]
        self._of_scope.append(list(range(first, len(self.nodes))))
        for number in self._of_scope[scope]:
            for attribute in self.nodes[number].proto.attribute:
                for body in _bodies(attribute):
                    self._bodies.setdefault(number, []).append((attribute.name, self._add(body)))
        return scope


def loaded(path: str) -> Any:
    """Return the ModelProto of a file, without its external data.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Refused: if the file cannot be read
    :raises Damaged: if it is not an ONNX model
    """
    onnx = needed("onnx")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    try:
        proto = onnx.load_model_from_string(data)
    except Exception as error:  # protobuf raises its own exceptions
        raise Damaged(f"not an ONNX model: {error}", name="damaged-model", path=path) from None
    if not proto.HasField("graph"):
        raise Damaged("not an ONNX model: it has no graph", name="damaged-model", path=path)
    return proto


def _bodies(attribute: Any) -> list[Any]:
    if attribute.type == _GRAPH:
        return [attribute.g]
    return list(attribute.graphs) if attribute.type == _GRAPHS else []


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in _bodies(attribute):
                yield from _graphs(body)


def _tensors(graph: Any) -> Iterator[Any]:
    for each in _graphs(graph):
        yield from each.initializer


def _require_inside(tensor: Any, folder: str, path: str) -> None:
    """:raises Damaged: if the file of a weight is missing, or outside the model's folder"""
    if tensor.data_location != _EXTERNAL:
        return
    name = next((each.value for each in tensor.external_data if each.key == "location"), "")
    if not name or os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
        said = f"the weight `{tensor.name}` is outside the model's folder: `{name}`"
        raise Damaged(said, name="external-data", path=path)
    if not os.path.isfile(os.path.join(folder, name)):
        said = f"external data not found: `{name}`, of the weight `{tensor.name}`"
        raise Damaged(said, name="external-data", path=path)


def _move_constants(graph: Any) -> None:
    """Turn the main graph's large Constants into initializers, as onnxruntime does when it loads a model."""
    kept = []
    for node in graph.node:
        value = next((each.t for each in node.attribute if each.name == "value"), None)
        if node.op_type == "Constant" and value is not None and value.ByteSize() > LARGE:
            made = graph.initializer.add()
            made.CopyFrom(value)
            made.name = node.output[0]
        else:
            kept.append(node)
    if len(kept) < len(graph.node):
        copies = [type(node).FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)


def _kept_apart(graph: Any) -> dict[str, Any]:
    """Remove the large weights from the main graph, and mark them as external."""
    from onnx import TensorProto, numpy_helper

    usual = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8}
    usual |= {TensorProto.INT32, TensorProto.INT64}
    weights = {}
    for tensor in graph.initializer:
        if tensor.data_location == _EXTERNAL or tensor.data_type not in usual or tensor.ByteSize() <= LARGE:
            continue
        weights[tensor.name] = array = numpy_helper.to_array(tensor)
        bare = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        bare.data_location = TensorProto.EXTERNAL
        for key, value in (("location", _APART), ("offset", "0"), ("length", str(array.nbytes))):
            entry = bare.external_data.add()
            entry.key, entry.value = key, value
        tensor.CopyFrom(bare)
    return weights


def _name_once(graph: Any) -> None:
    """Remove duplicate names of nodes: onnxruntime refuses them."""
    seen = set()
    for node in graph.node:
        if node.name in seen:
            node.name = ""
        seen.add(node.name)


def _seed(graph: Any) -> None:
    """Give operators that draw random numbers a seed, so that both computations draw the same numbers."""
    for number, node in enumerate(graph.node):
        if node.op_type in _RANDOM and all(each.name != "seed" for each in node.attribute):
            made = node.attribute.add()
            made.name, made.type, made.f = "seed", 1, float(number + 1)
