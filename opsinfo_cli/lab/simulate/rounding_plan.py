"""The tensors of an ONNX model to round, and their dtypes, derived from an answer of the judge.

An ONNX node becomes a group of CANN nodes; where nodes were fused, several have one group. Values have the names of the
model in both, so that the group of a node is the one that yields its outputs, or in which they vanished.

A tensor takes the dtype of the first of its deciders that makes it low, the innermost first. The deciders of an input
are the first node of the group that reads it; what reads it behind nodes that only move values, so that the convolution
decides behind an Unsqueeze; and last the Data that passes it into a body. Those of an output are the node that yields
it, and what yields it before nodes that only move values. Values between others are inner values, which are not
rounded.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.cann.dtype_names import LOW
from ..graph.graph import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..graph.graph import GraphNode, ModelGraph, Origin, Subgraph
    from ..graph.result import Answer
    from .onnx_model import OnnxFile

ROUNDED = LOW | {"hf32"}
STORED = frozenset({"float32", "float64", "float16", "bfloat16"})
"""Dtypes of a model whose tensors can be rounded."""
_NOT_READING = frozenset({"Shape"})
"""Operators added by an expansion that do not read the values of their input."""
_MOVING = frozenset(
    (
        *("Unsqueeze", "Squeeze", "ExpandDims", "Reshape", "Flatten"),
        *("Transpose", "TransposeD", "BroadcastTo", "Identity", "TensorMove"),
    )
)
"""Operators added by an expansion that yield the values of their first input."""


class TensorSide(IntEnum):
    """Where a tensor is rounded: as it enters a node, as it leaves it, or as an output of a graph."""

    INPUT = 0
    OUTPUT = 1
    RESULT = 2


class Spot(NamedTuple):
    """A place in the model.

    :param owner: the number of the ONNX node; for an output of a graph, the number of the graph
    :param number: of the node's input or output, or of the graph's output
    """

    side: TensorSide
    owner: int
    number: int


class RoundedTensor(NamedTuple):
    """A tensor and the dtype that it is rounded to.

    :param type: the op type of the deciding node, and ``node`` its name
    """

    dtype: str
    own: str
    type: str
    node: str


class RoundingPlan(dict[Spot, RoundedTensor]):
    """Tensors to round. Names of nodes are unique in a subgraph only: those of one name in several bodies go together,
    under the op type of the first.
    """

    @property
    def key(self) -> frozenset[tuple[Spot, str]]:
        """Equal for plans that round alike."""
        return frozenset((spot, tensor.dtype) for spot, tensor in self.items())

    @property
    def dtypes(self) -> set[str]:
        return {tensor.dtype for tensor in self.values()}

    @property
    def owners(self) -> set[int]:
        """The numbers of the ONNX nodes at which tensors are rounded."""
        return {spot.owner for spot in self if spot.side is not TensorSide.RESULT}

    @property
    def types(self) -> dict[str, tuple[str, ...]]:
        """The op types at whose nodes tensors are rounded, each with the names of the nodes."""
        found: dict[str, dict[str, None]] = {}
        for spot, tensor in self.items():
            if spot.side is not TensorSide.RESULT:
                found.setdefault(tensor.type, {})[tensor.node] = None
        return {op_type: tuple(nodes) for op_type, nodes in found.items()}

    @property
    def nodes(self) -> dict[str, str]:
        """The names of the nodes at which tensors are rounded, each with its op type."""
        found: dict[str, str] = {}
        for op_type, names in self.types.items():
            for name in names:
                found.setdefault(name, op_type)
        return found

    def only(self, op_type: str | None = None, node: str | None = None) -> RoundingPlan:
        """Return the part of the plan at the nodes of an op type, or at a node."""
        return RoundingPlan(
            (spot, tensor)
            for spot, tensor in self.items()
            if op_type in (None, tensor.type) and node in (None, tensor.node)
        )


class Decider(NamedTuple):
    """A node of the graph that can make a tensor low.

    :param slot: the slot of its input, or of its output, that holds the tensor
    :param type: the op type of the node that is named, and ``name`` its name
    """

    is_input: bool
    slot: int
    type: str
    name: str


class RoundingPlace(NamedTuple):
    """A value that a policy can make low.

    :param own: its dtype in the file
    :param deciders: the innermost first
    """

    spot: Spot
    own: str | None
    deciders: tuple[Decider, ...]


class TensorPlaces:
    """The tensors of a model that a policy can make low.

    :ivar all: by side, in the order of the model
    :ivar names: for each ONNX node, its name in reports and its op type in CANN
    :ivar read: the values that each ONNX node reads; in place of one that vanished in a fused node, what yields it
    :ivar expanded: the ONNX nodes that became several CANN nodes, by name, each with the number of its inner values
    """

    def __init__(self) -> None:
        self.all: list[RoundingPlace] = []
        self.names: dict[int, tuple[str, str]] = {}
        self.read: dict[int, tuple[str, ...]] = {}
        self.expanded: list[tuple[str, int]] = []


def tensor_places(file: OnnxFile, graph: ModelGraph) -> TensorPlaces:
    """Find the tensors."""
    finder = _Finder(file, graph)
    finder.scope(graph.subgraphs[0], 0)
    finder.places.all.sort(key=lambda place: place.spot.side)
    return finder.places


class _Part(NamedTuple):
    """A CANN node of the group of an ONNX node."""

    node: GraphNode
    origin: Origin


class _Finder:
    def __init__(self, file: OnnxFile, graph: ModelGraph) -> None:
        self.file = file
        self.graph = graph
        self.slots = graph.slots
        self.places = TensorPlaces()
        self._read_by: dict[str, tuple[str, ...]] = {}
        """By value that vanished when nodes were fused, what its node reads."""
        self.bodies: dict[int, list[Subgraph]] = {}
        for subgraph in graph.subgraphs[1:]:
            if subgraph.parent is not None:
                self.bodies.setdefault(subgraph.parent, []).append(subgraph)

    def scope(self, subgraph: Subgraph, scope: int) -> None:
        """Find the tensors of the main graph or of a body."""
        groups: dict[int, list[_Part]] = {}
        group_of: dict[str, list[_Part]] = {}
        passed_in: dict[str, GraphNode] = {}
        for node in self.graph.nodes[subgraph.nodes.start : subgraph.nodes.stop]:
            origin = node.origin
            if origin is None:
                if node.type == "NetOutput":
                    self._result_places(scope, node)
            elif origin.number < 0:
                passed_in[origin.outputs[0]] = node
            else:
                group = groups.setdefault(origin.number, [])
                group.append(_Part(node, origin))
                group_of.update((value, group) for value in (*origin.outputs, *origin.inner) if value)
        for number in self.file.nodes_of(scope):
            proto = self.file.nodes[number].proto
            group = next((group_of[value] for value in proto.output if value in group_of), [])
            if group:
                self._node(number, proto, group, passed_in if scope else {})

    def _node(self, number: int, proto: Any, group: list[_Part], passed_in: Mapping[str, GraphNode]) -> None:
        """Find the tensors of an ONNX node.

        :param passed_in: the Data of the body that it is in, by value
        """
        main = next((part for part in group if part.origin.main), group[0])
        if main.node.type in CONSTANTS:
            return
        self.places.names[number] = main.node.name, main.node.type
        self._read(number, proto, group)
        self._input_places(number, proto.input, group, passed_in)
        self._output_places(number, proto.output, group)
        inner = _inner(group, proto.output)
        if inner:
            self.places.expanded.append((main.node.name, inner))
        left = list(self.bodies.get(main.node.index, ()))
        for attribute, scope in self.file.bodies_of(number):
            body = next((subgraph for subgraph in left if subgraph.name.rpartition("/")[2] == attribute), None)
            if body is not None:
                left.remove(body)
                self.scope(body, scope)

    def _read(self, number: int, proto: Any, group: list[_Part]) -> None:
        """Note what an ONNX node reads; a value that vanished in a group stands for what the node of that reads."""
        read = tuple(behind for value in proto.input for behind in self._read_by.get(value, (value,)))
        self.places.read[number] = read
        vanished = {value for part in group for value in part.origin.inner}
        self._read_by.update(dict.fromkeys(vanished.intersection(proto.output), read))

    def _input_places(
        self, number: int, values: Sequence[str], group: list[_Part], passed_in: Mapping[str, GraphNode]
    ) -> None:
        """Find the inputs that a node of the group reads; the n-th use of a value goes to its n-th reader."""
        readers = _readers(group)
        uses: Counter[str] = Counter()
        for at, value in enumerate(values):
            steps = readers.get(value)
            if not value or not steps:
                continue
            (node, origin), place = steps[min(uses[value], len(steps) - 1)]
            uses[value] += 1
            first = self._input(node, place)
            deciders = [first]
            while place == 0 and node.type in _MOVING and (behind := readers.get(_first(origin.outputs))):
                (node, origin), place = behind[0]
                deciders.append(self._input(node, place))
            if value in passed_in:  # the Data has no name in the model; what reads it first is named
                slot = self.slots.outputs_of[passed_in[value].index]
                deciders.insert(0, first._replace(is_input=False, slot=slot))
            own = self.slots.inputs[first.slot].first_dtype
            self.places.all.append(RoundingPlace(Spot(TensorSide.INPUT, number, at), own, tuple(reversed(deciders))))

    def _output_places(self, number: int, values: Sequence[str], group: list[_Part]) -> None:
        """Find the outputs that a node of the group yields."""
        given = {value: (part, at) for part in group for at, value in enumerate(part.origin.outputs) if value}
        for at, value in enumerate(values):
            step = given.get(value)
            deciders: list[Decider] = []
            while step is not None:
                (node, origin), place = step
                slot = self.slots.outputs_of[node.index] + place
                deciders.append(Decider(False, slot, node.type, node.name))
                step = given.get(_first(origin.inputs)) if node.type in _MOVING else None
            if deciders:
                own = self.slots.outputs[deciders[0].slot].first_dtype
                spot = Spot(TensorSide.OUTPUT, number, at)
                self.places.all.append(RoundingPlace(spot, own, tuple(reversed(deciders))))

    def _result_places(self, scope: int, output: GraphNode) -> None:
        for at in range(len(output.sources)):
            decider = self._input(output, at)
            own = self.slots.inputs[decider.slot].first_dtype
            self.places.all.append(RoundingPlace(Spot(TensorSide.RESULT, scope, at), own, (decider,)))

    def _input(self, node: GraphNode, number: int) -> Decider:
        return Decider(True, self.slots.inputs_of[node.index] + number, node.type, node.name)


def _first(values: Sequence[str]) -> str:
    return next(iter(values), "")


def _inner(group: list[_Part], outputs: Sequence[str]) -> int:
    """Return how many values between the nodes of a group cannot be rounded."""
    same = {value for node, origin in group if node.type in _MOVING for value in (*origin.inputs, *origin.outputs)}
    return len(
        {
            value
            for node, origin in group
            if node.type not in CONSTANTS and node.type not in _NOT_READING
            if not origin.inner  # else it came from several, and its outputs are the model's
            for value in origin.outputs
            if value and value not in outputs and value not in same
        }
    )


def _readers(group: list[_Part]) -> dict[str, list[tuple[_Part, int]]]:
    """Return the inputs that read each value, for its first reader."""
    readers: dict[str, list[tuple[_Part, int]]] = {}
    for part in group:
        if part.node.type in _NOT_READING and len(group) > 1:
            continue
        own: dict[str, list[tuple[_Part, int]]] = {}
        for at, value in (*enumerate(part.origin.inputs), *part.origin.merged):
            if value:
                own.setdefault(value, []).append((part, at))
        for value, steps in own.items():
            readers.setdefault(value, steps)
    return readers


def rounding_plan(places: TensorPlaces, answer: Answer) -> RoundingPlan:
    """Return the plan of an answer: the floating-point tensors that become low, and inputs that are read as HF32."""
    inputs, outputs = answer.inputs, answer.outputs
    if answer.in_hf32:
        nodes = set(answer.in_hf32)
        pairs = zip(inputs, answer.graph.slots.consumer, strict=True)
        inputs = ["hf32" if dtype == "float32" and node in nodes else dtype for dtype, node in pairs]
    plan = RoundingPlan()
    for place in places.all:
        if place.own not in STORED:
            continue
        for decider in place.deciders:
            dtype = (inputs if decider.is_input else outputs)[decider.slot]
            if dtype in ROUNDED:
                if dtype != place.own:
                    plan[place.spot] = RoundedTensor(dtype, place.own, decider.type, decider.name)
                break
    return plan


def unknown_tensors(places: TensorPlaces) -> int:
    """Return how many inputs and outputs of judged nodes have no known dtype and are therefore not rounded."""
    return sum(place.own is None and place.spot.side is not TensorSide.RESULT for place in places.all)
