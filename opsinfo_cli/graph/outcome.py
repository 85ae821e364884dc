"""The dtypes of a graph's nodes, judged or from the file, in one form for every report."""

from __future__ import annotations

from collections import Counter

from ..typed import TYPE_CHECKING, NamedTuple
from .answer import TypeSummary
from .casts import CastCounts
from .dtypes import FLOATING, LOW
from .undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .answer import Answer, NodeAnswer
    from .graph import GraphNode, ModelGraph


class Decider(NamedTuple):
    """The output that a node's dtype follows.

    :param tensor: ``output 0``
    """

    node: str
    tensor: str


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
    """

    producer: str
    output: int
    consumer: str
    input: int
    begin: str
    end: str
    constant: bool


class GraphOutcome:
    """A graph with the dtypes of its nodes.

    :ivar mode: the name of the precision mode; None if the dtypes are those of the file
    """

    def __init__(
        self,
        graph: ModelGraph,
        mode: str | None,
        row: Callable[[int], NodeOutcome],
        casts: Callable[[], tuple[list[CastOutcome], CastCounts]],
    ) -> None:
        self.graph = graph
        self.mode = mode
        self.row = row
        self._casts_of = casts
        self._casts: tuple[list[CastOutcome], CastCounts] | None = None

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Iterator[NodeOutcome]:
        return map(self.row, range(len(self.graph)))

    @property
    def casts(self) -> list[CastOutcome]:
        return self._both()[0]

    @property
    def cast_counts(self) -> CastCounts:
        return self._both()[1]

    def _both(self) -> tuple[list[CastOutcome], CastCounts]:
        if self._casts is None:
            self._casts = self._casts_of()
        return self._casts


def judged_outcome(answer: Answer) -> GraphOutcome:
    """Return the outcome of an answer."""
    names = answer.graph.columns.names
    subgraphs = _subgraph_names(answer.graph)

    def row(index: int) -> NodeOutcome:
        return _judged_row(answer[index], subgraphs[index] if subgraphs else "", names)

    def casts() -> tuple[list[CastOutcome], CastCounts]:
        found = [
            CastOutcome(
                names[each.producer], each.output, names[each.consumer], each.input, each.begin, each.end, each.constant
            )
            for each in answer.casts
        ]
        return found, answer.counts.casts

    return GraphOutcome(answer.graph, answer.mode.name, row, casts)


def _judged_row(node: NodeAnswer, subgraph: str, names: list[str]) -> NodeOutcome:
    reason = node.reason
    source = reason.decided_by
    runs = ("low" if node.low else "high") if node.judged else None
    return NodeOutcome(
        node.name,
        node.type,
        subgraph,
        node.policy,
        reason.text,
        reason.code,
        None if source is None else Decider(names[source.node], f"output {source.output}"),
        node.judged,
        runs,
        node.inputs,
        node.outputs,
        node.original_inputs,
        node.original_outputs,
        node.confidence,
    )


def written_outcome(graph: ModelGraph) -> GraphOutcome:
    """Return the outcome with the dtypes of a compiled model or a dump."""
    subgraphs = _subgraph_names(graph)
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


def _written_casts(graph: ModelGraph) -> tuple[list[CastOutcome], CastCounts]:
    """Return the Casts that the engine inserted, one for each edge with one."""
    inserted = {node for node in inserted_nodes(graph) if graph.columns.types[node] == "Cast"}
    found: list[CastOutcome] = []
    if not inserted:
        return found, CastCounts(0, 0, 0, 0, 0)
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
                found.append(CastOutcome(producer.name, fed_by.output, consumer.name, number, begin, end, constant))
    folded = sum(each.constant for each in found)
    return found, CastCounts(len(found), len(inserted), folded, 0, len(inserted))


def _subgraph_names(graph: ModelGraph) -> list[str]:
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
