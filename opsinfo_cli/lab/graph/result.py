"""The dtypes of a graph's nodes with their reasons and the Casts: as a judging gives them, or as a file has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...core.cann.dtype_names import LOW, Precision, precision_of
from ...core.document import PolicyName, headed
from .casts import Cast, CastCounts, Casts, Memory, casts_of, memory_of
from .document import (
    CastRow,
    Confidence,
    Coverage,
    DecidingOutput,
    FusionNotApplied,
    GraphDocument,
    ModelFile,
    NodeAnswer,
    NodeCounts,
    NotJudged,
    PathStep,
    ReadsLow,
    TypeSummary,
)
from .fusions.fuse import Fused
from .graph import CONSTANTS, NOT_COMPUTED, Producer
from .reason import not_judged_text, reason_of
from .undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .atc_options import Considered
    from .graph import ModelGraph
    from .implmode import ImplModes
    from .judge.graph_judge import GraphJudge, Judgement
    from .judge.node_facts import DtypeChoice

    Dtypes = tuple[str | None, ...]


class NodeGroup(NamedTuple):
    """What nodes are counted by."""

    op_type: str
    runs: str | None
    judged: bool
    policy: PolicyName | None
    why: str
    first_column: bool = False
    assumed: bool = False


class GraphAnswer:
    """A graph with the dtypes of its nodes, from either source.

    :ivar mode_name: the name of the precision mode; None if the dtypes are those of the file
    """

    mode_name: str | None = None

    def __init__(self, graph: ModelGraph, fused: Fused | None = None) -> None:
        self.graph = graph
        self.fused = fused or Fused(graph)

    def __len__(self) -> int:
        return len(self.graph)

    def __getitem__(self, index: int) -> NodeAnswer:
        raise NotImplementedError

    def __iter__(self) -> Iterator[NodeAnswer]:
        return map(self.__getitem__, range(len(self.graph)))

    def find(self, name: str) -> NodeAnswer | None:
        """The answer for the first node of this name."""
        node = self.graph.find(name)
        return None if node is None else self[node.index]

    @cached_property
    def _casts(self) -> Casts:
        raise NotImplementedError

    @property
    def casts(self) -> list[Cast]:
        """The inserted Casts, one for each edge."""
        return self._casts.casts

    @property
    def removed(self) -> list[int]:
        """Indexes of the user's own Casts that the engine removes together with an inserted one."""
        return self._casts.removed

    @property
    def rewired(self) -> dict[tuple[int, int], Producer]:
        """(consumer, input) that bypass a removed Cast of the user -> the output that feeds them instead."""
        return self._casts.rewired

    @cached_property
    def cast_counts(self) -> CastCounts:
        return self._casts.counts

    @cached_property
    def inserted(self) -> frozenset[int]:
        """Indexes of the Casts that are nodes of the graph."""
        return frozenset()

    @cached_property
    def _groups(self) -> Counter[NodeGroup]:
        return _count(self)

    @cached_property
    def counts(self) -> NodeCounts:
        low = high = first_column = assumed = 0
        for each, count in self._groups.items():
            low += count * (each.runs == "low")
            high += count * (each.runs == "high")
            first_column += count * each.first_column
            assumed += count * each.assumed
        casts = self.cast_counts
        rest = len(self) - low - high
        return NodeCounts(len(self), low, high, rest, casts.edges, casts.run, casts.folded, first_column, assumed)

    @cached_property
    def types(self) -> list[TypeSummary]:
        """The op types of the graph, those with the most low nodes first."""
        return _summaries(self._groups)

    @cached_property
    def coverage(self) -> Coverage:
        others: Counter[tuple[str, str]] = Counter()
        judged = without_floating = 0
        for group, count in self._groups.items():
            if group.op_type in NOT_COMPUTED:
                continue
            judged += count * group.judged
            without_floating += count * (group.judged and group.runs is None)
            if not group.judged:
                others[group.op_type, group.why] += count
        types = [NotJudged(op_type, count, why) for (op_type, why), count in others.items()]
        types.sort(key=lambda row: (-row.nodes, row.type, row.why))
        return Coverage(judged + others.total(), judged, types, without_floating)

    @cached_property
    def reads_low(self) -> list[ReadsLow]:
        """High nodes whose float32 inputs are reduced, as a matrix product's may be in force_fp32; most nodes first."""
        found: Counter[tuple[str, str]] = Counter()
        for index, op_type in enumerate(self.graph.types):
            dtypes = self.inputs_of(index)
            if LOW.isdisjoint(dtypes):  # of most nodes
                continue
            if op_type == "Cast" or self.runs_of(index) != "high":  # a Cast converts, and computes nothing
                continue
            tensors = zip(dtypes, self.graph[index].inputs, strict=True)
            lowered = {dtype for dtype, tensor in tensors if dtype in LOW and tensor.first_dtype == "float32"}
            found.update((op_type, dtype) for dtype in lowered if dtype)
        rows = [ReadsLow(op_type, dtype, count) for (op_type, dtype), count in found.items()]
        return sorted(rows, key=lambda row: (-row.nodes, row.type, row.dtype))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo graph``."""
        document = headed("graph", self.document(self, self.types))
        return {**document, "nodes": [*document["nodes"]], "casts": [*document["casts"]]}

    def document(self, rows: Iterable[NodeAnswer], types: Sequence[TypeSummary]) -> GraphDocument:
        """Return the document of some nodes, in which nodes and Casts are iterators: a graph may have millions."""
        model, counts = self.graph.model, self.cast_counts
        nodes = sum(each.nodes for each in types)
        low, high = sum(each.low for each in types), sum(each.high for each in types)
        return GraphDocument(
            ModelFile(model.path, model.format, model.soc_version, model.atc_cmdline),
            self.mode_name,
            model.judged if self.mode_name is None else True,
            model.shapes,
            self.open_dimensions,
            iter(rows),
            map(self.cast_row, self.casts),
            types,
            NodeCounts(nodes, low, high, nodes - low - high, counts.edges, counts.run, counts.folded),
            self.memory,
            self.coverage,
            self.reads_low,
            model.refused,
            self.fused.fusions,
            [FusionNotApplied(name, len(names), names) for name, names in self.fused.not_applied.items()],
            model.notes,
        )

    def cast_row(self, cast: Cast) -> CastRow:
        return CastRow(
            producer=self.graph[cast.producer].name,
            output=cast.output,
            consumer=self.graph[cast.consumer].name,
            input=cast.input,
            begin=cast.begin,
            end=cast.end,
            constant=cast.constant,
        )

    @property
    def open_dimensions(self) -> int | None:
        """How many nodes have other op types or dtypes once every dimension has a size; None if nothing was judged."""
        return None

    def inputs_of(self, index: int) -> Dtypes:
        raise NotImplementedError

    def runs_of(self, index: int) -> Precision | None:
        """Return what ``NodeAnswer.runs`` is of a node."""
        raise NotImplementedError

    def output_dtype(self, source: Producer) -> str | None:
        raise NotImplementedError

    @cached_property
    def memory(self) -> Memory:
        return memory_of(self.graph, self.casts, self.output_dtype)

    @property
    def places(self) -> list[tuple[str, str, str]]:
        """What each node is known by in another answer for the model: subgraph, name and op type."""
        return [*zip(self._subgraph_names or [""] * len(self), self.graph.names, self.graph.types, strict=True)]

    @property
    def in_hf32(self) -> list[int]:
        """Indexes of the nodes that are high, and computed in HF32 and not in float32."""
        return []

    @cached_property
    def _subgraph_names(self) -> list[str]:
        """The subgraph of every node; empty if there is only the main graph."""
        names: list[str] = []
        for number, subgraph in enumerate(self.graph.subgraphs if len(self.graph.subgraphs) > 1 else ()):
            names += [subgraph.name if number else ""] * len(subgraph.nodes)
        return names


class Answer(GraphAnswer):
    """One judging of a graph.

    :ivar considered: options of atc, and how each was handled
    """

    def __init__(
        self,
        graph_judge: GraphJudge,
        judgement: Judgement,
        considered: Considered,
        modes: ImplModes,
        fused: Fused,
        doubts: Callable[[Answer], Iterable[str]],
        judge_with_sizes: Callable[[], Answer | None],
    ) -> None:
        """:param judge_with_sizes: returns the answer with a size for every open dimension; None: none is open"""
        self._judge_with_sizes = judge_with_sizes
        self._doubts = doubts
        super().__init__(graph_judge.graph, fused)
        self.considered = considered
        self.modes = modes
        self.graph_judge = graph_judge
        self.judgement = judgement
        self.mode = judgement.mode
        self.mode_name = judgement.mode.name
        self.inputs = [dtype for choice in judgement.choices for dtype in choice.inputs]
        self.outputs = [dtype for choice in judgement.choices for dtype in choice.outputs]

    @cached_property
    def warnings(self) -> list[str]:
        """What has no effect: op types of the mixlist that the target lacks, lines of option files, a mode that the
        chip does not have ...; as the commands print them.
        """
        return list(self._doubts(self))

    @cached_property
    def decided_open(self) -> tuple[str, ...]:
        """Names of the nodes for which open dimensions decided: their op type or dtypes are others when every dimension
        has a size, or they measure a shape that would be folded.
        """
        with_sizes = self._judge_with_sizes()
        if with_sizes is None:
            return ()
        others = {(row.subgraph, row.name): (row.type, row.inputs, row.outputs) for row in with_sizes}
        return tuple(
            row.name
            for row, node in zip(self, self.graph, strict=True)
            if node.type not in NOT_COMPUTED
            and (
                (node.type == "Shape" and any(tensor.is_open for tensor in node.inputs))
                or others.get((row.subgraph, row.name)) != (row.type, row.inputs, row.outputs)
            )
        )

    @property
    def open_dimensions(self) -> int:
        return len(self.decided_open)

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"<Answer {self.mode.name}: {counts.nodes} nodes, {counts.low} low, {counts.high} high, "
            f"{counts.not_judged} not judged, {counts.casts} casts>"
        )

    def __getitem__(self, index: int) -> NodeAnswer:
        node, choice = self.graph[index], self.judgement.choices[index]
        reason = reason_of(self.graph_judge, self.judgement, index)
        compute = self.computed_in(index)
        why = reason.text
        if compute == "hf32":
            why += "; computed in HF32"
        if fusion := node.attributes.get("fused_by"):
            names = [f"`{each}`" for each in node.fused_names]
            parts = f"{len(names)} nodes, {names[0]} to {names[-1]}," if len(names) > 2 else " and ".join(names)
            why += f"; {node.type}, from {parts or node.first_type} by {fusion}"
        return NodeAnswer(
            index=index,
            name=node.name,
            type=node.type,
            subgraph=self._subgraph_names[index] if self._subgraph_names else "",
            policy=reason.policy,
            by=reason.by,
            why=why,
            code=reason.code,
            tensor=reason.tensor,
            decided_by=self._output_of(reason.source),
            judged=choice.column >= 0,
            runs=self.runs_of(index),
            inputs=choice.inputs,
            outputs=choice.outputs,
            original_inputs=tuple([tensor.first_dtype for tensor in node.inputs]),
            original_outputs=tuple([tensor.first_dtype for tensor in node.outputs]),
            confidence=cast("Confidence | None", choice.confidence),
            compute=compute,
            implmode=self.modes.mode_of(node.name, node.type),
            type_before_fusion=None if node.first_type == node.type else node.first_type,
        )

    def _output_of(self, source: Producer | None) -> DecidingOutput | None:
        return source and DecidingOutput(self.graph[source.node].name, f"output {source.output}", source)

    def computed_in(self, index: int) -> str | None:
        """Return the dtype that a node is computed in, see :meth:`ImplModes.computed_in`; None if it was not judged."""
        choice, node = self.judgement.choices[index], self.graph[index]
        if choice.column < 0:
            return None
        return self.modes.computed_in(node.name, node.type, choice.inputs, choice.outputs)

    def inputs_of(self, index: int) -> Dtypes:
        return self.judgement.choices[index].inputs

    def runs_of(self, index: int) -> Precision | None:
        return _precision_of(self.judgement.choices[index])

    def output_dtype(self, source: Producer) -> str | None:
        return self.outputs[self.graph_judge.slots.outputs_of[source.node] + source.output]

    @cached_property
    def in_hf32(self) -> list[int]:
        return self.may_be_in_hf32 if self.modes.has_hf32 else []

    @cached_property
    def may_be_in_hf32(self) -> list[int]:
        """Indexes of the nodes that are computed in HF32 if the chip has it."""
        if self.modes.has_hf32 is False:
            return []
        return [
            index
            for index, choice in enumerate(self.judgement.choices)
            if choice.column >= 0 and self.computed_in(index) in ("hf32", None)
        ]

    @cached_property
    def _casts(self) -> Casts:
        return casts_of(self.graph_judge, self.judgement.choices, self.inputs, self.outputs)

    @cached_property
    def _groups(self) -> Counter[NodeGroup]:
        """The nodes, counted: their distinct choices are few."""
        groups: Counter[NodeGroup] = Counter()
        for (op_type, choice), count in Counter(zip(self.graph.types, self.judgement.choices, strict=True)).items():
            is_judged = choice.column >= 0
            policy: PolicyName | None = None if choice.policy is None else choice.policy.value
            why = "" if is_judged else not_judged_text(choice)
            flags = choice.why == "first-column", choice.confidence == "assumed"
            groups[NodeGroup(op_type, _precision_of(choice), is_judged, policy, why, *flags)] += count
        return groups

    def path_of(self, node: int | str) -> list[PathStep]:
        """Return the path back from a node to the origin of its dtypes, in order.

        :raises KeyError: if the graph has no node of this name
        """
        at = self.find(node) if isinstance(node, str) else self[node]
        if at is None:
            raise KeyError(node)
        steps: list[PathStep] = []
        seen: set[int] = set()
        arrived: int | None = None
        while at is not None and at.index not in seen:
            seen.add(at.index)
            tensor, dtype = at.settled_by if arrived is None else (f"output {arrived}", at.outputs[arrived])
            steps.append(PathStep(at.name, at.type, at.why, tensor, dtype, at))
            source = None if at.decided_by is None else at.decided_by.source
            arrived = None if source is None else source.output
            at = None if source is None else self[source.node]
        return steps

    def is_low(self, node: int) -> bool:
        return self.runs_of(node) == "low"

    def changed(self, other: Answer) -> list[int]:
        """Indexes of the nodes whose dtypes differ from another answer's for the same graph."""
        return [
            node
            for node, (own, its) in enumerate(zip(self.judgement.choices, other.judgement.choices, strict=True))
            if own is not its and (own.inputs, own.outputs) != (its.inputs, its.outputs)
        ]


