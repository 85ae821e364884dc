"""The effect of a policy on a graph: dtypes and reason of every node, the Casts, and counts of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .atc_options import NOTHING_CONSIDERED
from .casts import Cast, CastCounts, Casts, casts_of
from .dtypes import FLOATING, LOW
from .reason import Reason, reason_of

if TYPE_CHECKING:
    from .atc_options import Considered
    from .graph import GraphNode, Producer
    from .judge.facts import DtypeChoice
    from .judge.prepared import Judged, Prepared


class Counts(NamedTuple):
    """Counts of a judged graph.

    :param low: nodes that run in float16, bfloat16 or hifloat8
    :param high: judged nodes that do not
    :param first_column: nodes that got the first column because none fitted
    :param assumed: nodes whose columns were assumed
    """

    nodes: int
    low: int
    high: int
    not_judged: int
    first_column: int
    assumed: int
    casts: CastCounts


class TypeSummary(NamedTuple):
    """The nodes of one op type.

    :param policy: the list they are on; None if lists are not used, or their kernels are on several
    """

    op_type: str
    nodes: int
    low: int
    high: int
    policy: str | None


class PathStep(NamedTuple):
    """One step on the path back to the origin of a dtype.

    :param tensor: ``input 0`` or ``output 0``; None if no tensor decided it
    """

    node: int
    tensor: str | None
    dtype: str | None
    reason: Reason


class Answer:
    """One judging of a graph.

    :ivar inputs: the dtype of every input slot of the graph's columns
    :ivar outputs: the dtype of every output slot
    :ivar considered: options of atc, and how each was handled
    """

    def __init__(self, prepared: Prepared, judged: Judged, considered: Considered = NOTHING_CONSIDERED) -> None:
        self.considered = considered
        self.prepared = prepared
        self.judged = judged
        self.graph = prepared.graph
        self.mode = judged.mode
        self.inputs = [dtype for choice in judged.choices for dtype in choice.inputs]
        self.outputs = [dtype for choice in judged.choices for dtype in choice.outputs]

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"<Answer {self.mode.name}: {counts.nodes} nodes, {counts.low} low, {counts.high} high, "
            f"{counts.not_judged} not judged, {counts.casts.edges} casts>"
        )

    def __len__(self) -> int:
        return len(self.graph)

    def __getitem__(self, index: int) -> NodeAnswer:
        return NodeAnswer(self, self.graph[index])

    def __iter__(self) -> Iterator[NodeAnswer]:
        return (NodeAnswer(self, node) for node in self.graph)

    def find(self, name: str) -> NodeAnswer | None:
        """The answer for the first node of this name."""
        node = self.graph.find(name)
        return None if node is None else NodeAnswer(self, node)

    @cached_property
    def _casts(self) -> Casts:
        return casts_of(self.prepared, self.judged.choices, self.inputs, self.outputs)

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
    def counts(self) -> Counts:
        low = high = first = assumed = 0
        for _, choice, times in self._by_choice:
            is_low = choice.column >= 0 and runs_low(choice)
            low += times * is_low
            high += times * (choice.column >= 0 and not is_low)
            first += times * (choice.why == "first-column")
            assumed += times * (choice.confidence == "assumed")
        return Counts(len(self.graph), low, high, len(self.graph) - low - high, first, assumed, self._casts.counts)

    @cached_property
    def _by_choice(self) -> list[tuple[str, DtypeChoice, int]]:
        """The distinct choices of each op type, which are few, with their counts."""
        choices, types = self.judged.choices, self.graph.columns.types
        known = dict(zip(map(id, choices), choices, strict=True))
        found = Counter(zip(types, map(id, choices), strict=True))
        return [(op_type, known[key], count) for (op_type, key), count in found.items()]

    @cached_property
    def types(self) -> list[TypeSummary]:
        """The op types of the graph, by name."""
        found: dict[str, Counter[str]] = {}
        policies: dict[str, set[str | None]] = {}
        for op_type, choice, times in self._by_choice:
            kind = "not judged" if choice.column < 0 else "low" if runs_low(choice) else "high"
            found.setdefault(op_type, Counter())[kind] += times
            policies.setdefault(op_type, set()).add(None if choice.policy is None else str(choice.policy))
        return [
            TypeSummary(
                op_type,
                found[op_type].total(),
                found[op_type]["low"],
                found[op_type]["high"],
                next(iter(known)) if len(known := policies[op_type]) == 1 else None,
            )
            for op_type in sorted(found)
        ]

    def path_of(self, node: int | str) -> list[PathStep]:
        """Return the path back from a node to the origin of its dtypes, in order.

        :raises KeyError: if the graph has no node of this name
        """
        found = self.find(node) if isinstance(node, str) else self[node]
        if found is None:
            raise KeyError(node)
        steps: list[PathStep] = []
        seen: set[int] = set()
        at: NodeAnswer | None = found
        arrived: int | None = None
        while at is not None and at.index not in seen:
            seen.add(at.index)
            reason = at.reason
            tensor, dtype = at.settled_by if arrived is None else (f"output {arrived}", at.outputs[arrived])
            steps.append(PathStep(at.index, tensor, dtype, reason))
            arrived = None if reason.decided_by is None else reason.decided_by.output
            at = None if reason.decided_by is None else self[reason.decided_by.node]
        return steps

    def changed(self, other: Answer) -> list[int]:
        """Indexes of the nodes whose dtypes differ from another answer's for the same graph."""
        pairs = enumerate(zip(self.judged.choices, other.judged.choices, strict=True))
        return [
            node
            for node, (own, its) in pairs
            if own is not its and (own.inputs, own.outputs) != (its.inputs, its.outputs)
        ]


