"""The engine's walk over a graph, which chooses the dtypes of its nodes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.marks import effective
from ....core.cann.policy import Policy
from ..graph import NEVER_JUDGED, Producer
from ..topology import order_of
from .choose import choose, left_as_is
from .modes import FP16_OP_TYPES, judge_mode
from .node_facts import DtypeChoice, JudgeSetting, OperatorFacts, Seen, dtype_of
from .relations import TensorCell, related_cells
from .sorting import CAST, NO_MARKS, PLAIN, SUB_INPUT, SUB_OUTPUT, Marks, parent_source, sort_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from ....core.cann.marks import Mark
    from ....core.cann.precision_mode import Mode
    from ..graph import GraphNode, ModelGraph
    from .kernel_sources import Kernels

    Feeds: TypeAlias = tuple["str | Seen | None", ...]
    State: TypeAlias = "DtypeChoice | Callable[[Feeds], DtypeChoice]"
    """The choice of a kind; or what returns it for what the producers yield."""


class Judgement(NamedTuple):
    """The result of one judging: the choice of each node.

    :param related: nodes whose dtypes were set by a control operator or its body, and the output they come from
    """

    mode: Mode
    choices: list[DtypeChoice]
    related: dict[int, Producer]


class GraphJudge:
    """A graph with its kernels, order and kinds of equal nodes. Later judgings reuse the results of earlier ones.

    :ivar order: node indexes as the engine judges them
    """

    def __init__(
        self, graph: ModelGraph, kernels: Kernels, marks: Marks = NO_MARKS, fp16_types: frozenset[str] = FP16_OP_TYPES
    ) -> None:
        """:raises Damaged: if the graph has a cycle that no NextIteration closes"""
        self.graph = graph
        self.kernels = kernels
        self.fp16_types = fp16_types
        self.order = order_of(graph)
        self.kind_of, self.kinds, self.acts = sort_nodes(graph, marks)
        self.kernels_of = [kernels.of(facts.op_type) for facts in self.kinds]
        self.related_cells = related_cells(graph)
        self._states: dict[tuple[str, int, tuple[Policy, ...]], State] = {}
        self.slots = graph.slots
        self._first_seen = [tensor.first_dtype for tensor in self.slots.outputs]
        self._has_continuous = any(port.continuous for facts in self.kinds for port in facts.outputs)

    def judge(self, mode: str, marks: Mapping[str, frozenset[Mark]]) -> Judgement:
        """:raises UsageFault: if the mode is unknown
        :raises ValueError: if the engine refuses the marks of an op type
        """
        return _Walk(self, judge_mode(mode), marks).judge()

    def state_of(self, kind: int, policies: tuple[Policy, ...], setting: JudgeSetting) -> State:
        """Return the choice for a kind, or its choices by what feeds it; each is computed once."""
        key = (setting.mode.engine, kind, policies)
        state = self._states.get(key)
        if state is None:
            facts, asked = self.kinds[kind], (self.kernels_of[kind], policies, setting)
            if facts.op_type in NEVER_JUDGED:
                state = left_as_is(facts, NEVER_JUDGED[facts.op_type])
            elif any(port.fed for port in facts.inputs):
                state = cache(lambda feeds: choose(facts, feeds, *asked))
            else:
                state = choose(facts, (None,) * len(facts.inputs), *asked)
            self._states[key] = state
        return state


class _Walk:
    """One judging."""

    def __init__(self, graph_judge: GraphJudge, mode: Mode, marks: Mapping[str, frozenset[Mark]]) -> None:
        self.graph_judge = graph_judge
        self.graph = graph_judge.graph
        self.mode = mode
        self.marks = marks
        self.setting = JudgeSetting(mode, graph_judge.fp16_types)
        self.seen: list[str | Seen | None] = [*graph_judge._first_seen, None]
        self.choices: list[DtypeChoice] = [_NOT_YET] * len(self.graph)
        self.set_cells: dict[TensorCell, str | None] = {}
        self.related: dict[int, Producer] = {}
        policy, given = graph_judge.kernels.cast_policy(), marks.get("Cast")
        self.cast_policy = effective(policy, given) if policy is not None and given else policy

    def judge(self) -> Judgement:
        judge, seen, choices = self.graph_judge, self.seen, self.choices
        states = []  # of every kind under the policies of this judging
        for kind, (facts, kernels) in enumerate(zip(judge.kinds, judge.kernels_of, strict=True)):
            given = self.marks.get(facts.op_type)
            policies = tuple(effective(kernel.policy, given) if given else kernel.policy for kernel in kernels)
            states.append(judge.state_of(kind, policies, self.setting))
        kind_of, acts, slots = judge.kind_of, judge.acts, judge.slots
        source_slot, inputs_of, outputs_of = slots.source_slot, slots.inputs_of, slots.outputs_of
        act_of = {CAST: self._cast, SUB_INPUT: self._body_input, SUB_OUTPUT: self._body_output}
        dtype_at = seen.__getitem__
        for node in judge.order:
            state = states[kind_of[node]]
            if isinstance(state, DtypeChoice):
                choice = state
            else:
                choice = state(tuple(map(dtype_at, source_slot[inputs_of[node] : inputs_of[node + 1]])))
            choices[node] = choice
            seen[outputs_of[node] : outputs_of[node + 1]] = choice.outputs
            if acts[node] != PLAIN:
                act_of[acts[node]](node)
        for cell, dtype in self.set_cells.items():
            choice = choices[cell.node]
            tensors = list(choice.inputs if cell.is_input else choice.outputs)
            if cell.number < len(tensors) and tensors[cell.number] is not None:
                tensors[cell.number] = dtype
            own = tuple(tensors)
            choices[cell.node] = choice._replace(inputs=own) if cell.is_input else choice._replace(outputs=own)
        if judge._has_continuous:
            _settle(self.graph, choices)
        return Judgement(self.mode, choices, self.related)

    def _cast(self, node: int) -> None:
        """Let gray consumers look through a Cast that raises a low dtype (..._allow_mix_precision_base.cc:30-64)."""
        choice, slots = self.choices[node], self.graph_judge.slots
        sources = self.graph.nodes[node].sources
        if self.cast_policy in (None, Policy.BLACK) or not sources or sources[0] is None or not choice.outputs:
            return
        dtype, given = choice.outputs[0], choice.inputs[0]
        fed = self.seen[slots.source_slot[slots.inputs_of[node]]]
        behind = dtype_of(fed)
        fp16 = behind if given == "float16" and dtype in ("float32", "bfloat16") else None
        bf16 = behind if given == "bfloat16" and dtype in ("float32", "float16") else None
        if fp16 is not None or bf16 is not None:
            self.seen[slots.outputs_of[node]] = Seen(dtype, fp16, bf16)

    def _body_input(self, node: int) -> None:
        """Give a body's Data the dtype that feeds its parent's input, and pass it on to related cells."""
        source = parent_source(self.graph, self.graph.nodes[node])
        if source is not None:
            self._spread(TensorCell(False, node, 0), source)

    def _body_output(self, node: int) -> None:
        """Give a body's NetOutput the dtype that feeds it, unless an earlier body set the same output."""
        for number, source in enumerate(self.graph.nodes[node].sources):
            cell = TensorCell(True, node, number)
            if source is not None and cell not in self.set_cells:
                self._spread(cell, source)

    def _spread(self, cell: TensorCell, source: Producer) -> None:
        """Give a cell, and those that are related to it, the dtype of an output."""
        outputs_of = self.graph_judge.slots.outputs_of
        dtype = dtype_of(self.seen[outputs_of[source.node] + source.output])
        for other in self.graph_judge.related_cells.get(cell, [cell]):
            self.set_cells[other] = dtype
            self.related.setdefault(other.node, source)
            if not other.is_input and other.number < len(self.graph.nodes[other.node].outputs):
                self.seen[outputs_of[other.node] + other.number] = dtype