class WrittenAnswer(GraphAnswer):
    """The dtypes in a compiled model or a dump."""

    def __getitem__(self, index: int) -> NodeAnswer:
        node, judged = self.graph[index], self.graph.model.judged
        return NodeAnswer(
            index=index,
            name=node.name,
            type=node.type,
            subgraph=self._subgraph_names[index] if self._subgraph_names else "",
            policy=None,
            why="the compiler chose it" if judged else "not judged yet",
            code="written",
            judged=judged,
            runs=self.runs_of(index),
            inputs=self.inputs_of(index),
            outputs=tuple(tensor.dtype for tensor in node.outputs),
            original_inputs=tuple(tensor.first_dtype for tensor in node.inputs),
            original_outputs=tuple(tensor.first_dtype for tensor in node.outputs),
            confidence="compiled" if judged else None,
            type_before_fusion=None,
        )

    def inputs_of(self, index: int) -> Dtypes:
        return tuple(tensor.dtype for tensor in self.graph[index].inputs)

    def runs_of(self, index: int) -> Precision | None:
        node = self.graph[index]
        if node.type in NOT_COMPUTED:
            return None
        return precision_of(self.inputs_of(index), tuple(tensor.dtype for tensor in node.outputs))

    def output_dtype(self, source: Producer) -> str | None:
        return self.graph[source.node].outputs[source.output].dtype

    @cached_property
    def inserted(self) -> frozenset[int]:
        return frozenset(node for node in inserted_nodes(self.graph) if self.graph[node].type == "Cast")

    @cached_property
    def _casts(self) -> Casts:
        """The Casts that the engine inserted, one for each edge that runs through one."""
        casts: list[Cast] = []
        for consumer in self.graph if self.inserted else ():
            for number, source in enumerate(consumer.sources):
                if source is None or source.node not in self.inserted:
                    continue
                cast = self.graph[source.node]
                fed_by, begin, end = cast.sources[0], cast.inputs[0].dtype, cast.outputs[0].dtype
                if fed_by is not None and begin and end:
                    constant = self.graph[fed_by.node].type in CONSTANTS
                    casts.append(Cast(*fed_by, consumer.index, number, begin, end, constant, None))
        return Casts(casts, [], {})

    @cached_property
    def cast_counts(self) -> CastCounts:
        folded = sum(cast.constant for cast in self.casts)
        fed_by = (self.graph[cast].sources[0] for cast in self.inserted)
        run = sum(source is None or self.graph[source.node].type not in CONSTANTS for source in fed_by)
        return CastCounts(len(self.casts), run, folded, 0, run)


