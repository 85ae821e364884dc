"""A rule of a fusion, and the graph as rules see it: the matches of a pass are found first, then fused one by one.

The order of the passes, and how the engine matches, are in hicann/ge ffdcbc9f: compiler/engines/nn_engine/fusion/
fusion_config_manager/fusion_priority_manager.cc:320-391, 445-530, and graph_metadef/register/graph_optimizer/
graph_fusion/pattern_fusion_base_pass.cc. The numbers are those of fusion_config.json of CANN 8.1.RC1.
"""

from __future__ import annotations

from dataclasses import replace
from inspect import getdoc
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ..graph import CONSTANTS, UNKNOWN, GraphNode, GraphTensor, Producer
from ..weights import integers_of, scalar_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ..graph import ModelGraph

    Input: TypeAlias = tuple[Producer | None, GraphTensor, str]
    Changes: TypeAlias = Callable[["FusionGraph"], Iterator["Change"]]

Confidence: TypeAlias = Literal["high", "medium", "low"]

PREPARED, UNNUMBERED, JSON_RULE = 0, 8000, 9000
"""Priorities of the preparation's passes, of passes that fusion_config.json does not number, and of JSON rules."""
_DOWN = 5000
"""Passes with a number from here on run last."""
COPY = "canndev, ops/built-in/fusion_pass/graph_fusion/ai_core"
"""Where the sources of the passes are read, in a published copy."""
A2, A3 = "ascend910b", "ascend910_93"
NEWEST = frozenset({"ascend910_95", "ascend950"})
"""The chips of which a rule of 2021 is not known to hold."""
HALF_AND_SINGLE = ("float32", "float16")
ABSENT: Input = (None, UNKNOWN, "")


class FusionRule(NamedTuple):
    """One pass of the compiler.

    :param priority: its number in fusion_config.json, or one of those above
    :param changes: yields what it does to a graph; a change is made before the next one is asked for. Its docstring
        says what, unless ``about`` does
    :param source: where the conditions were read
    :param chips: the SoCs on which it runs, unknown on others; None: all but those in ``never``
    :param never: the SoCs on which it does not run
    :param confidence: how sure it is that the compiler does the same, on a chip that is not in ``seen``
    :param seen: the SoCs of which documentation, or a record of a compiler's run, says so
    """

    name: str
    priority: int
    changes: Changes
    source: str
    chips: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    confidence: Confidence = "high"
    seen: frozenset[str] = frozenset()
    about: str = ""

    @property
    def text(self) -> str:
        return self.about or " ".join((getdoc(getattr(self.changes, "func", self.changes)) or "").split())

    @property
    def order(self) -> tuple[int, str]:
        return self.priority + 2 * _DOWN * (self.priority in range(_DOWN, UNNUMBERED)), self.name

    def runs_on(self, soc: str | None) -> bool | None:
        """Return whether the pass runs on a SoC; None if that is unknown."""
        if self.chips is None and not self.never:
            return True
        if soc in self.never:
            return False
        if soc is None:
            return None
        return self.chips is None or soc in self.chips or None

    def confidence_on(self, soc: str | None) -> Confidence:
        return "high" if soc in self.seen else self.confidence


class Change(NamedTuple):
    """One change of a graph: nodes are taken, and a new one takes the place of one of them, or none does.

    A place is an ``index``: the new node has that of the part that it replaces, and the other parts go.

    :param parts: the nodes that are taken, as they are in the graph
    :param node: the new node; None: the parts are removed
    :param feed: the output that is read instead of one of a part that goes; None: nothing feeds that input of a reader
        that is left, which keeps its tensor
    :param continues: whether the new node is the first part under another op type; if not, it is another operator
    :param checked: whether the change is made only if AI Core supports the new node
    """

    parts: tuple[GraphNode, ...]
    node: GraphNode | None
    feed: Producer | None = None
    continues: bool = True
    checked: bool = False


