"""An ONNX model as a simulation needs it: every node in one list, large weights kept apart.

It is a copy of the ModelProto that the graph was read from. Weights above a megabyte, and those in other files, are
kept as arrays and handed to every session as they are.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.onnx_opsets import is_standard
from ...errors import Damaged, Refused
from ...opening import open_inside
from ..graph.readers.onnx import EXTERNAL, bodies, graphs, other_tensors, without_large
from .packages import load_package

if TYPE_CHECKING:
    from typing import Any

LARGE = 1 << 20
"""Bytes of a weight above which it is kept apart."""
IR_VERSIONS = 8, 10
"""IR versions: the oldest that allows weights that are not inputs and has every inserted operator, and the newest that
every accepted onnxruntime reads; a newer one adds dtypes, which onnxruntime checks itself.
"""
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
    :ivar weights: the large weights by name, as arrays
    :ivar scopes: the GraphProto of the main graph and of each body
    :ivar nodes: all nodes, those of the main graph first
    """

    def __init__(self, proto: Any, weights: dict[str, Any]) -> None:
        self.proto = proto
        self.weights = weights
        self.scopes: list[Any] = []
        self.nodes: list[FlatNode] = []
        self._of_scope: list[list[int]] = []
        self._bodies: dict[int, list[tuple[str, int]]] = {}
        self._add(proto.graph)

    @classmethod
    def of(cls, proto: Any, path: str) -> OnnxFile:
        """Prepare the ModelProto that the graph was read from, which stays as it is.

        :raises Damaged: if external data is missing or outside the model's folder
        """
        folder = os.path.dirname(os.path.abspath(path))
        weights: dict[str, Any] = {}
        made = without_large(proto, LARGE, partial(_set_apart, weights))
        _read_external(made.graph, folder, path, weights)
        oldest, newest = IR_VERSIONS
        made.ir_version = min(max(proto.ir_version, oldest), newest)
        _move_constants(made.graph, weights)
        for graph in graphs(made.graph):
            names = set()
            for number, node in enumerate(graph.node, 1):
                in_training = node.op_type == "Dropout" and len(node.input) > 2
                has_seed = any(attribute.name == "seed" for attribute in node.attribute)
                if (node.op_type in _RANDOM or in_training) and not has_seed:
                    seed = number if in_training else float(number)  # both computations draw the same numbers
                    node.attribute.append(load_package("onnx").helper.make_attribute("seed", seed))
                if node.name in names:  # onnxruntime refuses a name that repeats
                    node.name = ""
                names.add(node.name)
        return cls(made, weights)

    @property
    def opset(self) -> int:
        """Return the version of the default domain."""
        found = [entry.version for entry in self.proto.opset_import if is_standard(entry.domain)]
        return int(found[0]) if found else 1

    def weight(self, tensor: Any) -> Any:
        """Return the values of an initializer as an array."""
        from onnx import numpy_helper

        kept = self.weights.get(tensor.name)
        return numpy_helper.to_array(tensor) if kept is None else kept

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
            for attribute, body in bodies(self.nodes[number].proto):
                self._bodies.setdefault(number, []).append((attribute, self._add(body)))
        return scope


def _read_external(main: Any, folder: str, path: str, weights: dict[str, Any]) -> None:
    """Read values in other files, so that onnxruntime opens none: it follows links and names that lead elsewhere.

    :raises Damaged: if a file is missing, outside the model's folder, or too short
    """
    for graph in graphs(main):
        for tensor in other_tensors(graph):
            if tensor.data_location == EXTERNAL:
                _take_in(tensor, _external(tensor, folder, path))
        for tensor in graph.initializer:
            if tensor.data_location == EXTERNAL and not (graph is main and tensor.name in weights):
                data = _external(tensor, folder, path)
                kept = _set_apart(weights, tensor, data) if graph is main else None
                if kept is None:
                    _take_in(tensor, data)
                else:
                    tensor.CopyFrom(kept)


def _take_in(tensor: Any, data: Any) -> None:
    tensor.raw_data = data.tobytes()
    tensor.data_location = 0  # external_data is read no longer


def _external(tensor: Any, folder: str, path: str) -> Any:
    """Return the bytes of a tensor in another file, as an array that maps them."""
    np = load_package("numpy")
    entries = {entry.key: entry.value for entry in tensor.external_data}
    name = entries.get("location", "")
    try:
        with open_inside(folder, name) as file:
            offset, end = int(entries.get("offset", "0")), file.seek(0, os.SEEK_END)
            size = int(entries.get("length", end - offset))
            if not 0 <= offset <= offset + size <= end:
                raise ValueError(f"`{name}` has {end} bytes")
            return np.memmap(file, "u1", "r", offset, size) if size else np.empty(0, "u1")
    except ValueError as error:
        message = f"the place of the weight `{tensor.name}` in its file is wrong: {error}"
    except Refused as refused:
        if refused.name == "outside":
            message = f"the weight `{tensor.name}` is outside the model's folder: `{name}`"
        elif not os.path.lexists(os.path.join(folder, name)):
            message = f"external data not found: `{name}`, of the weight `{tensor.name}`"
        else:
            raise
    raise Damaged(message, name="external-data", path=path)


def _move_constants(graph: Any, weights: dict[str, Any]) -> None:
    """Turn the main graph's large Constants into initializers, as onnxruntime does when it loads a model."""
    kept = []
    for node in graph.node:
        value = next((attribute.t for attribute in node.attribute if attribute.name == "value"), None)
        if node.op_type == "Constant" and value is not None and value.ByteSize() > LARGE:
            made = graph.initializer.add()
            made.CopyFrom(value)
            made.name = node.output[0]
            made.CopyFrom(_set_apart(weights, made) or made)
        else:
            kept.append(node)
    if len(kept) < len(graph.node):
        copies = [type(node).FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)


def _set_apart(weights: dict[str, Any], tensor: Any, data: Any = None) -> Any:
    """Put the values of a large weight into ``weights``, and return it marked as external; None if it stays.

    :param data: its bytes, if they are in another file
    """
    from onnx import TensorProto, helper, numpy_helper

    usual = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8}
    if tensor.data_type not in usual | {TensorProto.INT32, TensorProto.INT64}:
        return None
    if data is None:
        array = numpy_helper.to_array(tensor)
    else:
        array = data.view(helper.tensor_dtype_to_np_dtype(tensor.data_type)).reshape(tuple(tensor.dims))
    weights[tensor.name] = array
    bare = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    bare.data_location = TensorProto.EXTERNAL
    for key, value in (("location", _APART), ("offset", "0"), ("length", str(array.nbytes))):
        entry = bare.external_data.add()
        entry.key, entry.value = key, value
    return bare
