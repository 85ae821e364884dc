"""The tensors of an ONNX model to round, and their dtypes, derived from an answer of the judge.

One ONNX node can become several CANN nodes. The first one that reads a value decides how the value is rounded as an
input, and the one that yields an output how that output is rounded; values between them are inner values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..numerics.dtypes import LOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..graph.answer import Answer
    from ..graph.graph import GraphNode, ModelGraph, Subgraph
    from .model import OnnxFile

    Where = tuple[int, int]

STORED = frozenset({"float32", "float64", "float16", "bfloat16"})
"""Dtypes of a model whose tensors can be rounded."""
_NOT_READING = frozenset({"Shape"})
"""Operators added by an expansion that do not read the values of their input."""
_CONSTANTS = frozenset({"Const", "Constant"})


class RoundedTensor(NamedTuple):
    """A tensor and the dtype that it is rounded to.

    :param own: its dtype in the file
    :param type: the op type of the deciding node, and ``node`` its name
    """

    dtype: str
    own: str
    type: str
    node: str


class RoundingPlan:
    """Tensors that are rounded.

    :ivar entries: by the number of an ONNX node and of its input
    :ivar exits: by the number of an ONNX node and of its output
    :ivar outputs: by the number of a graph and of its output
    """

    __slots__ = ("entries", "exits", "outputs")

    def __init__(
        self,
        entries: Mapping[Where, RoundedTensor],
        exits: Mapping[Where, RoundedTensor],
        outputs: Mapping[Where, RoundedTensor],
    ) -> None:
        self.entries = entries
        self.exits = exits
        self.outputs = outputs

    @property
    def key(self) -> frozenset[tuple[int, int, int, str]]:
        """Equal for plans that round alike."""
        return frozenset(
            (side, *where, each.dtype) for side, tensors in enumerate(self._sides) for where, each in tensors.items()
        )

    @property
    def _sides(self) -> tuple[Mapping[Where, RoundedTensor], ...]:
        return self.entries, self.exits, self.outputs

    @property
    def dtypes(self) -> set[str]:
        return {each.dtype for tensors in self._sides for each in tensors.values()}

    def __len__(self) -> int:
        """Places where a tensor is rounded."""
        return sum(map(len, self._sides))

    @property
    def types(self) -> dict[str, tuple[str, ...]]:
        """The op types at whose nodes tensors are rounded, each with the names of the nodes."""
        found: dict[str, dict[str, None]] = {}
        for tensors in (self.entries, self.exits):
            for each in tensors.values():
                found.setdefault(each.type, {})[each.node] = None
        return {op_type: tuple(nodes) for op_type, nodes in found.items()}

    def only(self, op_type: str) -> RoundingPlan:
        """Return the part of the plan at the nodes of one op type."""
        return RoundingPlan(
            *({where: each for where, each in tensors.items() if each.type == op_type} for tensors in self._sides)
        )


class Entering(NamedTuple):
    """A value that enters a node.

    :param node: the number of the ONNX node
    :param slot: the deciding input slot of the graph
    :param origin: the output slot of the body's Data that passes the value in; -1: it comes from a node
    """

    node: int
    input: int
    slot: int
    origin: int
    type: str
    name: str


class Leaving(NamedTuple):
    """A value that leaves a node, or a graph as one of its outputs.

    :param owner: the number of the ONNX node; for an output of a graph, the number of the graph
    :param slot: the deciding output slot of the graph; for an output of a graph, the input slot
    """

    owner: int
    output: int
    slot: int
    type: str
    name: str


class Expanded(NamedTuple):
    """An ONNX node that became several CANN nodes."""

    name: str
    types: tuple[str, ...]
    inner: int


class TensorPlaces:
    """The tensors of a model that a policy can make low.

    :ivar names: for each ONNX node, its name in reports and its op type in CANN
    :ivar read: the values that each ONNX node reads
    """

    def __init__(self) -> None:
        self.entries: list[Entering] = []
        self.exits: list[Leaving] = []
        self.outputs: list[Leaving] = []
        self.names: dict[int, tuple[str, str]] = {}
        self.read: dict[int, tuple[str, ...]] = {}
        self.expanded: list[Expanded] = []


def tensor_places(file: OnnxFile, graph: ModelGraph) -> TensorPlaces:
    """Find the tensors.

    :param file: the model, or its conversion to a newer opset
    :param graph: the graph that is judged
    """
    finder = _Finder(file, graph)
    finder.scope(graph.subgraphs[0], 0)
    return finder.places


class _Finder:
    def __init__(self, file: OnnxFile, graph: ModelGraph) -> None:
        self.file = file
        self.graph = graph
        self.places = TensorPlaces()
        self.bodies: dict[int, list[Subgraph]] = {}
        for subgraph in graph.subgraphs[1:]:
            if subgraph.parent is not None:
                self.bodies.setdefault(subgraph.parent, []).append(subgraph)
        self.made_by = {
            value: number
            for number, node in enumerate(file.nodes)
            for value in node.proto.output
            if value not in file.original
        }

    def scope(self, subgraph: Subgraph, scope: int) -> None:
        """Find the tensors of the main graph or of a body.

        :param scope: the number of the graph in the file
        """
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
                owner.update((value, group) for value in node.origin.outputs if value)
        for number in self.file.nodes_of(scope):
            proto = self.file.nodes[number].proto
            group = next((owner[value] for value in proto.output if value in owner), [])
            if group:
                self._node(number, proto, group, inputs if scope else {})

    def _node(self, number: int, proto: Any, group: list[GraphNode], inputs: Mapping[str, GraphNode]) -> None:
        main = next(node for node in group if node.origin is not None and node.origin.main)
        if main.type in _CONSTANTS:
            return
        places = self.places
        places.names[number] = main.name, main.type
        readers = _readers(group)
        seen: dict[str, int] = {}
        read = list(self._read(number, proto))
        places.read[number] = tuple(value for _, _, value in read)
        for reader, at, value in read:
            slots = readers.get(value)
            if not value or not slots:
                continue
            node, slot = slots[min(seen.get(value, 0), len(slots) - 1)]
            seen[value] = seen.get(value, 0) + 1
            origin = self._output_slot(inputs[value], 0) if value in inputs else -1
            places.entries.append(Entering(reader, at, self._input_slot(node, slot), origin, node.type, node.name))
        given = {value: (node, at) for node in group for at, value in enumerate(_outputs(node)) if value}
        for at, value in enumerate(proto.output):
            if value in given:
                node, slot = given[value]
                places.exits.append(Leaving(number, at, self._output_slot(node, slot), node.type, node.name))
        if len(group) > 1:
            inner = sum(value not in proto.output for node in group for value in _outputs(node) if value)
            places.expanded.append(Expanded(main.name, tuple(node.type for node in group), inner))
        left = list(self.bodies.get(main.index, ()))
        for attribute, scope in self.file.bodies_of(number):
            body = next((each for each in left if each.name.rpartition("/")[2] == attribute), None)
            if body is not None:
                left.remove(body)
                self.scope(body, scope)

    def _read(self, number: int, proto: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the values that a node reads: the number of the node, that of the input, the value.

        If a conversion to a newer opset split the node, the nodes added before it read in its place; the judged model
        does not know their values.
        """
        for at, value in enumerate(proto.input):
            before = self.made_by.get(value)
            if before is None:
                yield number, at, value
            else:
                yield from self._read(before, self.file.nodes[before].proto)

    def _outputs(self, scope: int, output: GraphNode) -> None:
        for at in range(len(output.sources)):
            slot = self._input_slot(output, at)
            self.places.outputs.append(Leaving(scope, at, slot, output.type, output.name))

    def _input_slot(self, node: GraphNode, number: int) -> int:
        return self.graph.slots.inputs_of[node.index] + number

    def _output_slot(self, node: GraphNode, number: int) -> int:
        return self.graph.slots.outputs_of[node.index] + number


