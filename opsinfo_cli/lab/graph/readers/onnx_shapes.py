"""Dtypes and shapes of an ONNX model, as the ``onnx`` package infers them with the values that shapes depend on.

Exporters compute the shape for a Reshape or an Expand from the shapes of other tensors. The compiler folds these small
computations before it infers shapes (hicann/ge ffdcbc9f, compiler/graph/preprocess/graph_prepare.cc:2397-2545); here
the package's reference evaluator computes them. ``data_prop`` of the package is not used: it has no limit of memory.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from ....core.cann.onnx_opsets import is_standard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

_OPERATORS = """
Add And Cast Ceil Concat ConstantOfShape Div Equal Expand Floor Gather Greater Identity Less Max Min Mod Mul Neg Not Or
Range ReduceProd Reshape Shape Size Slice Squeeze Sub Transpose Unsqueeze Where
"""
_COMPUTED = frozenset(_OPERATORS.split())
_OF_SHAPE = ("Shape", "Size")
"""Operators that need the shape of their input only."""
_MOST = 1024
"""The number of values of the largest tensor that is computed; shapes are much smaller."""


def infer(proto: Any) -> Any:
    """Return a copy of a model with the dtypes and shapes of its values, and maybe with other operators."""
    from onnx.shape_inference import infer_shapes

    if next(chain(_negatives(proto.graph), _eyes(proto.graph)), None) is not None:
        copy = type(proto)()
        copy.CopyFrom(proto)
        for dim in _negatives(copy.graph):
            dim.ClearField("value")
        for node in _eyes(copy.graph):
            node.op_type = "RandomNormalLike"  # its output has the same dtype and shape
        proto = copy
    found = infer_shapes(proto)
    types = {value.name: value.type for value in _values(found.graph)}
    if any(dims_of(types.get(name)) is None for node in found.graph.node for name in node.output):
        _fill(found, types)
    return found


def _values(graph: Any) -> Iterable[Any]:
    return chain(graph.input, graph.value_info, graph.output)


def _negatives(graph: Any) -> Iterator[Any]:
    """Yield dimensions of -1, which some exporters write for unknown ones."""
    return (dim for value in _values(graph) for dim in value.type.tensor_type.shape.dim if dim.dim_value < 0)


def _eyes(graph: Any) -> Iterator[Any]:
    """Yield EyeLike in a graph and its bodies: onnx 1.23 ends the process at one whose input has no type."""
    for node in graph.node:
        if node.op_type == "EyeLike" and is_standard(node.domain):
            yield node
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from _eyes(body)


def dims_of(kind: Any) -> list[int] | None:
    """Return the dimensions of a type; None if one is not known."""
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    return [dim.dim_value for dim in dims] if all(dim.HasField("dim_value") for dim in dims) else None


def _fill(model: Any, types: dict[str, Any]) -> None:
    """Fill in the shapes that depend on values which can be computed.

    :param types: of the values, by name: parts of the model
    """
    from onnx.helper import make_tensor_type_proto

    opsets = {opset.domain or "ai.onnx": opset.version for opset in model.opset_import}
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    types |= {name: make_tensor_type_proto(tensor.data_type, tensor.dims) for name, tensor in tensors.items()}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            tensors[node.output[0]] = node.attribute[0].t
    constants = {
        name: tensor
        for name, tensor in tensors.items()
        if _is_small(tensor.dims) and tensor.data_location != tensor.EXTERNAL
    }
    changed: set[str] = set()
    for node in model.graph.node:
        given: dict[str, Any] = {name: types.get(name) for name in node.input if name}
        if (
            not is_standard(node.domain)
            or None in given.values()
            or any(attribute.HasField("g") for attribute in node.attribute)
        ):
            continue
        values = {name: constants[name] for name in given if name in constants}
        is_computed = node.op_type in _COMPUTED and (values.keys() == given.keys() or node.op_type in _OF_SHAPE)
        if not is_computed and changed.isdisjoint(given):
            continue
        for name, kind in _infer_node(node, given, values, opsets).items():
            if name not in types:
                types[name] = model.graph.value_info.add(name=name).type
            _add_dims(types[name], kind)
            value = _value(node, given, values, opsets) if is_computed and _is_small(dims_of(kind)) else None
            if value is not None:
                constants[name] = value
            changed.add(name)


def _is_small(dims: Sequence[int] | None) -> bool:
    return dims is not None and prod(dims) <= _MOST


def _infer_node(node: Any, given: dict[str, Any], values: dict[str, Any], opsets: dict[str, int]) -> dict[str, Any]:
    """Return the types of a node's outputs, by name; none if the package cannot infer them."""
    from onnx.defs import get_schema
    from onnx.helper import make_opsetid
    from onnx.shape_inference import infer_node_outputs

    try:
        schema = get_schema(node.op_type, opsets["ai.onnx"], "")
        imports = [make_opsetid("", opsets["ai.onnx"])]
        return infer_node_outputs(schema, node, given, values, opset_imports=imports)
    except Exception:  # the package raises several kinds of exceptions
        return {}


def _add_dims(known: Any, kind: Any) -> None:
    """Add to a type the shape of another one, or the dimensions that only the other one has."""
    if not kind.tensor_type.HasField("shape"):
        return
    if not known.tensor_type.HasField("shape"):
        known.CopyFrom(kind)
    for dim, other in zip(known.tensor_type.shape.dim, kind.tensor_type.shape.dim, strict=False):
        if not dim.HasField("dim_value") and other.HasField("dim_value"):
            dim.dim_value = other.dim_value


def _value(node: Any, given: dict[str, Any], values: dict[str, Any], opsets: dict[str, int]) -> Any:
    """Return the tensor that a node gives; None if it cannot be computed."""
    import numpy as np
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator

    try:
        arrays = {name: numpy_helper.to_array(tensor) for name, tensor in values.items()}
        if node.op_type in _OF_SHAPE:
            dims = dims_of(*given.values())
            arrays = {name: np.broadcast_to(np.int8(), dims) for name in given if dims is not None}
        with np.errstate(all="ignore"):
            results: Any = ReferenceEvaluator(node, opsets=opsets).run(None, arrays)
        return numpy_helper.from_array(np.asarray(results[0]))
    except Exception:  # the package raises several kinds of exceptions
        return None
