"""Fusions: what the compiler makes of a model of another framework before it chooses dtypes.

Two passes of the preparation remove Dropout and Identity; the graph passes of the engine follow, in the order of their
priorities. The rules are in ``fusion_rules``. A compiled model and a dump are left as they are: they are after fusion.

Whether AI Core supports an op type is asked with the policies of the target and as in mixed_float16: here, fusion is
the same for every mode and mixlist.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from .fusion_rules import NOT_APPLIED, RULES, FusionGraph
from .judge.modes import judge_mode
from .judge.sorting import sort_nodes
from .judge.support import Bound, taken

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .fusion_rules import Change
    from .graph import ModelGraph
    from .judge.kernels import Kernels

ALL = "all"
"""The name that leaves out every fusion."""


class Fusion(NamedTuple):
    """One application of a fusion.

    :param nodes: the names of the nodes that it took
    :param result: the names of those that replace them; empty if they were removed
    """

    name: str
    nodes: tuple[str, ...]
    result: tuple[str, ...]


class Fused(NamedTuple):
    """A graph after fusion.

    :param not_applied: fusions whose rules are not known, with the number of nodes that they may change
    """

    graph: ModelGraph
    fusions: Sequence[Fusion] = ()
    not_applied: Mapping[str, int] = MappingProxyType({})


def fused(graph: ModelGraph, kernels: Kernels, without: Collection[str] = ()) -> Fused:
    """Return the graph as the engine chooses dtypes for it.

    :param without: names of fusions that are left out, or ``all``
    :raises UsageFault: if there is no fusion of a name
    """
    for name in without:
        if name != ALL and name not in RULES:
            hint = did_you_mean(name, [ALL, *RULES]) or f"one of {', '.join([ALL, *RULES])}"
            raise UsageFault(f"--no-fusion: unknown fusion `{name}`", name="unknown-fusion", hint=hint)
    if not graph.model.predicted or ALL in without:
        return Fused(graph)
    fusions: list[Fusion] = []
    for name, rule in RULES.items():
        if name in without:
            continue
        changes = _accepted(graph, list(rule(FusionGraph(graph, _Support(graph, kernels)))), kernels)
        if changes:
            fusions += [_fusion(graph, name, change) for change in changes]
            graph = _changed(graph, name, changes)
    return Fused(_without_unread(graph) if fusions else graph, fusions, _not_applied(graph))


def fused_into(graph: ModelGraph, op_type: str) -> list[str]:
    """Return the op types that fusion made of the nodes of one; none if a node still has it, or had none of it."""
    types = sorted({node.type for node in graph if node.first_type == op_type})
    return [] if op_type in types else types


class _Support:
    """Tells whether AI Core supports a node; equal nodes are asked once."""

    def __init__(self, graph: ModelGraph, kernels: Kernels) -> None:
        self._graph = graph
        self._kernels = kernels
        self._kind_of: list[int] = []
        self._known: list[bool] = []

    def __call__(self, node: int) -> bool:
        if not self._kind_of:
            self._kind_of, kinds, _ = sort_nodes(self._graph)
            mode = judge_mode("mixed_float16")
            self._known = [
                any(
                    isinstance(taken(facts, kernel, kernel.policy, mode), Bound)
                    for kernel in self._kernels.of(facts.op_type)
                    if kernel.confidence != "none"
                )
                for facts in kinds
            ]
        return self._known[self._kind_of[node]]


def _accepted(graph: ModelGraph, changes: list[Change], kernels: Kernels) -> list[Change]:
    """Return the changes without those whose result AI Core would have to support and does not."""
    if not any(change.checked for change in changes):
        return changes
    nodes = list(graph.nodes)
    for change in changes:
        if change.node is not None:
            nodes[change.at] = change.node
    supported = _Support(graph.with_nodes(nodes), kernels)
    return [change for change in changes if not change.checked or supported(change.at)]


def _fusion(graph: ModelGraph, name: str, change: Change) -> Fusion:
    taken_nodes = dict.fromkeys([*change.gone, change.at])
    result = () if change.node is None else (change.node.name,)
    return Fusion(name, tuple(graph[index].name for index in taken_nodes), result)


def _changed(graph: ModelGraph, name: str, changes: Sequence[Change]) -> ModelGraph:
    nodes = list(graph.nodes)
    for change in changes:
        if change.node is not None:
            own = nodes[change.at] if change.of is None else nodes[change.of]
            parts = dict.fromkeys([own.index, *change.gone, change.at])
            types = tuple(each for index in parts for each in graph[index].first_types)
            attributes: dict[str, object] = {**own.attributes, "fused_by": name, "fused_types": types}
            if own.first_type != change.node.type:
                attributes["fused_type"] = own.first_type
            nodes[change.at] = replace(change.node, attributes=attributes)
    gone = {index: source for change in changes for index, source in change.gone.items()}
    graph = graph.with_nodes(nodes)
    return graph.without(gone) if gone else graph


def _without_unread(graph: ModelGraph) -> ModelGraph:
    """Return the graph without constants that nothing reads since they became attributes."""
    read = {source.node for node in graph for source in node.sources if source is not None}
    read.update(index for node in graph for index in node.control)
    gone = [node.index for node in graph if node.type == "Const" and node.index not in read]
    return graph.without(dict.fromkeys(gone)) if gone else graph


def _not_applied(graph: ModelGraph) -> dict[str, int]:
    counts: Counter[str] = Counter()
    types = set(graph.types)
    for each in NOT_APPLIED:
        if types.isdisjoint(each.types):
            continue
        for node in graph:
            producers = {graph[source.node].type for source in node.sources if source is not None}
            counts[each.name] += node.type in each.types and (not each.reads or not producers.isdisjoint(each.reads))
    return {name: count for name, count in counts.items() if count}
