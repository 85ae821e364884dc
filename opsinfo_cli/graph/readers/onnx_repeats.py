"""Types of a large ONNX model's inner tensors: the ``onnx`` package infers one node of each kind, not every node.

Large models repeat layers. Nodes with the same operator, attributes, input types and values of small constants have the
same output types. Inference of the whole model takes a third of the time of a command on 100,000 nodes.
"""

from __future__ import annotations

from ...typed import TYPE_CHECKING
from ..graph import GraphTensor
from .dtypes import ONNX, onnx_dtype
from .source import CONST

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .onnx_structure import OnnxModel
    from .source import SourceNode

    Outputs: TypeAlias = tuple[GraphTensor | None, ...]

_MANY = 2000
"""Nodes from which on this is faster than inference of the whole model, about 1 ms for 100 nodes."""
_FIRST_KINDS, _NODES_OF_A_KIND = 200, 16
"""A model with more kinds than the first number and one for so many nodes hardly repeats itself."""


class _Unlike(Exception):
    """A node that only inference of the whole model answers."""


def infer_repeats(model: OnnxModel) -> bool:
    """Add the types of inner tensors to a model's graph.

    :return: False, with the graph unchanged, if the model is small or hardly repeats itself, has bodies, or has a node
        that the package cannot infer by itself; the whole model must be inferred then
    """
    graph = model.graph
    if len(graph.nodes) < _MANY or any(node.bodies for node in graph.nodes):
        return False
    try:
        graph.tensors = _tensors(model)
    except Exception:  # the package raises several kinds of exceptions; inference of the whole model reports them
        return False
    return True


def _tensors(model: OnnxModel) -> dict[str, GraphTensor]:
    """Return the tensors of a graph's values.

    :raises _Unlike: if inference node by node does not suffice
    :raises KeyError: if the type of an input is unknown
    """
    data = model.data
    known: dict[str, GraphTensor | None] = {**model.graph.tensors, "": None}
    kinds: dict[object, Outputs] = {}
    for number, node in enumerate(model.graph.nodes):
        if node.type == CONST:
            if node.outputs[0] not in data:
                raise _Unlike
            continue
        given = tuple([known[value] for value in node.inputs])
        constants = tuple([data.get(value) for value in node.inputs])
        key = (node.op, node.raw_attributes, given, constants, tuple(map(bool, node.outputs)))
        outputs = kinds.get(key)
        if outputs is None:
            if len(kinds) > _FIRST_KINDS + number // _NODES_OF_A_KIND:
                raise _Unlike
            outputs = kinds[key] = _inferred(node, given, constants, model.opsets)
        for value, tensor in zip(node.outputs, outputs, strict=True):
            if tensor is not None:
                said = known.get(value)
                known[value] = tensor if said is None else _merged(said, tensor)
    return {value: tensor for value, tensor in known.items() if tensor is not None}


def _inferred(
    node: SourceNode,
    given: tuple[GraphTensor | None, ...],
    constants: tuple[bytes | None, ...],
    opsets: dict[str, int],
) -> Outputs:
    """Return the output types of a node; None if absent or unknown.

    :param constants: of each input the constant without its name, as :attr:`.OnnxModel.data`
    """
    from onnx import AttributeProto, NodeProto, OperatorSetIdProto, TensorProto
    from onnx.defs import get_schema
    from onnx.shape_inference import infer_node_outputs

    domain, _, op = node.op.rpartition("::")
    schema = get_schema(op, opsets[domain], domain)
    if not schema.has_type_and_shape_inference_function:
        raise _Unlike
    names = [f"in{number}" if tensor else "" for number, tensor in enumerate(given)]
    made = NodeProto(op_type=op, domain=domain, input=names)
    made.output.extend(f"out{number}" if value else "" for number, value in enumerate(node.outputs))
    made.attribute.extend(map(AttributeProto.FromString, node.raw_attributes))
    found = infer_node_outputs(
        schema,
        made,
        {name: _type(tensor) for name, tensor in zip(names, given, strict=True) if tensor},
        {name: TensorProto.FromString(each) for name, each in zip(names, constants, strict=True) if name and each},
        opset_imports=[OperatorSetIdProto(domain=name, version=version) for name, version in opsets.items()],
    )
    outputs = tuple([_tensor(found[name]) if name and name in found else None for name in made.output])
    if any(tensor is not None and tensor.shape is None for tensor in outputs[1:]):
        raise _Unlike  # for a single node the package adds dtypes of outputs that the operator's inference leaves out
    return outputs


def _type(tensor: GraphTensor) -> Any:
    """Return the package's TypeProto of a tensor.

    :raises _Unlike: if the dtype is unknown
    """
    from onnx import TypeProto

    if tensor.dtype is None:
        raise _Unlike
    made = TypeProto()
    made.tensor_type.elem_type = ONNX.index(tensor.dtype)
    if tensor.shape is not None:
        made.tensor_type.shape.SetInParent()
        for size in tensor.shape:
            dim = made.tensor_type.shape.dim.add()
            if size >= 0:
                dim.dim_value = size
    return made


def _tensor(found: Any) -> GraphTensor:
    """Return the tensor of the package's TypeProto.

    :raises _Unlike: if it is a sequence or another type with tensors inside
    """
    if not found.HasField("tensor_type"):
        raise _Unlike
    made, shape = found.tensor_type, None
    if made.HasField("shape"):
        shape = tuple([dim.dim_value if dim.HasField("dim_value") else -1 for dim in made.shape.dim])
    return GraphTensor(onnx_dtype(made.elem_type), shape=shape)


def _merged(said: GraphTensor, found: GraphTensor) -> GraphTensor:
    """Return the tensor in the file, with the dimensions that it lacks and inference found.

    :raises _Unlike: if the two contradict each other
    """
    if said.dtype != found.dtype:
        raise _Unlike
    if found.shape is None or said.shape == found.shape:
        return said
    if said.shape is None:
        return found
    if any(own != its and own >= 0 and its >= 0 for own, its in zip(said.shape, found.shape, strict=True)):
        raise _Unlike
    return said._replace(shape=tuple(map(max, said.shape, found.shape)))
