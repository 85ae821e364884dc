"""The tensors of an ONNX model to round, and their dtypes, derived from an answer of the judge.

One ONNX node can become several CANN nodes. The first one that reads a value decides how the value is rounded as an
input, and the one that yields an output how that output is rounded; what only moves values is passed, so that the
convolution decides behind an Unsqueeze. Values between others are inner values, which are not rounded.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.cann.dtype_names import LOW
from ..graph.graph import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..graph.graph import GraphNode, ModelGraph, Slots, Subgraph
    from ..graph.result import Answer
    from .onnx_model import OnnxFile

    Step = tuple[GraphNode, int]
    Dtypes = Sequence[str | None]

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
        return {name: op_type for op_type, names in self.types.items() for name in names}

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
    """

    slot: int
    type: str
    name: str


class RoundingPlace(NamedTuple):
    """A value that a policy can make low.

    :param deciders: the outermost first; the others hold the same values, behind nodes that only move them
    :param origin: the output slot of the body's Data that passes the value in; -1: there is none
    """

    spot: Spot
    deciders: tuple[Decider, ...]
    origin: int = -1


class Expansion(NamedTuple):
    """An ONNX node that became several CANN nodes."""

    name: str
    inner: int


class TensorPlaces:
    """The tensors of a model that a policy can make low.

    :ivar all: by side, in the order of the model
    :ivar names: for each ONNX node, its name in reports and its op type in CANN
    :ivar read: the values that each ONNX node reads; in place of one that vanished in a fused node, what yields it
    """

    def __init__(self) -> None:
        self.all: list[RoundingPlace] = []
        self.names: dict[int, tuple[str, str]] = {}
        self.read: dict[int, tuple[str, ...]] = {}
        self.expanded: list[Expansion] = []


def tensor_places(file: OnnxFile, graph: ModelGraph) -> TensorPlaces:
    """Find the tensors."""
    finder = _Finder(file, graph)
    finder.scope(graph.subgraphs[0], 0)
    finder.places.all.sort(key=lambda place: place.spot.side)
    return finder.places


class _Finder:
    def __init__(self, file: OnnxFile, graph: ModelGraph) -> None:
        self.file = file
        self.graph = graph
        self.places = TensorPlaces()
        self._read_by: dict[str, tuple[str, ...]] = {}
        """By value that vanished when nodes were fused, what its node reads."""
        self.bodies: dict[int, list[Subgraph]] = {}
        for subgraph in graph.subgraphs[1:]:
            if subgraph.parent is not None:
                self.bodies.setdefault(subgraph.parent, []).append(subgraph)

    def scope(self, subgraph: Subgraph, scope: int) -> None:
        """Find the tensors of the main graph or of a body."""
        groups: dict[int, list[GraphNode]] = {}
        inputs: dict[str, GraphNode] = {}
        owner: dict[str, list[GraphNode]] = {}
        for node in self.graph.nodes[subgraph.nodes.start : subgraph.nodes.stop]:
            if node.origin is None:
                if node.type == "NetOutput":
                    self._outputs(scope, node)
            elif node.origin.number < 0:
                inputs[node.origin.outputs[0]] = node
            else:
                group = groups.setdefault(node.origin.number, [])
                group.append(node)
                owner.update((value, group) for value in (*node.origin.outputs, *node.origin.inner) if value)
        for number in self.file.nodes_of(scope):
            proto = self.file.nodes[number].proto
            group = next((owner[value] for value in proto.output if value in owner), [])
            if group:
                self._node(number, proto, group, inputs if scope else {})

    def _node(self, number: int, proto: Any, group: list[GraphNode], inputs: Mapping[str, GraphNode]) -> None:
        """Find the tensors of an ONNX node.

        :param group: the nodes that it became
        :param inputs: the Data of the body that it is in, by the value that each passes in
        """
        main = next((node for node in group if node.origin is not None and node.origin.main), group[0])
        if main.type in CONSTANTS:
            return
        self.places.names[number] = main.name, main.type
        self._read(number, proto, group)
        given = {value: (node, at) for node in group for at, value in enumerate(_outputs(node)) if value}
        self._input_places(number, proto.input, main, group, given, inputs)
        self._output_places(number, proto.output, given)
        inner = _inner(group, proto.output)
        if inner:
            self.places.expanded.append(Expansion(main.name, inner))
        left = list(self.bodies.get(main.index, ()))
        for attribute, scope in self.file.bodies_of(number):
            body = next((subgraph for subgraph in left if subgraph.name.rpartition("/")[2] == attribute), None)
            if body is not None:
                left.remove(body)
                self.scope(body, scope)

    def _read(self, number: int, proto: Any, group: list[GraphNode]) -> None:
        """Note what an ONNX node reads; a value that vanished in a fused node stands for what that node reads."""
        vanished = {value for node in group if node.origin is not None for value in node.origin.inner}
        read = tuple(
            behind
            for value in proto.input
            for behind in (self._read_by.get(value, (value,)) if value in vanished else (value,))
        )
        self.places.read[number] = read
        self._read_by.update(dict.fromkeys(vanished.intersection(proto.output), read))

    def _input_places(
        self,
        number: int,
        values: Sequence[str],
        main: GraphNode,
        group: list[GraphNode],
        given: Mapping[str, Step],
        inputs: Mapping[str, GraphNode],
    ) -> None:
        """Find the inputs that a node of the group reads; the n-th use of a value goes to its n-th reader."""
        slots = self.graph.slots
        readers = _readers(group)
        uses: Counter[str] = Counter()
        for at, value in enumerate(values):
            steps = readers.get(value)
            of_main = _inputs(main)[at] if at < len(_inputs(main)) else ""
            if not steps and of_main in given and given[of_main][0].type in CONSTANTS:
                steps = [(main, at)]  # it reads a weight in another form, which the compiler computes
            if not value or not steps:
                continue
            step = steps[min(uses[value], len(steps) - 1)]
            uses[value] += 1
            deciders = [self._decider(step, slots.inputs_of)]
            while step[1] == 0 and step[0].type in _MOVING:
                behind = readers.get(_first(_outputs(step[0])))
                if behind is None:
                    break
                step = behind[0]
                deciders.append(self._decider(step, slots.inputs_of))
            origin = slots.outputs_of[inputs[value].index] if value in inputs else -1
            self.places.all.append(RoundingPlace(Spot(TensorSide.INPUT, number, at), tuple(deciders), origin))

    def _output_places(self, number: int, values: Sequence[str], given: Mapping[str, Step]) -> None:
        """Find the outputs that a node of the group yields."""
        for at, value in enumerate(values):
            step = given.get(value)
            deciders: list[Decider] = []
            while step is not None:
                deciders.append(self._decider(step, self.graph.slots.outputs_of))
                step = given.get(_first(_inputs(step[0]))) if step[0].type in _MOVING else None
            if deciders:
                self.places.all.append(RoundingPlace(Spot(TensorSide.OUTPUT, number, at), tuple(deciders)))

    def _outputs(self, scope: int, output: GraphNode) -> None:
        for at in range(len(output.sources)):
            decider = self._decider((output, at), self.graph.slots.inputs_of)
            self.places.all.append(RoundingPlace(Spot(TensorSide.RESULT, scope, at), (decider,)))

    @staticmethod
    def _decider(step: Step, starts: Sequence[int]) -> Decider:
        node, number = step
        return Decider(starts[node.index] + number, node.type, node.name)


