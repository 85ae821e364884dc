"""Builds a graph, node by node, in the file's order; names are resolved to edges at the end of each subgraph."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged
from .graph import NO_ATTRIBUTES, UNKNOWN, GraphNode, GraphTensor, ModelFacts, ModelGraph, Origin, Producer, Subgraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from .graph import Weights

    Reference: TypeAlias = tuple[int | str, int]


class _Added(NamedTuple):
    """A node whose edges may still be names."""

    name: str
    type: str
    sources: Sequence[Reference | None]
    inputs: Sequence[GraphTensor | None]
    outputs: tuple[GraphTensor, ...]
    control: Sequence[int | str]
    attributes: Mapping[str, object]
    fused_from: tuple[str, ...]
    weights: Weights | None
    origin: Origin | None


class GraphBuilder:
    """Collects nodes and their edges.

    An input names its producer by name or by the index that :meth:`add` returned; a name may be used before its node is
    added, and is looked up in the same subgraph. The main graph is open from the start; :meth:`subgraph` closes what is
    open and opens the next.

    :param path: the file, for messages
    """

    def __init__(self, *, path: str | None = None) -> None:
        self.path = path
        self._added: list[_Added] = []
        self._subgraphs: list[tuple[str, int | str | None, int]] = [("", None, 0)]
        self._shared: dict[object, GraphTensor] = {}

    def __len__(self) -> int:
        return len(self._added)

    def name_graph(self, name: str) -> None:
        """Name the main graph."""
        self._subgraphs[0] = (name, None, 0)

    def subgraph(self, name: str, parent: int | str | None) -> None:
        """Open a subgraph; nodes added from now on belong to it.

        :param parent: index or name of the node that owns it; a name is looked up among all nodes, the main graph
            first; None: the file does not say
        """
        self._subgraphs.append((name, parent, len(self._added)))

    def tensors(self) -> Iterable[GraphTensor]:
        """All distinct tensors."""
        return self._shared.values()

    def tensor(
        self,
        dtype: str | None = None,
        original_dtype: str | None = None,
        format: str | None = None,
        shape: tuple[int, ...] | None = None,
        continuous: bool = False,
    ) -> GraphTensor:
        """Return the shared tensor with these facts."""
        made = GraphTensor(dtype, original_dtype, format, shape, continuous)
        return self._shared.setdefault(made, made)

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
        fused_from: Iterable[str] = (),
        weights: Weights | None = None,
        origin: Origin | None = None,
    ) -> int:
        """Add a node, and return its index.

        :param sources: (producer, output) of each input, or None for an absent optional input
        :param inputs: facts of each input in the file; None or missing at the end: those of the producer's output
        """
        added = _Added(
            name,
            intern(op_type),
            sources,
            inputs,
            tuple(outputs),
            control,
            dict(attributes) if attributes else NO_ATTRIBUTES,
            tuple(fused_from),
            weights,
            origin,
        )
        self._added.append(added)
        return len(self._added) - 1

    def build(self, model: ModelFacts) -> ModelGraph:
        """The graph.

        :raises Damaged: if an edge names a node or an output that does not exist, or two nodes have the same name
        """
        starts = [start for _, _, start in self._subgraphs]
        ranges = [range(start, end) for start, end in zip(starts, [*starts[1:], len(self._added)], strict=True)]
        nodes: list[GraphNode] = []
        for places in ranges:
            index_of = self._index_of(places)
            nodes += [self._node(index, index_of, places) for index in places]
        return ModelGraph(nodes, model, self._closed(ranges))

    def _index_of(self, places: range) -> dict[str, int]:
        index_of: dict[str, int] = {}
        for index in places:
            if index_of.setdefault(self._added[index].name, index) != index:
                raise self._damaged(f"two nodes are named `{self._added[index].name}`")
        return index_of

    def _node(self, index: int, index_of: Mapping[str, int], places: range) -> GraphNode:
        added = self._added[index]
        sources: list[Producer | None] = []
        inputs: list[GraphTensor] = []
        known = added.inputs
        for number, reference in enumerate(added.sources):
            tensor = known[number] if number < len(known) else None
            if reference is None:
                sources.append(None)
                inputs.append(UNKNOWN if tensor is None else tensor)
                continue
            producer, output = reference
            at = index_of.get(producer, -1) if isinstance(producer, str) else producer
            outputs = self._added[at].outputs if at in places else ()
            if not 0 <= output < len(outputs):
                raise self._not_an_edge(at in places, at, index, number, reference)
            sources.append(Producer(at, output))
            inputs.append(outputs[output] if tensor is None else tensor)
        return GraphNode(
            index,
            added.name,
            added.type,
            tuple(sources),
            tuple(inputs),
            added.outputs,
            tuple([self._controlling(name, index, index_of, places) for name in added.control]),
            added.attributes,
            added.fused_from,
            added.weights,
            added.origin,
        )

    def _controlling(self, producer: int | str, index: int, index_of: Mapping[str, int], places: range) -> int:
        at = index_of.get(producer, -1) if isinstance(producer, str) else producer
        if at not in places:
            name = self._added[index].name
            raise self._damaged(f"`{name}` has a control edge from `{producer}`, which is not a node of its graph")
        return at

    def _not_an_edge(self, inside: bool, at: int, node: int, number: int, reference: Reference) -> Damaged:
        where = f"input {number} of `{self._added[node].name}`"
        if not inside:
            return self._damaged(f"{where} comes from `{reference[0]}`, which is not a node of its graph")
        producer = self._added[at]
        return self._damaged(
            f"{where} is output {reference[1]} of `{producer.name}`, which has {len(producer.outputs)} outputs"
        )

    def _closed(self, ranges: list[range]) -> list[Subgraph]:
        index_of: dict[str, int] = {}
        if len(ranges) > 1:
            index_of = {added.name: index for index, added in reversed(list(enumerate(self._added)))}
        closed = []
        for (name, parent, _), places in zip(self._subgraphs, ranges, strict=True):
            owner = index_of.get(parent, -1) if isinstance(parent, str) else parent
            if owner is not None and (not 0 <= owner < len(self._added) or owner in places):
                raise self._damaged(f"subgraph `{name}` belongs to `{parent}`, which is not a node outside it")
            closed.append(Subgraph(name, owner, places))
        return closed

    def _damaged(self, message: str) -> Damaged:
        return Damaged(message, name="bad-graph", path=self.path)