class AnswerComparison(NamedTuple):
    """The differences between two answers for the same model, which their targets may fuse in other ways.

    :param changed: the nodes whose dtypes differ, in A and in B; indexes are those in A
    :param casts_gone: Casts of A that B does not need
    :param casts_added: Casts of B that A does not need, between nodes of A
    :param only_in_one: names of the nodes that only A or only B has: they and their Casts are not compared
    """

    changed: list[tuple[NodeAnswer, NodeAnswer]]
    casts_gone: list[Cast]
    casts_added: list[Cast]
    only_in_one: list[str]

    def __bool__(self) -> bool:
        return any(self)


def compare(a: Answer, b: Answer) -> AnswerComparison:
    """Compare two answers for one model, node by node and edge by edge."""
    places, others = a.places, b.places
    known = {} if places == others else {place: index for index, place in enumerate(places)}
    in_a = list(map(known.get, others)) if known else list(range(len(others)))
    in_both = {index for index in in_a if index is not None}
    changed = []
    for index, (own, after) in enumerate(zip(in_a, b.judgement.choices, strict=True)):
        if own is None or (before := a.judgement.choices[own]) is after:
            continue
        inputs = zip(before.inputs, after.inputs, strict=False)  # fusion may give a node one more
        if before.outputs == after.outputs and all(x == y for x, y in inputs if x and y):
            continue
        row = b[index]
        if (decided := row.decided_by) is not None:
            at = in_a[decided.source.node]
            decided = None if at is None else replace(decided, source=decided.source._replace(node=at))
        changed.append((a[own], replace(row, index=own, decided_by=decided)))
    of_a = [cast for cast in a.casts if {cast.producer, cast.consumer} <= in_both]
    of_b = [
        cast._replace(producer=producer, consumer=consumer)
        for cast in b.casts
        if (producer := in_a[cast.producer]) is not None and (consumer := in_a[cast.consumer]) is not None
    ]
    only = [node.name for node in a.graph if node.index not in in_both]
    only += [node.name for node, own in zip(b.graph, in_a, strict=True) if own is None]
    gone, added = set(of_a).difference(of_b), set(of_b).difference(of_a)
    return AnswerComparison(
        changed,
        [cast for cast in of_a if cast in gone],
        [cast for cast in of_b if cast in added],
        list(dict.fromkeys(only)),
    )


def summaries_of(rows: Iterable[NodeAnswer]) -> list[TypeSummary]:
    """Return rows by op type, those with the most low nodes first."""
    return _summaries(_count(rows))


def _count(rows: Iterable[NodeAnswer]) -> Counter[NodeGroup]:
    return Counter(NodeGroup(row.type, row.runs, row.judged, row.policy, row.why) for row in rows)


def _summaries(groups: Mapping[NodeGroup, int]) -> list[TypeSummary]:
    counts: dict[str, Counter[str | None]] = {}
    policies: dict[str, set[PolicyName | None]] = {}
    for each, count in groups.items():
        counts.setdefault(each.op_type, Counter())[each.runs] += count
        policies.setdefault(each.op_type, set()).add(each.policy)
    types = [
        TypeSummary(name, count.total(), count["low"], count["high"], next(iter(own)) if len(own) == 1 else None)
        for (name, count), own in zip(counts.items(), policies.values(), strict=True)
    ]
    return sorted(types, key=lambda row: (-row.low, -row.high, -row.nodes, row.type))


def _precision_of(choice: DtypeChoice) -> Precision | None:
    return None if choice.column < 0 else precision_of(choice.inputs, choice.outputs)
