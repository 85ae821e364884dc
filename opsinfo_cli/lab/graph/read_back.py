"""A prediction checked against a compiled model or a later dump of the same graph."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.dtype_names import FLOATING
from .graph import CONSTANTS
from .result import NOT_COMPUTED
from .undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .graph import ModelGraph
    from .result import GraphAnswer, NodeAnswer


class NodeDifference(NamedTuple):
    """A node with other dtypes than predicted."""

    name: str
    type: str
    predicted: NodeAnswer
    compiled: NodeAnswer


class UnmatchedNode(NamedTuple):
    """A node that only one of the two has, or that has no dtype to compare.

    :param side: ``compiled`` or ``predicted``
    """

    name: str
    type: str
    side: str
    why: str


class TypeAgreement(NamedTuple):
    """The matched nodes of one op type of the compiled model."""

    type: str
    matched: int
    agree: int


class ReadBack(NamedTuple):
    """The result of a check.

    :param by_name: compute nodes of the compiled model found in the prediction by name
    :param by_fusion: those found through the names of the operators that were fused into them
    """

    by_name: int
    by_fusion: int
    types: list[TypeAgreement]
    differs: list[NodeDifference]
    unmatched: list[UnmatchedNode]

    @classmethod
    def of(
        cls, matched: Counter[str], differs: list[NodeDifference], unmatched: list[UnmatchedNode], by_fusion: int = 0
    ) -> ReadBack:
        """:param matched: the number of matched nodes of each op type"""
        wrong = Counter(each.type for each in differs)
        types = [TypeAgreement(each, matched[each], matched[each] - wrong[each]) for each in sorted(matched)]
        return cls(matched.total() - by_fusion, by_fusion, types, differs, unmatched)

    @property
    def matched(self) -> int:
        return self.by_name + self.by_fusion

    @property
    def agreement(self) -> float | None:
        """Percent of the matched nodes that agree; None if none matched."""
        return 100.0 * (self.matched - len(self.differs)) / self.matched if self.matched else None


def read_back(predicted: GraphAnswer, compiled: GraphAnswer) -> ReadBack:
    """Match nodes by name, and fused nodes by the names of the operators fused into them.

    A node that was fused, or whose type changed, agrees if its first output has the dtype of the last operator of the
    group, and its floating-point inputs, constants excepted, have the dtypes with which tensors enter the group.
    """
    names: dict[str, int] = {}
    for index, name in enumerate(predicted.graph.names):
        names.setdefault(name, index)
    for node in predicted.graph:
        for name in node.fused_from if "fused_by" in node.attributes else ():
            names.setdefault(name, node.index)
    inserted = set(inserted_nodes(compiled.graph))
    matched: Counter[str] = Counter()
    differs: list[NodeDifference] = []
    unmatched: list[UnmatchedNode] = []
    accounted: set[int] = set()
    fused = 0
    for index, row in enumerate(compiled):
        group = _group(compiled.graph, index, names)
        why = _not_compared(row, index in inserted, group)
        if why:
            unmatched.append(UnmatchedNode(row.name, row.type, "compiled", why))
            continue
        accounted.update(group)
        matched[row.type] += 1
        fused += bool(compiled.graph[index].fused_from)
        last = predicted[_last(predicted.graph, group)]
        if not (_same(last, row) if _is_alike(last, row, group) else _same_around(predicted, compiled, group, index)):
            differs.append(NodeDifference(row.name, row.type, last, row))
    unmatched += _gone(predicted, accounted)
    return ReadBack.of(matched, differs, unmatched, fused)


def _group(graph: ModelGraph, index: int, names: Mapping[str, int]) -> frozenset[int]:
    """The predicted nodes that a compiled node was made of, constants excepted unless there is nothing else."""
    node = graph[index]
    return frozenset(names[name] for name in node.fused_from or (node.name,) if name in names)


def _not_compared(row: NodeAnswer, inserted: bool, group: Iterable[int]) -> str | None:
    """Return why a compiled node is not compared; None if it is compared."""
    if inserted:
        return "a conversion that the compiler inserted"
    if row.type in NOT_COMPUTED:
        return "an input, output or constant: never judged"
    if row.runs is None:
        return "no floating-point tensor"
    return None if group else "not in the prediction"


def _gone(predicted: GraphAnswer, accounted: set[int]) -> Iterable[UnmatchedNode]:
    for index, row in enumerate(predicted):
        if row.runs is not None and index not in accounted:
            why = "no node of the compiled model has its name: removed, or fused without a record"
            yield UnmatchedNode(row.name, row.type, "predicted", why)


def _last(graph: ModelGraph, group: frozenset[int]) -> int:
    """Return the node of a group that feeds no other node of the group."""
    if len(group) == 1:
        return next(iter(group))
    fed = {source.node for node in group for source in graph[node].sources if source is not None}
    return max(group - fed or group)


def _is_alike(predicted: NodeAnswer, compiled: NodeAnswer, group: frozenset[int]) -> bool:
    """Return whether two nodes are the same operator, tensor by tensor."""
    return (
        len(group) == 1
        and predicted.type == compiled.type
        and len(predicted.inputs) == len(compiled.inputs)
        and len(predicted.outputs) == len(compiled.outputs)
    )


def _same(predicted: NodeAnswer, compiled: NodeAnswer) -> bool:
    mine, its = (*predicted.inputs, *predicted.outputs), (*compiled.inputs, *compiled.outputs)
    return all(one == other for one, other in zip(mine, its, strict=True) if one is not None and other is not None)


def _same_around(predicted: GraphAnswer, compiled: GraphAnswer, group: frozenset[int], index: int) -> bool:
    last = predicted[_last(predicted.graph, group)]
    its = compiled[index]
    if last.outputs[:1] != its.outputs[:1]:
        return False
    entering = {dtype for node in group for dtype in _entering(predicted, node, group)}
    return entering == set(_entering(compiled, index, frozenset({index}))) or not entering


def _entering(outcome: GraphAnswer, index: int, group: frozenset[int]) -> Iterable[str]:
    """Floating dtypes of the inputs that come from outside a group and from no constant."""
    graph, row = outcome.graph, outcome[index]
    for source, dtype in zip(graph[index].sources, row.inputs, strict=False):
        if source is None or source.node in group or dtype not in FLOATING:
            continue
        if graph[source.node].type not in CONSTANTS:
            yield dtype
