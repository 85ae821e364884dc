"""Two outcomes of one model: nodes whose dtypes differ, and a prediction checked against a compiled model."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .graph import ModelGraph
    from .outcome import CastOutcome, GraphOutcome, NodeOutcome


class Change(NamedTuple):
    """A node whose dtypes differ between two outcomes."""

    name: str
    type: str
    a: NodeOutcome
    b: NodeOutcome


class OutcomeComparison(NamedTuple):
    """What differs between two outcomes of the same graph.

    :param casts_gone: Casts of A that B does not need
    :param casts_added: Casts of B that A does not need
    """

    changed: list[Change]
    casts_gone: list[CastOutcome]
    casts_added: list[CastOutcome]

    def __bool__(self) -> bool:
        return bool(self.changed or self.casts_gone or self.casts_added)


def compared(a: GraphOutcome, b: GraphOutcome) -> OutcomeComparison:
    """Compare two judgings of one graph, node by node and edge by edge."""
    changed = [
        Change(one.name, one.type, one, other)
        for one, other in zip(a, b, strict=True)
        if (one.inputs, one.outputs) != (other.inputs, other.outputs)
    ]
    before, after = set(a.casts), set(b.casts)
    return OutcomeComparison(
        changed,
        [cast for cast in a.casts if cast not in after],
        [cast for cast in b.casts if cast not in before],
    )


class NodeDifference(NamedTuple):
    """A node that the compiler gave other dtypes than predicted."""

    name: str
    type: str
    predicted: NodeOutcome
    compiled: NodeOutcome


class ReadBack(NamedTuple):
    """A prediction checked against a compiled model or a later dump.

    :param matched: compute nodes of the compiled model found in the prediction, by name or through fusion
    :param unmatched: those not found, with their op types
    """

    matched: int
    unmatched: list[tuple[str, str]]
    differs: list[NodeDifference]

    @property
    def agreement(self) -> float | None:
        """Percent of the matched nodes that agree; None if none matched."""
        return 100.0 * (self.matched - len(self.differs)) / self.matched if self.matched else None


def read_back(predicted: GraphOutcome, compiled: GraphOutcome) -> ReadBack:
    """Match nodes by name, and fused ones through the names of what was fused into them.

    A fused node agrees if its outputs have the dtypes of the last operator fused into it, its producer's side excepted:
    the tensors inside it no longer exist.
    """
    rows = {row.name: row for row in predicted}
    unmatched: list[tuple[str, str]] = []
    differs: list[NodeDifference] = []
    matched = 0
    for index, row in enumerate(compiled):
        if row.runs is None or _is_inserted(row):
            continue
        own = rows.get(row.name)
        found = own or _fused(compiled.graph, index, rows)
        if found is None:
            unmatched.append((row.name, row.type))
            continue
        matched += 1
        if not _agree(found, row, exact=own is not None):
            differs.append(NodeDifference(row.name, row.type, found, row))
    return ReadBack(matched, unmatched, differs)


def _is_inserted(row: NodeOutcome) -> bool:
    return row.type in ("Cast", "TransData") and row.name.startswith(f"trans_{row.type}_")


def _fused(graph: ModelGraph, index: int, rows: dict[str, NodeOutcome]) -> NodeOutcome | None:
    """The last operator of a fused node that the prediction has."""
    return next((rows[name] for name in reversed(graph[index].fused_from) if name in rows), None)


def _agree(predicted: NodeOutcome, compiled: NodeOutcome, exact: bool) -> bool:
    if predicted.outputs[:1] != compiled.outputs[:1]:
        return False
    return not exact or predicted.inputs[:1] == compiled.inputs[:1]