class FusionGraph:
    """A graph while it is fused: nodes keep their places, and edges lead to nodes that are still there.

    :param supported: tells whether AI Core supports a node
    """

    def __init__(self, graph: ModelGraph, supported: Callable[[GraphNode], bool], soc: str | None = None) -> None:
        self.graph = graph
        self.soc = soc
        self.nodes = list(graph.nodes)
        self.gone: dict[int, Producer | None] = {}
        self.supported = supported
        self._by_type: dict[str, list[int]] = {}
        self._readers: dict[Producer, dict[int, int]] = {}
        for node in self.nodes:
            self._by_type.setdefault(node.type, []).append(node.index)
            self._read(node)
        self.waited = {index for node in graph for index in node.control}
        """Indexes of the nodes that another one waits for."""
        self.owners = {body.parent for body in graph.subgraphs if body.parent is not None}
        """Indexes of the nodes that own a subgraph."""

    def has(self, types: Iterable[str]) -> bool:
        """Return whether a node may have one of some op types."""
        return any(op_type in self._by_type for op_type in types)

    def of(self, *types: str) -> Iterator[GraphNode]:
        """Yield the nodes of op types as they are then; one without inputs or outputs fits no rule."""
        places = sorted({index for op_type in types for index in self._by_type.get(op_type, ())})
        for index in places:
            node = self.nodes[index]
            if index not in self.gone and node.type in types and node.sources and node.outputs:
                yield node

    def source(self, node: GraphNode, number: int) -> GraphNode | None:
        """Return the node that feeds an input; None if none does."""
        source = node.sources[number] if number < len(node.sources) else None
        return None if source is None else self.nodes[source.node]

    def is_const(self, node: GraphNode, number: int) -> bool:
        """Return whether a constant feeds an input: one of the model, or one that a fusion made."""
        source, tensor, _ = input_of(node, number)
        return self.nodes[source.node].type in CONSTANTS if source is not None else tensor != UNKNOWN

    def readers(self, node: GraphNode, output: int = 0) -> list[GraphNode]:
        """Return the nodes that read an output; one that reads it twice is there twice."""
        places = self._readers.get(Producer(node.index, output), {})
        return [self.nodes[index] for index, times in places.items() for _ in range(times)]

    def is_read(self, node: GraphNode, times: int = 1) -> bool:
        """Return whether so many inputs read the first output."""
        places = self._readers.get(Producer(node.index, 0), {})
        return len(places) <= times and sum(places.values()) == times

    def is_static(self, *tensors: GraphTensor) -> bool:
        """Return whether shapes are known. A TensorFlow model states few: those that it does not state count as known,
        because atc needs the shapes of its inputs.
        """
        inferred = self.graph.model.format == "onnx"
        return not is_unknown(*tensors) and not (inferred and any(tensor.shape is None for tensor in tensors))

    def scalar(self, node: GraphNode, number: int) -> float | None:
        """Return the value of a constant input of one value; None if it has none or it is not known here."""
        source = self.source(node, number)
        return None if source is None or source.type not in CONSTANTS else scalar_of(source)

    def one_constant(self, node: GraphNode) -> float | None:
        """Return the constant of one value, of rank 0 or 1, that an operator of two inputs reads, the second first."""
        number = next((at for at in (1, 0) if self.is_const(node, at)), None)
        if number is None or node.inputs[number].shape not in ((), (1,)):
            return None
        return self.scalar(node, number) if node.inputs[number].first_dtype in HALF_AND_SINGLE else None

    def integers(self, node: GraphNode, number: int) -> list[int] | None:
        """Return the values of a constant input, or of one that became an attribute; None if they are not known."""
        kept = node.attributes.get("constants")
        constant = self.source(node, number)
        if constant is None and isinstance(kept, dict):
            constant = kept.get(number)
        return None if constant is None or constant.type not in CONSTANTS else integers_of(constant)

    def without_inputs(self, node: GraphNode, op_type: str, gone: Collection[int]) -> GraphNode:
        """Return a node with another op type whose given inputs became attributes, which keep their values."""
        producers = ((number, self.source(node, number)) for number in gone)
        kept = {number: constant for number, constant in producers if constant and constant.weights}
        result = with_inputs(node, op_type, [input_of(node, at) for at in range(len(node.sources)) if at not in gone])
        return replace(result, attributes={**node.attributes, "constants": kept}) if kept else result

    def apply(self, name: str, change: Change) -> None:
        """Make the change of a pass: edges lead to nodes that are still there, and readers are known, as before."""
        parts, node = change.parts, change.node
        for part in parts:
            for source in part.sources:
                if source is not None:
                    self._readers[source].pop(part.index, None)
        if node is not None:
            types = tuple(op_type for part in parts for op_type in part.first_types)
            attributes: dict[str, object] = {**node.attributes, "fused_by": name, "fused_types": types}
            if change.continues and parts[0].first_type != node.type:
                attributes["fused_type"] = parts[0].first_type
            self.nodes[node.index] = node = replace(node, attributes=attributes)
            self._read(node)
            self._by_type.setdefault(node.type, []).append(node.index)
        for part in parts:
            if node is not None and part.index == node.index:
                continue
            self.gone[part.index] = feed = change.feed
            for number in range(len(part.outputs)):
                old = Producer(part.index, number)
                for index, times in self._readers.pop(old, {}).items():
                    reader = self.nodes[index]
                    sources = tuple([feed if source == old else source for source in reader.sources])
                    self.nodes[index] = replace(reader, sources=sources)
                    if feed is not None:
                        places = self._readers.setdefault(feed, {})
                        places[index] = places.get(index, 0) + times

    def _read(self, node: GraphNode) -> None:
        for source in node.sources:
            if source is not None:
                places = self._readers.setdefault(source, {})
                places[node.index] = places.get(node.index, 0) + 1

    def result(self) -> ModelGraph:
        """Return the graph, without constants that nothing reads since they became attributes."""
        left = [node for node in self.nodes if node.index not in self.gone]
        read = {source.node for node in left for source in node.sources if source is not None}
        read.update(index for node in left for index in node.control)
        unread = (node.index for node in left if node.type == "Const" and node.index not in read)
        return self.graph.with_nodes(self.nodes).without({**dict.fromkeys(unread), **self.gone})


