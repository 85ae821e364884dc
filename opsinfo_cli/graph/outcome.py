"""The dtypes of a graph's nodes, judged or from the file, in one form for every report."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from .answer import TypeSummary
from .casts import CastCounts
from .dtypes import FLOATING, LOW
from .undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from .graph import GraphNode, ModelGraph, Producer


class Decider(NamedTuple):
    """The output that a node's dtype follows.

    :param tensor: ``output 0``
    :param at: index of the node
    """

    node: str
    tensor: str
    at: int


class NodeOutcome(NamedTuple):
    """One node with its dtypes and the reason.

    :param subgraph: the name of the subgraph it is in; empty for the main graph
    :param policy: white, black or gray; None if the lists are not used
    :param runs: ``low``, ``high``, or None if it was not judged or has no floating-point tensor
    :param confidence: where its columns come from: library, kernel, assumed, or compiled if the file has its dtypes
    """

    name: str
    type: str
    subgraph: str
    policy: str | None
    why: str
    code: str
    decided_by: Decider | None
    judged: bool
    runs: str | None
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    original_inputs: tuple[str | None, ...]
    original_outputs: tuple[str | None, ...]
    confidence: str | None


class CastOutcome(NamedTuple):
    """One Cast on one edge: output ``output`` of ``producer`` to input ``input`` of ``consumer``.

    :param constant: whether it is on a constant and folded when the model is compiled
    :param ends: indexes of producer and consumer
    """

    producer: str
    output: int
    consumer: str
    input: int
    begin: str
    end: str
    constant: bool
    ends: tuple[int, int]


class OutcomeCasts(NamedTuple):
    """The Casts of an outcome.

    :param nodes: indexes of those that are nodes of the graph
    :param removed: indexes of the user's own Casts that the engine removes together with an inserted one
    :param rewired: (consumer, input) that bypass such a Cast -> the output that feeds them instead
    """

    casts: list[CastOutcome]
    counts: CastCounts
    nodes: Collection[int] = ()
    removed: Sequence[int] = ()
    rewired: Mapping[tuple[int, int], Producer] = MappingProxyType({})


class GraphOutcome:
    """A graph with the dtypes of its nodes.

    :param counts: the counts of the Casts, if they are known without a list of all Casts
    :ivar mode: the name of the precision mode; None if the dtypes are those of the file
    """

    def __init__(
        self,
        graph: ModelGraph,
        mode: str | None,
        row: Callable[[int], NodeOutcome],
        casts: Callable[[], OutcomeCasts],
        counts: CastCounts | None = None,
    ) -> None:
        self.graph = graph
        self.mode = mode
        self.row = row
        self._casts_of = casts
        self._casts: OutcomeCasts | None = None
        self._counts = counts

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Iterator[NodeOutcome]:
        return map(self.row, range(len(self.graph)))

    @property
    def casts(self) -> list[CastOutcome]:
        return self.all_casts.casts

    @property
    def cast_counts(self) -> CastCounts:
        return self._counts or self.all_casts.counts

    @property
    def all_casts(self) -> OutcomeCasts:
        if self._casts is None:
            self._casts = self._casts_of()
        return self._casts


def written_outcome(graph: ModelGraph) -> GraphOutcome:
    """Return the dtypes in a compiled model or a dump."""
    subgraphs = subgraph_names(graph)
    why = {True: "the compiler chose it", False: "not judged yet", None: "as the file has it"}[graph.model.judged]

    def row(index: int) -> NodeOutcome:
        node = graph[index]
        inputs = tuple(tensor.dtype for tensor in node.inputs)
        outputs = tuple(tensor.dtype for tensor in node.outputs)
        return NodeOutcome(
            node.name,
            node.type,
            subgraphs[index] if subgraphs else "",
            None,
            why,
            "written",
            None,
            bool(graph.model.judged),
            _runs(node, inputs, outputs),
            inputs,
            outputs,
            tuple(tensor.first_dtype for tensor in node.inputs),
            tuple(tensor.first_dtype for tensor in node.outputs),
            "compiled" if graph.model.judged else None,
        )

    return GraphOutcome(graph, None, row, lambda: _written_casts(graph))


NOT_COMPUTED = frozenset({"Data", "RefData", "Const", "Constant", "Variable", "NetOutput"})
"""Op types that store or pass on a tensor and compute nothing."""


def _runs(node: GraphNode, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]) -> str | None:
    if node.type in NOT_COMPUTED:
        return None
    for dtypes in (outputs, inputs):
        if any(dtype in FLOATING for dtype in dtypes):
            return "low" if any(dtype in LOW for dtype in dtypes) else "high"
    return None


def _written_casts(graph: ModelGraph) -> OutcomeCasts:
    """The Casts that the engine inserted, one for each edge that runs through one."""
    inserted = {node for node in inserted_nodes(graph) if graph.columns.types[node] == "Cast"}
    found: list[CastOutcome] = []
    if not inserted:
        return OutcomeCasts(found, CastCounts(0, 0, 0, 0, 0))
    for consumer in graph:
        for number, source in enumerate(consumer.sources):
            if source is None or source.node not in inserted:
                continue
            cast = graph[source.node]
            fed_by = cast.sources[0]
            begin, end = cast.inputs[0].dtype, cast.outputs[0].dtype
            if fed_by is not None and begin and end:
                producer = graph[fed_by.node]
                constant = producer.type in ("Const", "Constant")
                ends = (producer.index, consumer.index)
                found.append(
                    CastOutcome(producer.name, fed_by.output, consumer.name, number, begin, end, constant, ends)
                )
    folded = sum(each.constant for each in found)
    return OutcomeCasts(found, CastCounts(len(found), len(inserted), folded, 0, len(inserted)), inserted)


def subgraph_names(graph: ModelGraph) -> list[str]:
    """The subgraph of every node; empty if there is only the main graph."""
    if len(graph.subgraphs) <= 1:
        return []
    names: list[str] = []
    for number, subgraph in enumerate(graph.subgraphs):
        names += [subgraph.name if number else ""] * len(subgraph.nodes)
    return names


def summarised(rows: Iterable[NodeOutcome]) -> list[TypeSummary]:
    """Return rows by op type, those with the most low nodes first."""
    nodes: Counter[str] = Counter()
    low: Counter[str] = Counter()
    high: Counter[str] = Counter()
    policies: dict[str, set[str | None]] = {}
    for row in rows:
        nodes[row.type] += 1
        low[row.type] += row.runs == "low"
        high[row.type] += row.runs == "high"
        policies.setdefault(row.type, set()).add(row.policy)
    found = [
        TypeSummary(each, nodes[each], low[each], high[each], next(iter(known)) if len(known) == 1 else None)
        for each, known in policies.items()
    ]
    return lowest_first(found)


def lowest_first(found: Iterable[TypeSummary]) -> list[TypeSummary]:
    """Return op types in the order of reports: those with the most low nodes first."""
    return sorted(found, key=lambda each: (-each.low, -each.high, -each.nodes, each.op_type))
