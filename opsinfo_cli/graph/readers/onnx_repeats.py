"""Types of a large ONNX model's inner tensors: the ``onnx`` package infers one node of each kind, not every node.

Large models repeat layers. Nodes with the same operator, attributes, input types and values of small constants have the
same output types. Inference of the whole model takes a third of the time of a command on 100,000 nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
"""A model hardly repeats itself if it has more kinds than the first number, and one per so many nodes."""
_ABSENT = GraphTensor("absent")
_UNKNOWN = -1


class _Unlike(Exception):
    """A node that requires inference of the whole model."""


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
    values = _Values(model)
    number_of = values.number_of
    kinds: dict[object, list[int]] = {}
    number_at = number_of.__getitem__
    for at, node in enumerate(model.graph.nodes):
        if node.type == CONST:
            continue
        given = node.outputs
        inputs = tuple(map(number_at, node.inputs))
        absent = tuple(map(bool, given)) if "" in given else len(given)
        key = (node.op, node.raw_attributes, inputs, absent)
        outputs = kinds.get(key)
        if outputs is None:
            if len(kinds) > _FIRST_KINDS + at // _NODES_OF_A_KIND:
                raise _Unlike
            found = _inferred(node, [values.facts[number] for number in inputs], model.opsets)
            outputs = kinds[key] = [_UNKNOWN if tensor is None else values.number(tensor) for tensor in found]
        for value, number in zip(given, outputs, strict=True):
            if number != _UNKNOWN and (said := number_of.setdefault(value, number)) != number:
                number_of[value] = values.merged(said, number)
    del number_of[""]
    tensors = [fact.tensor for fact in values.facts]
    return {value: tensors[number] for value, number in number_of.items()}


class _Fact(NamedTuple):
    """The facts that inference uses of a value.

    :param constant: a small constant without its name, as in :attr:`.OnnxModel.data`; empty for other values
    """

    tensor: GraphTensor
    constant: bytes = b""


class _Values:
    """Numbers of distinct facts: comparing numbers is much faster than comparing types.

    :ivar number_of: the number of each value's facts; of an absent input that of no facts
    """

    def __init__(self, model: OnnxModel) -> None:
        """:raises _Unlike: if the graph has a constant that is not a plain tensor"""
        data, tensors = model.data, model.graph.tensors
        if any(node.outputs[0] not in data for node in model.graph.nodes if node.type == CONST):
            raise _Unlike
        self.facts = [_Fact(_ABSENT)]
        self._numbers: dict[tuple[GraphTensor, bytes], int] = {}
        large = {id(tensor): self.number(tensor) for tensor in {id(each): each for each in tensors.values()}.values()}
        self.number_of = {
            value: self.number(tensor, small) if (small := data.get(value)) else large[id(tensor)]
            for value, tensor in tensors.items()
        }
        self.number_of[""] = 0

    def number(self, tensor: GraphTensor, constant: bytes = b"") -> int:
        number = self._numbers.setdefault((tensor, constant), len(self.facts))
        if number == len(self.facts):
            self.facts.append(_Fact(tensor, constant))
        return number

    def merged(self, said: int, found: int) -> int:
        """Return the number of the facts in the file, completed by inferred dimensions.

        :raises _Unlike: if the two contradict each other
        """
        return said if said == found else self.number(_merged(self.facts[said].tensor, self.facts[found].tensor))


def _inferred(node: SourceNode, inputs: list[_Fact], opsets: dict[str, int]) -> Outputs:
    """Return the output types of a node; None if absent or unknown."""
    from onnx import AttributeProto, NodeProto, OperatorSetIdProto, TensorProto
    from onnx.defs import get_schema
    from onnx.shape_inference import infer_node_outputs

    domain, _, op = node.op.rpartition("::")
    schema = get_schema(op, opsets[domain], domain)
    if not schema.has_type_and_shape_inference_function:
        raise _Unlike
    given = {f"in{number}": fact for number, fact in enumerate(inputs) if fact.tensor is not _ABSENT}
    names = [f"in{number}" if f"in{number}" in given else "" for number in range(len(inputs))]
    made = NodeProto(op_type=op, domain=domain, input=names)
    made.output.extend(f"out{number}" if value else "" for number, value in enumerate(node.outputs))
    made.attribute.extend(map(AttributeProto.FromString, node.raw_attributes))
    found = infer_node_outputs(
        schema,
        made,
        {name: _type(fact.tensor) for name, fact in given.items()},
        {name: TensorProto.FromString(fact.constant) for name, fact in given.items() if fact.constant},
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