def _outputs(node: GraphNode) -> tuple[str, ...]:
    return () if node.origin is None else tuple(node.origin.outputs)


def _readers(group: list[GraphNode]) -> dict[str, list[tuple[GraphNode, int]]]:
    """Return the inputs that read each value, for its first reader."""
    found: dict[str, list[tuple[GraphNode, int]]] = {}
    for node in group:
        if (node.type in _NOT_READING and len(group) > 1) or node.origin is None:
            continue
        own: dict[str, list[tuple[GraphNode, int]]] = {}
        for at, value in enumerate(node.origin.inputs):
            if value:
                own.setdefault(value, []).append((node, at))
        for value, slots in own.items():
            found.setdefault(value, slots)
    return found


def rounding_plan(places: TensorPlaces, answer: Answer) -> RoundingPlan:
    """Return the plan of an answer: the floating-point tensors that become low."""
    slots = answer.graph.slots
    entries: dict[Where, RoundedTensor] = {}
    exits: dict[Where, RoundedTensor] = {}
    outputs: dict[Where, RoundedTensor] = {}
    for entry in places.entries:
        dtype = answer.inputs[entry.slot]
        if entry.origin >= 0 and dtype not in LOW:
            dtype = answer.outputs[entry.origin]
        own = slots.inputs[entry.slot].first_dtype
        if dtype in LOW and own in STORED and own != dtype:
            entries[entry.node, entry.input] = RoundedTensor(dtype, own, entry.type, entry.name)
    for leaving, dtypes, tensors, rounded in (
        *((each, answer.outputs, slots.outputs, exits) for each in places.exits),
        *((each, answer.inputs, slots.inputs, outputs) for each in places.outputs),
    ):
        dtype = dtypes[leaving.slot]
        own = tensors[leaving.slot].first_dtype
        if dtype in LOW and own in STORED and own != dtype:
            rounded[leaving.owner, leaving.output] = RoundedTensor(dtype, own, leaving.type, leaving.name)
    return RoundingPlan(entries, exits, outputs)


def unknown_tensors(places: TensorPlaces, answer: Answer) -> int:
    """Return how many inputs and outputs of judged nodes have no known dtype and are therefore not rounded."""
    slots = answer.graph.slots
    unknown = sum(slots.inputs[each.slot].first_dtype is None for each in places.entries)
    return unknown + sum(slots.outputs[each.slot].first_dtype is None for each in places.exits)