_NOT_YET = left_as_is(OperatorFacts("", (), ()), "not-in-store")


def _settle(graph: ModelGraph, choices: list[DtypeChoice]) -> None:
    """Change the choices of continuous nodes in place, as the pass after the judge: an output that must be continuous
    takes the dtype of its first reader.

    Merge, and the Enter and NextIteration of a loop, carry ``_format_continuous`` on an output; if its first consumer's
    input has another dtype, all tensors of the node take that one: in the order of nodes, then again backwards. Source:
    hicann/ge ffdcbc9f, compiler/engines/nn_engine/fusion/graph_optimizer/graph_fusion/graph_fusion.cc:717-745,
    1027-1096.
    """
    marked = [node for node in graph if any(tensor.continuous for tensor in node.outputs)]
    places = {node.index for node in marked}
    readers: dict[Producer, tuple[GraphNode, int]] = {}  # the first one of each output, and the number of its input
    for node in graph:
        for number, source in enumerate(node.sources):
            if source is not None and source.node in places:
                readers.setdefault(source, (node, number))
    for node in (*marked, *reversed(marked)):
        choice = choices[node.index]
        for number, tensor in enumerate(node.outputs):
            if not tensor.continuous or Producer(node.index, number) not in readers:
                continue
            reader, slot = readers[Producer(node.index, number)]
            dtype = choices[reader.index].inputs[slot]
            if dtype is None or dtype == choice.outputs[number]:
                continue
            spared_in = node.attributes.get("_format_agnostic_except_input", ())
            spared_out = node.attributes.get("_format_agnostic_except_output")
            if spared_out is None:
                spared_out = (1,) if node.type in ("Merge", "RefMerge") else ()
            assert isinstance(spared_in, (tuple, list))
            assert isinstance(spared_out, (tuple, list))
            choices[node.index] = choice._replace(
                inputs=tuple(own if own is None or at in spared_in else dtype for at, own in enumerate(choice.inputs)),
                outputs=tuple(own if at in spared_out else dtype for at, own in enumerate(choice.outputs)),
                why="continuous",
                decided=None,
                detail=reader.name,
            )
            break
