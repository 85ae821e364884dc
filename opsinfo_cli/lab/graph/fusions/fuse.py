"""Fusions: what the compiler makes of a model of another framework before it chooses dtypes.

The passes are in ``passes``, one module a family, and run in the engine's order. A compiled model and a dump are left
as they are: they are after fusion.

Whether AI Core supports an op type is asked with the policies of the target and as in mixed_float16, so that fusion is
the same for every mode and mixlist. That is a simplification of ours: the engine asks with the mode and the list of the
compilation, on which the answer depends (``judge/support.py``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ....core.document import Schema, optional
from ....core.package_data import package_data
from ....errors import UsageFault
from ....near_names import did_you_mean
from ..judge.modes import judge_mode
from ..judge.sorting import NodeFacts
from ..judge.support import Bound, bind
from . import passes
from .rule import JSON_RULE, Confidence, FusionGraph, FusionRule
from .toolkit_rules import json_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..graph import GraphNode, ModelGraph
    from ..judge.kernel_sources import Kernels
    from ..judge.node_facts import OperatorFacts

ALL = "all"
"""The name that leaves out every fusion."""
_JSON_RULES = "lib64/plugin/opskernel/fusion_rules/ai_core/built_in_graph_rules.json"
"""The file with a toolkit's own JSON rules, beside its OPP."""

RULES: dict[str, FusionRule] = {
    rule.name: rule
    for rule in sorted(
        (
            rule
            for module in iter_modules(passes.__path__, f"{passes.__name__}.")
            for rule in import_module(module.name).RULES
        ),
        key=lambda rule: rule.order,
    )
}
"""By the compiler's name of the pass, in the order in which it runs them."""


@dataclass(frozen=True)
class Fusion:
    """One application of a fusion."""

    name: Annotated[str, Schema(examples=["ConstToAttrPass"])]
    """The compiler's name of the pass."""
    nodes: tuple[str, ...]
    """Names of the nodes that it took."""
    result: tuple[str, ...]
    """Names of the nodes that replace them; empty if they were removed."""
    confidence: Confidence = optional("high")
    """How sure it is that the compiler does the same on this chip."""


class Fused(NamedTuple):
    """A graph after fusion.

    :param not_applied: passes that may run here and are not applied, with the names of the nodes that they may change
    """

    graph: ModelGraph
    fusions: Sequence[Fusion] = ()
    not_applied: Mapping[str, Sequence[str]] = MappingProxyType({})


def fuse(graph: ModelGraph, kernels: Kernels, without: Collection[str] = (), root: str | None = None) -> Fused:
    """Return the graph as the engine chooses dtypes for it.

    :param without: names of fusions that are left out, or ``all``
    :param root: of the operator package; the toolkit around it may have JSON rules of its own
    :raises UsageFault: if there is no fusion of a name
    """
    rules = _rules(root)
    known = [ALL, *(rule.name for rule in rules)]
    for name in without:
        if name not in known:
            hint = did_you_mean(name, known) or f"one of {', '.join(known)}"
            raise UsageFault(f"--no-fusion: unknown fusion `{name}`", name="unknown-fusion", hint=hint)
    if not graph.model.predicted or ALL in without:
        return Fused(graph)
    it = FusionGraph(graph, _support_of(graph, kernels), kernels.soc)
    fusions: list[Fusion] = []
    not_applied: dict[str, list[str]] = {}
    for rule in rules:
        runs = rule.runs_on(it.soc)
        if rule.name in without or runs is False:
            continue
        for change in rule.changes(it):
            if change.checked and change.node is not None and not it.supported(change.node):
                continue
            if runs is None:
                not_applied.setdefault(rule.name, []).append(change.parts[0].name)
                continue
            result = () if change.node is None else (change.node.name,)
            names = tuple([part.name for part in change.parts])
            fusions.append(Fusion(rule.name, names, result, rule.confidence_on(it.soc)))
            it.apply(rule.name, change)
    for row in unknown_passes():
        if nodes := [node.name for node in it.of(*row["types"]) if _may_take(it, row, node)]:
            not_applied.setdefault(row["name"], []).extend(nodes)
    return Fused(it.result() if fusions else graph, fusions, not_applied)


def fused_into(graph: ModelGraph, op_type: str) -> list[str]:
    """Return the op types that fusion made of the nodes of one; none if a node still has it, or had none of it."""
    types = sorted({node.type for node in graph if op_type in node.first_types})
    return [] if op_type in graph.types else types


def _rules(root: str | None) -> list[FusionRule]:
    """Return the rules in order, with the JSON rules of the target's toolkit instead if it has any."""
    own: list[FusionRule] = []
    toolkit = None if root is None else Path(root).resolve().parent
    for place in (toolkit, toolkit / "compiler", *sorted(toolkit.glob("*-linux"))) if toolkit else ():
        try:
            document = json.loads((place / _JSON_RULES).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        own = json_rules(document, str(place / _JSON_RULES))
        break
    if not own:
        return list(RULES.values())
    others = (rule for rule in RULES.values() if not 0 <= rule.priority - JSON_RULE < JSON_RULE)
    return sorted((*others, *own), key=lambda rule: rule.order)


def _support_of(graph: ModelGraph, kernels: Kernels) -> Callable[[GraphNode], bool]:
    """Return a function that tells whether AI Core supports a node; equal ones are asked once."""
    facts_of, mode = NodeFacts(graph).of, judge_mode("mixed_float16")

    @cache
    def is_supported(facts: OperatorFacts) -> bool:
        return any(isinstance(bind(facts, kernel, kernel.policy, mode), Bound) for kernel in kernels.of(facts.op_type))

    return lambda node: is_supported(facts_of(node))


@cache
def unknown_passes() -> list[dict[str, Any]]:
    """Return the passes whose rules are not known, see the file."""
    found: list[dict[str, Any]] = package_data("opsinfo_cli.lab.graph", "fusions-not-applied")["passes"]
    return found


def _may_take(it: FusionGraph, row: Mapping[str, Any], node: GraphNode) -> bool:
    if "chips" in row and it.soc is not None and it.soc not in row["chips"]:
        return False
    producers = {it.nodes[source.node].type for source in node.sources if source is not None}
    if "reads" in row and producers.isdisjoint(row["reads"]):
        return False
    if row.get("named", "") not in node.name or not it.has(row.get("with", row["types"])):
        return False
    tensors = max(len(node.sources), len(node.outputs))
    return tensors > row.get("more_than", 0) and ("dtypes" not in row or node.inputs[0].first_dtype in row["dtypes"])
