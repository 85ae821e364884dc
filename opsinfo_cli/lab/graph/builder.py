"""Builds a graph, node by node, in the file's order; names are resolved to edges at the end of each subgraph."""

from __future__ import annotations

from itertools import pairwise, zip_longest
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...errors import Damaged
from .graph import UNKNOWN, GraphNode, GraphTensor, ModelFacts, ModelGraph, Origin, Producer, Subgraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from .graph import Weights

    Reference: TypeAlias = tuple[int | str, int]
    Edges: TypeAlias = tuple[Sequence[Reference | None], Sequence[GraphTensor | None], Sequence[int | str]]
    """Sources, inputs and control of a node, as they were added."""


_NOTHING: Mapping[str, object] = MappingProxyType({})


class GraphBuilder:
    """Collects nodes and their edges.

    An input names its producer by name or by the index that :meth:`add` returned; a name may be used before its node is
    added, and is looked up in the same subgraph. The main graph is open from the start; :meth:`subgraph` closes what is
    open and opens the next.
    """

    def __init__(self, *, path: str | None = None) -> None:
        self.path = path
        self._nodes: list[GraphNode] = []
        self._edges: list[Edges] = []
        self._subgraphs: list[tuple[str, int | str | None, int]] = [("", None, 0)]

    def __len__(self) -> int:
        return len(self._nodes)

    def name_graph(self, name: str) -> None:
        self._subgraphs[0] = (name, None, 0)

    def subgraph(self, name: str, parent: int | str | None) -> None:
        """Open a subgraph; nodes added from now on belong to it.

        :param parent: index or name of the node that owns it; a name is looked up among all nodes, the main graph
            first; None: the file does not say
        """
        self._subgraphs.append((name, parent, len(self._nodes)))

    def add(
        self,
        name: str,
        op_type: str,
        sources: Sequence[Reference | None] = (),
        outputs: Sequence[GraphTensor] = (),
        *,
        inputs: Sequence[GraphTensor | None] = (),
        control: Sequence[int | str] = (),
        attributes: Mapping[str, object] | None = None,
        fused_names: Iterable[str] = (),
        weights: Weights | None = None,
        origin: Origin | None = None,
    ) -> int:
        """Add a node, and return its index.

        :param sources: (producer, output) of each input, or None for an absent optional input
        :param inputs: facts of each input in the file; None or missing at the end: those of the producer's output
        """
        index = len(self._nodes)
        made = dict(attributes) if attributes else _NOTHING
        node = GraphNode(
            index, name, intern(op_type), (), (), tuple(outputs), (), made, tuple(fused_names), weights, origin
        )
        self._nodes.append(node)
        self._edges.append((sources, inputs, control))
        return index

    def build(self, model: ModelFacts) -> ModelGraph:
        """:raises Damaged: if an edge names a node or an output that does not exist, or two nodes have the same name"""
        starts = [start for _, _, start in self._subgraphs]
        ranges = [range(start, end) for start, end in pairwise([*starts, len(self._nodes)])]
        for places in ranges:
            index_of: dict[str, int] = {}
            for node in self._nodes[places.start : places.stop]:
                if index_of.setdefault(node.name, node.index) != node.index:
                    raise self._damaged(f"two nodes are named `{node.name}`")
            for node in self._nodes[places.start : places.stop]:
                self._connect(node, index_of, places)
        owners = {node.name: node.index for node in reversed(self._nodes)} if len(ranges) > 1 else {}
        subgraphs = []
        for (name, parent, _), places in zip(self._subgraphs, ranges, strict=True):
            owner = owners.get(parent, -1) if isinstance(parent, str) else parent
            if owner is not None and (not 0 <= owner < len(self._nodes) or owner in places):
                raise self._damaged(f"subgraph `{name}` belongs to `{parent}`, which is not a node outside it")
            subgraphs.append(Subgraph(name, owner, places))
        return ModelGraph(self._nodes, model, subgraphs)

    def _connect(self, node: GraphNode, index_of: Mapping[str, int], places: range) -> None:
        """Set the edges of a node.

        :param index_of: the nodes of its subgraph by name
        :param places: their indexes
        """
        references, tensors, waited = self._edges[node.index]
        sources: list[Producer | None] = []
        inputs: list[GraphTensor] = []
        for number, (reference, tensor) in enumerate(zip_longest(references, tensors[: len(references)])):
            if reference is None:
                sources.append(None)
                inputs.append(UNKNOWN if tensor is None else tensor)
                continue
            producer, output = reference
            at = index_of.get(producer, -1) if isinstance(producer, str) else producer
            outputs = self._nodes[at].outputs if at in places else ()
            if not 0 <= output < len(outputs):
                fault = f"comes from `{producer}`, which is not a node of its graph"
                if at in places:
                    fault = f"is output {output} of `{self._nodes[at].name}`, which has {len(outputs)} outputs"
                raise self._damaged(f"input {number} of `{node.name}` {fault}")
            sources.append(reference if isinstance(reference, Producer) else Producer(at, output))
            inputs.append(outputs[output] if tensor is None else tensor)
        control = [index_of.get(name, -1) if isinstance(name, str) else name for name in waited]
        for at, name in zip(control, waited, strict=True):
            if at not in places:
                fault = f"has a control edge from `{name}`, which is not a node of its graph"
                raise self._damaged(f"`{node.name}` {fault}")
        node.sources, node.inputs, node.control = tuple(sources), tuple(inputs), tuple(control)

    def _damaged(self, message: str) -> Damaged:
        return Damaged(message, name="bad-graph", path=self.path)