def _inputs(node: GraphNode) -> Sequence[str]:
    return () if node.origin is None else node.origin.inputs


def _outputs(node: GraphNode) -> Sequence[str]:
    return () if node.origin is None else node.origin.outputs


def _first(values: Sequence[str]) -> str:
    return next(iter(values), "")


def _inner(group: list[GraphNode], outputs: Sequence[str]) -> int:
    """Return how many values between the nodes of a group cannot be rounded."""
    same = {value for node in group if node.type in _MOVING for value in (*_inputs(node), *_outputs(node))}
    return len(
        {
            value
            for node in group
            if node.type not in CONSTANTS and node.type not in _NOT_READING
            if not (node.origin and node.origin.inner)  # else it came from several, and its outputs are the model's
            for value in _outputs(node)
            if value and value not in outputs and value not in same
        }
    )


def _readers(group: list[GraphNode]) -> dict[str, list[Step]]:
    """Return the inputs that read each value, for its first reader."""
    found: dict[str, list[Step]] = {}
    for node in group:
        if (node.type in _NOT_READING and len(group) > 1) or node.origin is None:
            continue
        own: dict[str, list[Step]] = {}
        for at, value in (*enumerate(node.origin.inputs), *node.origin.merged):
            if value:
                own.setdefault(value, []).append((node, at))
        for value, slots in own.items():
            found.setdefault(value, slots)
    return found


def rounding_plan(places: TensorPlaces, answer: Answer) -> RoundingPlan:
    """Return the plan of an answer: the floating-point tensors that become low, and inputs that are read as HF32."""
    slots = answer.graph.slots
    inputs: Dtypes = answer.inputs
    if answer.in_hf32:
        nodes = set(answer.in_hf32)
        pairs = zip(inputs, slots.consumer, strict=True)
        inputs = ["hf32" if dtype == "float32" and node in nodes else dtype for dtype, node in pairs]
    plan = RoundingPlan()
    for place in places.all:
        own = _dtype_in_file(place, slots)
        if own not in STORED:
            continue
        dtypes = answer.outputs if place.spot.side is TensorSide.OUTPUT else inputs
        # the innermost first: it computes with the value, and the others only move it
        choices = [(dtypes[decider.slot], decider) for decider in reversed(place.deciders)]
        if place.origin >= 0:  # the body's Data has no name in the model; what reads it first is named
            choices.append((answer.outputs[place.origin], place.deciders[0]))
        dtype, by = next(((dtype, by) for dtype, by in choices if dtype in ROUNDED), (own, place.deciders[0]))
        if dtype is not None and dtype != own:
            plan[place.spot] = RoundedTensor(dtype, own, by.type, by.name)
    return plan


def unknown_tensors(places: TensorPlaces, answer: Answer) -> int:
    """Return how many inputs and outputs of judged nodes have no known dtype and are therefore not rounded."""
    nodes = (place for place in places.all if place.spot.side is not TensorSide.RESULT)
    return sum(_dtype_in_file(place, answer.graph.slots) is None for place in nodes)


def _dtype_in_file(place: RoundingPlace, slots: Slots) -> str | None:
    tensors = slots.outputs if place.spot.side is TensorSide.OUTPUT else slots.inputs
    return tensors[place.deciders[0].slot].first_dtype