def output_of(node: GraphNode) -> Producer:
    """Return the first output as what reads it names it."""
    return Producer(node.index, 0)


def input_of(node: GraphNode, number: int) -> Input:
    """Return an input with its tensor and the name of its value in the model."""
    if number >= len(node.sources):
        return ABSENT
    names = node.origin.inputs if node.origin is not None else ()
    return node.sources[number], node.inputs[number], names[number] if number < len(names) else ""


def own_constant(dtype: str) -> Input:
    """Return an input that the fusion feeds with a constant of its own.

    It has a dtype and no producer. :meth:`FusionGraph.is_const` takes it for a constant; the judge takes it for an
    input that nothing feeds, and does not ask whether it is constant, because nodes of a prediction are ``lenient``.
    """
    return None, GraphTensor(dtype), ""


def with_inputs(node: GraphNode, op_type: str, inputs: Sequence[Input]) -> GraphNode:
    """Return a node with another op type and other inputs; absent ones at the end are left out."""
    inputs = list(inputs)
    while inputs and inputs[-1] == ABSENT:
        inputs.pop()
    sources, tensors, names = zip(*inputs, strict=True) if inputs else ((), (), ())
    origin = None if node.origin is None else node.origin._replace(inputs=names)
    return replace(node, type=op_type, sources=sources, inputs=tensors, origin=origin)


def with_host_inputs(change: Change, numbers: tuple[int, ...], outputs: tuple[GraphTensor, ...]) -> Change:
    """Return a change whose node reads inputs that the host computes when the model is compiled."""
    node = change.node
    assert node is not None
    attributes = {**node.attributes, "host_inputs": numbers}
    return change._replace(node=replace(node, attributes=attributes, outputs=outputs))


def join(op_type: str, inputs: Sequence[Input], parts: Sequence[GraphNode], of: GraphNode | None = None) -> Change:
    """Return the change that makes one node of several, in the place and with the outputs of the last one.

    :param parts: the nodes, producers first
    :param of: the one that it continues; None: it has the name of the last one, and is another operator
    """
    last, others = parts[-1], parts[:-1]
    node = with_inputs(last, op_type, inputs)
    origin = node.origin
    if origin is not None:
        vanished = [value for part in others if part.origin is not None for value in part.origin.outputs[:1]]
        inner = [value for part in parts if part.origin is not None for value in part.origin.inner]
        origin = origin._replace(inner=tuple(dict.fromkeys((*inner, *vanished))))
    taken = {part.index for part in parts}
    waited = (index for part in parts for index in part.control if index not in taken)
    names = [name for part in parts for name in part.part_names]
    first = of or last
    node = replace(
        node,
        name=first.name,
        origin=origin,
        control=tuple(dict.fromkeys(waited)),
        fused_names=tuple(dict.fromkeys(names)),
        weights=None,
    )
    return Change(tuple(dict.fromkeys((first, *parts))), node, output_of(last), continues=of is not None)


def in_order(nodes: Mapping[str, GraphNode]) -> list[GraphNode]:
    """Return the nodes of a match without ``x``, which feeds it; the output, the first one of a match, is the last."""
    output, *others = (node for name, node in nodes.items() if name != "x")
    return [*sorted(others, key=lambda node: node.index), output]


def is_unknown(*tensors: GraphTensor) -> bool:
    """Return whether a dimension, or the rank, of a tensor is unknown."""
    return any(dim < 0 for tensor in tensors for dim in tensor.shape or ())
