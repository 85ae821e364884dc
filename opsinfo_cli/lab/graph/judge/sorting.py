"""Sorts a graph's nodes into kinds of equal facts, so that each kind is judged once for each producer dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.option_files import Customized
from ..graph import CONSTANTS
from .node_facts import OperatorFacts, OperatorPort

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from ..graph import GraphNode, GraphTensor, ModelGraph, Producer

    Feed: TypeAlias = tuple[bool, bool, bool, bool]
    """``present``, ``fed``, ``late`` and ``const`` of a port."""


PLAIN, CAST, SUB_INPUT, SUB_OUTPUT = range(4)
"""The actions of the walk at a node besides the choice; a node is plain unless another one is set."""

_LATE = CONSTANTS | {"Variable"}
"""What feeds an input that the engine handles after the others: not all that it never judges, see ``OperatorPort``."""
_OUTPUT: Feed = (True, False, False, False)
_NOT_FED: Feed = (True, False, True, False)
_ABSENT: Feed = (False, False, True, False)


class Marks(NamedTuple):
    """Attributes of nodes from the user's files, in addition to those of the graph."""

    keep: frozenset[int]
    customized: Mapping[int, Customized]


NO_MARKS = Marks(frozenset(), {})


class NodeFacts:
    """The facts of the nodes of a graph, also of ones that are not in it but read from it; sizes have no effect on the
    choice, and are left out.
    """

    def __init__(self, graph: ModelGraph, marks: Marks = NO_MARKS) -> None:
        self._marks = marks
        self._predicted = graph.model.predicted
        self._feeds = _feeds_of(graph)
        self._ports: dict[tuple[GraphTensor, Feed], OperatorPort] = {}

    def _port(self, tensor: GraphTensor, feed: Feed) -> OperatorPort:
        found = self._ports.get((tensor, feed))
        if found is None:
            found = self._ports[tensor, feed] = OperatorPort(
                tensor.first_dtype, tensor.format, tensor.continuous, *feed
            )
        return found

    def of(self, node: GraphNode) -> OperatorFacts:
        feeds, port, attributes = self._feeds, self._port, node.attributes
        inputs = [
            port(tensor, feeds[source.node] if source else _ABSENT if tensor.first_dtype is None else _NOT_FED)
            for tensor, source in zip(node.inputs, node.sources, strict=True)
        ]
        return OperatorFacts(
            node.type,
            tuple(inputs),
            tuple([port(tensor, _OUTPUT) for tensor in node.outputs]),
            node.index in self._marks.keep or attributes.get("_keep_dtype") in (1, True),
            bool(attributes.get("_inherit_dtype_from_predecessor")),
            bool(attributes.get("_force_fp32_to_fp16")),
            max(map(_unknown, (*node.inputs, *node.outputs)), default=0),
            self._marks.customized.get(node.index),
            self._predicted or len(node.fused_names) > 1,
        )


def sort_nodes(graph: ModelGraph, marks: Marks = NO_MARKS) -> tuple[list[int], list[OperatorFacts], bytearray]:
    """Return the number of the kind of each node, the facts of each kind, and the action at each node."""
    facts_of = NodeFacts(graph, marks).of
    kinds: dict[OperatorFacts, int] = {}
    kind_of = [kinds.setdefault(facts_of(node), len(kinds)) for node in graph.nodes]
    acts = bytearray(len(graph))
    in_main = graph.subgraphs[0].nodes
    for node in graph.nodes:
        if node.type == "Cast":
            acts[node.index] = CAST
        elif node.index not in in_main and node.type == "Data" and "parent_input" in node.attributes:
            acts[node.index] = SUB_INPUT
        elif node.index not in in_main and node.type == "NetOutput" and "parent_outputs" in node.attributes:
            acts[node.index] = SUB_OUTPUT
    return kind_of, list(kinds), acts


def _feeds_of(graph: ModelGraph) -> list[Feed]:
    """Return what the inputs are that each node feeds; constants are also known through the Data of bodies."""
    nodes = graph.nodes
    feeds = [(True, True, node.type in _LATE, node.type in CONSTANTS) for node in nodes]
    for body in graph.subgraphs[1:]:
        for node in nodes[body.nodes.start : body.nodes.stop]:
            source = parent_source(graph, node)
            if node.type == "Data" and source is not None and feeds[source.node][3]:
                feeds[node.index] = (*feeds[node.index][:3], True)
    return feeds


def parent_source(graph: ModelGraph, node: GraphNode) -> Producer | None:
    """Return the output that feeds the parent's input behind the Data of a body; None if there is none."""
    parent, number = graph.subgraph_of(node.index).parent, node.attributes.get("parent_input")
    if parent is None or not isinstance(number, int) or number < 0:
        return None
    sources = graph.nodes[parent].sources
    return sources[number] if number < len(sources) else None


def _unknown(tensor: GraphTensor) -> int:
    """0 for a known shape, 1 with unknown dimensions, 2 of unknown rank; a shape that no file gives counts as known."""
    shape = tensor.shape or ()
    return 2 if -2 in shape else 1 if -1 in shape else 0
