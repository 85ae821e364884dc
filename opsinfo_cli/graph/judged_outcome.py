"""The outcome of a judging: rows that equal nodes share but for their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answer import runs_low
from .outcome import CastOutcome, Decider, GraphOutcome, NodeOutcome, OutcomeCasts, subgraph_names
from .reason import ReasonParts, source_of, wording_of

if TYPE_CHECKING:
    from .answer import Answer


def judged_outcome(answer: Answer) -> GraphOutcome:
    """Return the effect of a mode and a mixlist on a graph."""
    rows, counts = _Rows(answer), answer.counts.casts
    return GraphOutcome(answer.graph, answer.mode.name, rows.row, lambda: _casts(answer), counts)


class _Rows:
    """Rows of an answer. Nodes of one kind with one choice differ in their names and followed outputs."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._names = answer.graph.columns.names
        self._subgraphs = subgraph_names(answer.graph)
        self._kind_of = answer.prepared.kind_of
        self._choices = answer.judged.choices
        self._related = answer.judged.related
        self._known: dict[tuple[int, int, bool], tuple[NodeOutcome, ReasonParts]] = {}

    def row(self, index: int) -> NodeOutcome:
        key = self._kind_of[index], id(self._choices[index]), index in self._related
        shared, wording = self._known.get(key) or self._known.setdefault(key, self._shared(index))
        source = source_of(self._answer.prepared, self._answer.judged, index)
        why, decided = shared.why, None
        if source is not None:
            why = wording.text(source, self._names)
            decided = Decider(self._names[source.node], f"output {source.output}", source.node)
        return NodeOutcome(
            self._names[index],
            shared.type,
            self._subgraphs[index] if self._subgraphs else "",
            shared.policy,
            why,
            shared.code,
            decided,
            *shared[7:],
        )

    def _shared(self, index: int) -> tuple[NodeOutcome, ReasonParts]:
        node = self._answer[index]
        wording = wording_of(self._answer.prepared, self._answer.judged, index)
        runs = ("low" if runs_low(node.choice) else "high") if node.judged else None
        row = NodeOutcome(
            "",
            node.type,
            "",
            node.policy,
            wording.text(None, self._names),
            wording.code,
            None,
            node.judged,
            runs,
            node.inputs,
            node.outputs,
            node.original_inputs,
            node.original_outputs,
            node.confidence,
        )
        return row, wording


def _casts(answer: Answer) -> OutcomeCasts:
    names = answer.graph.columns.names
    found = [
        CastOutcome(
            names[each.producer],
            each.output,
            names[each.consumer],
            each.input,
            each.begin,
            each.end,
            each.constant,
            (each.producer, each.consumer),
        )
        for each in answer.casts
    ]
    return OutcomeCasts(found, answer.counts.casts, (), answer.removed, answer.rewired)
