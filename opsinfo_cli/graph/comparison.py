"""Comparison of two answers for one graph: nodes whose dtypes differ, and added and removed Casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .outcome import CastOutcome, GraphOutcome, NodeOutcome


class Change(NamedTuple):
    """A node whose dtypes differ between two outcomes.

    :param at: index of the node in both graphs
    """

    at: int
    name: str
    type: str
    a: NodeOutcome
    b: NodeOutcome


class OutcomeComparison(NamedTuple):
    """The differences between two outcomes of the same graph.

    :param casts_gone: Casts of A that B does not need
    :param casts_added: Casts of B that A does not need
    """

    changed: list[Change]
    casts_gone: list[CastOutcome]
    casts_added: list[CastOutcome]

    def __bool__(self) -> bool:
        return bool(self.changed or self.casts_gone or self.casts_added)


def compared(a: GraphOutcome, b: GraphOutcome) -> OutcomeComparison:
    """Compare two outcomes of one graph, node by node and edge by edge."""
    changed = [
        Change(index, one.name, one.type, one, other)
        for index, (one, other) in enumerate(zip(a, b, strict=True))
        if (one.inputs, one.outputs) != (other.inputs, other.outputs)
    ]
    before, after = set(a.casts), set(b.casts)
    return OutcomeComparison(
        changed,
        [cast for cast in a.casts if cast not in after],
        [cast for cast in b.casts if cast not in before],
    )
