"""A prediction checked against a compiled model or a later dump of the same graph, or either against what ran."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...core.cann.dtype_names import FLOATING, LOW
from ...core.document import Count, internal, renamed
from .document import NodeAnswer, NodeDtypes
from .graph import CONSTANTS, NOT_COMPUTED
from .undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..profile.times import Profile
    from .graph import ModelGraph
    from .result import GraphAnswer

_COMPARED = FLOATING | LOW
"""The dtypes that are compared with a table of what ran."""


@dataclass(frozen=True)
class NodeDifference:
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    predicted: NodeDtypes
    """The dtypes of a node."""
    compiled: NodeDtypes
    """The dtypes of a node."""
    why: str
    """Why these dtypes were predicted."""
    row: NodeAnswer = internal()
    """The prediction."""


@dataclass(frozen=True, kw_only=True)
class UnmatchedNode:
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    side: Literal["compiled", "predicted", "ran"] = renamed("in")
    """What has the node: the prediction, the compiled model, or the tables of what ran. What ran and is in no model has
    one item for each op type, with the name of the first call.
    """
    why: str
    """Why the node was not compared."""


@dataclass(frozen=True)
class TypeAgreement:
    """One op type."""

    type: str
    """The op type, as the compiled model or the tables have it."""
    matched: Count
    """Number of matched nodes."""
    agree: Count
    """Number of matched nodes that agree."""


@dataclass(frozen=True)
class ReadBack:
    """A prediction compared with a compiled model or dump, or a model with what ran."""

    agreement: float | None
    """Percentage of matched nodes that agree; null if none matched."""
    matched: Count
    """Number of compute nodes of the compiled model that were found in the prediction, or of the model that ran."""
    by_fusion: Count
    """Number of these that were found through the names of the operators fused into them; 0 for what ran."""
    types: list[TypeAgreement]
    """The matched nodes by op type."""
    unmatched: list[UnmatchedNode]
    """Nodes that were not compared."""
    differs: list[NodeDifference]
    """Nodes whose dtypes differ from the prediction."""


def _result(
    matched: Counter[str], differs: list[NodeDifference], unmatched: list[UnmatchedNode], by_fusion: int = 0
) -> ReadBack:
    """:param matched: the number of matched nodes of each op type"""
    wrong, total = Counter(difference.type for difference in differs), matched.total()
    types = [TypeAgreement(name, count, count - wrong[name]) for name, count in sorted(matched.items())]
    agreement = 100.0 * (total - len(differs)) / total if total else None
    return ReadBack(agreement, total, by_fusion, types, unmatched, differs)


def read_back(predicted: GraphAnswer, compiled: GraphAnswer) -> ReadBack:
    """Match nodes by name, and fused nodes by the names of the operators fused into them.

    A node that was fused, or whose type changed, agrees if its first output has the dtype of the last operator of the
    group, and its floating-point inputs, constants excepted, have the dtypes with which tensors enter the group.
    """
    names: dict[str, int] = {}
    for index, name in enumerate(predicted.graph.names):
        names.setdefault(name, index)
    for node in predicted.graph:
        for name in node.fused_names if "fused_by" in node.attributes else ():
            names.setdefault(name, node.index)
    inserted = set(inserted_nodes(compiled.graph))
    matched: Counter[str] = Counter()
    differs: list[NodeDifference] = []
    unmatched: list[UnmatchedNode] = []
    accounted: set[int] = set()
    by_fusion = 0
    for index, row in enumerate(compiled):
        node = compiled.graph[index]
        group = frozenset(names[name] for name in node.part_names if name in names)
        why = "a conversion that the compiler inserted" if index in inserted else _not_compared(row, group)
        if why is not None:
            unmatched.append(UnmatchedNode(name=row.name, type=row.type, side="compiled", why=why))
            continue
        accounted |= group
        matched[row.type] += 1
        by_fusion += bool(node.fused_names)
        last = predicted[_last(predicted.graph, group)]
        is_same_operator = len(group) == 1 and _signature(last) == _signature(row)
        if not (_same_tensors(last, row) if is_same_operator else _same_around(predicted, group, last, compiled, row)):
            differs.append(NodeDifference(row.name, row.type, last.dtypes, row.dtypes, last.why, last))
    for index, row in enumerate(predicted):
        if row.runs is not None and index not in accounted:
            why = "no node of the compiled model has its name: removed, or fused without a record"
            unmatched.append(UnmatchedNode(name=row.name, type=row.type, side="predicted", why=why))
    return _result(matched, differs, unmatched, by_fusion)


def _not_compared(row: NodeAnswer, group: frozenset[int]) -> str | None:
    """Return why a compiled node is not compared; None if it is compared."""
    if row.type in NOT_COMPUTED:
        return "an input, output or constant: never judged"
    if row.runs is None:
        return "no floating-point tensor"
    return None if group else "not in the prediction"


def _last(graph: ModelGraph, group: frozenset[int]) -> int:
    """Return the node of a group that feeds no other node of the group."""
    fed = {source.node for node in group for source in graph[node].sources if source is not None}
    return max(group - fed or group)


def _signature(row: NodeAnswer) -> tuple[str, int, int]:
    return row.type, len(row.inputs), len(row.outputs)


def _same_tensors(predicted: NodeAnswer, compiled: NodeAnswer) -> bool:
    """Return whether the known dtypes of one operator are the same, tensor by tensor."""
    pairs = zip((*predicted.inputs, *predicted.outputs), (*compiled.inputs, *compiled.outputs), strict=True)
    return all(one == other for one, other in pairs if one is not None and other is not None)


def _same_around(
    predicted: GraphAnswer, group: frozenset[int], last: NodeAnswer, compiled: GraphAnswer, row: NodeAnswer
) -> bool:
    """Return whether a group and the node made of it yield the same dtype, and are entered with the same ones."""
    entering = {dtype for node in group for dtype in _entering(predicted, node, group)}
    own = set(_entering(compiled, row.index, frozenset({row.index})))
    return last.outputs[:1] == row.outputs[:1] and (entering == own or not entering)


def _entering(answer: GraphAnswer, index: int, group: frozenset[int]) -> Iterable[str]:
    """Yield the floating dtypes of the inputs that come from outside a group and from no constant."""
    graph, row = answer.graph, answer[index]
    for source, dtype in zip(graph[index].sources, row.inputs, strict=False):
        if source is None or source.node in group or dtype not in FLOATING:
            continue
        if graph[source.node].type not in CONSTANTS:
            yield dtype


def read_back_profile(predicted: GraphAnswer, profile: Profile) -> ReadBack:
    """Match the nodes of a model with what ran, by name.

    Floating-point dtypes are compared, of outputs and, if there are as many of them in the table, of inputs. All calls
    of a node must agree.

    :param profile: with the calls of the model's nodes
    """
    matched: Counter[str] = Counter()
    differs: list[NodeDifference] = []
    unmatched: list[UnmatchedNode] = []
    for row in predicted:
        if row.type in NOT_COMPUTED:
            continue
        kernel = profile.nodes.get(row.name)
        if kernel is None or (None, None) in kernel.dtypes:
            if row.runs is not None:
                nameless = "no row has its name: fused, folded or renamed"
                why = nameless if kernel is None else "the table does not have its dtypes"
                unmatched.append(UnmatchedNode(name=row.name, type=row.type, side="predicted", why=why))
            continue
        matched[kernel.type] += 1
        own = _present(row.inputs)
        for inputs, outputs in sorted(kernel.dtypes, key=str):
            pairs = [*zip(row.outputs, outputs or (), strict=False)]
            its = _present(inputs or ())
            if len(own) == len(its):
                pairs += zip(own, its, strict=True)
            if any(one != other for one, other in pairs if one in _COMPARED and other in _COMPARED):
                ran = NodeDtypes(inputs or (), outputs or ())
                differs.append(NodeDifference(row.name, kernel.type, row.dtypes, ran, row.why, row))
                break
    for op_type, (first, time) in profile.others.items():
        more = f", and {time.calls - 1} more calls" if time.calls > 1 else ""
        why = f"the model has no node of this name{more}"
        unmatched.append(UnmatchedNode(name=first, type=op_type, side="ran", why=why))
    return _result(matched, differs, unmatched)


def _present(dtypes: Sequence[str | None]) -> list[str | None]:
    return [dtype for dtype in dtypes if dtype is not None]