class NodeAnswer:
    """The answer for one node."""

    __slots__ = ("answer", "node")

    def __init__(self, answer: Answer, node: GraphNode) -> None:
        self.answer = answer
        self.node = node

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r}: {', '.join(map(str, self.outputs or self.inputs))}, {self.reason.text}>"

    @property
    def index(self) -> int:
        return self.node.index

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def type(self) -> str:
        return self.node.type

    @property
    def choice(self) -> DtypeChoice:
        return self.answer.judged.choices[self.node.index]

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """The dtype of each input; None if it is absent or its dtype is unknown."""
        return self.choice.inputs

    @property
    def outputs(self) -> tuple[str | None, ...]:
        return self.choice.outputs

    @property
    def original_inputs(self) -> tuple[str | None, ...]:
        return tuple(tensor.first_dtype for tensor in self.node.inputs)

    @property
    def original_outputs(self) -> tuple[str | None, ...]:
        return tuple(tensor.first_dtype for tensor in self.node.outputs)

    @property
    def judged(self) -> bool:
        """Whether the engine chooses its dtypes."""
        return self.choice.column >= 0

    @property
    def low(self) -> bool:
        """Whether it runs in a low dtype: an output has one, or an input if no output is floating."""
        return self.judged and runs_low(self.choice)

    @property
    def policy(self) -> str | None:
        """The list it is on: ``white``, ``black`` or ``gray``; None if it is on none."""
        return None if self.choice.policy is None else str(self.choice.policy)

    @property
    def confidence(self) -> str | None:
        """The source of its columns: ``library``, ``kernel`` or ``assumed``; None if it was not judged."""
        return self.choice.confidence

    @property
    def reason(self) -> Reason:
        return reason_of(self.answer.prepared, self.answer.judged, self.node.index)

    @property
    def settled_by(self) -> tuple[str | None, str | None]:
        """The tensor that decided its dtypes, such as ``input 0``, and its dtype."""
        if self.choice.decided is None:
            first = next((dtype for dtype in (*self.outputs, *self.inputs) if dtype), None)
            return None, first
        side, number = self.choice.decided
        return f"{side.removesuffix('s')} {number}", (self.inputs if side == "inputs" else self.outputs)[number]


def runs_low(choice: DtypeChoice) -> bool:
    """Return whether a choice is low: an output is low, or an input if no output is floating."""
    if any(dtype in LOW for dtype in choice.outputs):
        return True
    return not any(dtype in FLOATING for dtype in choice.outputs) and any(dtype in LOW for dtype in choice.inputs)
