"""The effect of a policy on a model: what is shown, JSON documents, and the words that text and page share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ....core.cann.precision_mode import MODES
from ....errors import counted
from ...graph.constants import ConstantCheck
from ...graph.cost import Cost
from ...graph.fusion_result import FusionResult
from ...graph.read_back import ReadBack
from ...graph.result import Answer, AnswerComparison, Coverage, GraphAnswer, NodeAnswer
from ...graph.shape_profiles import ProfileDifference, ShapeProfile
from ..cost import cost_text, size

if TYPE_CHECKING:
    from typing import Any

    from ...documents import graph as documents
    from ...documents import shared

_MOST_TYPES = 6


@dataclass(frozen=True)
class GraphView:
    """A model's answer with what is said around it.

    :param facts: how the model was judged: (name, value)
    :param caveats: what the answer assumes, and what it does not consider
    :param constants: the check of constants; None if it was not made
    :param compared_with: the option that asked for a comparison, as text: ``mixlist a.json``
    :param cost: what the mixlist moves to high precision, with a profile
    :param chosen: index of the node that a page shows first
    """

    answer: GraphAnswer
    facts: Sequence[tuple[str, str]]
    caveats: Sequence[str]
    constants: ConstantCheck | None = None
    compared_with: str = ""
    cost: Cost | None = None
    comparison: AnswerComparison | None = None
    back: ReadBack | None = None
    chosen: int | None = None

    @property
    def cost_notes(self) -> Sequence[str]:
        if self.cost is None:
            return ()
        return (f"the mixlist moves {cost_text(self.cost) if self.cost.nodes else 'no node'} to high",)


def comparison_document(answer: GraphAnswer, found: AnswerComparison) -> documents.GraphDocument:
    document = whole_document(answer)
    document["changed"] = [{"name": a.name, "type": a.type, "a": _ends(a), "b": _ends(b)} for a, b in found.changed]
    document["casts_gone"] = [answer.cast_document(edge) for edge in found.casts_gone]
    document["casts_added"] = [answer.cast_document(edge) for edge in found.casts_added]
    return document


def whole_document(answer: GraphAnswer) -> documents.GraphDocument:
    return answer.document(answer, answer.types)


def fusion_result_document(answer: GraphAnswer, result: FusionResult) -> documents.GraphDocument:
    document = whole_document(answer)
    document["fusion_result"] = {"graph": result.graph, "graphs": result.graphs}
    document["passes"] = [
        {
            "name": row.name,
            "predicted": row.predicted,
            "matched": row.matched,
            "effective": row.effective,
        }
        for row in result.passes
    ]
    return document


def _ends(row: NodeAnswer) -> shared.Dtypes:
    return {"inputs": list(row.inputs), "outputs": list(row.outputs)}


def profiles_document(
    answers: Sequence[Answer], profiles: Sequence[ShapeProfile], found: Sequence[ProfileDifference]
) -> documents.GraphDocument:
    """:param answers: of the profiles"""
    document = whole_document(answers[0])
    document["profiles"] = [
        {
            "name": profile.name,
            "shapes": {name: list(dims) for name, dims in answer.graph.model.shapes.items()},
            "nodes": answer.counts.nodes,
            "low": answer.counts.low,
            "high": answer.counts.high,
            "not_judged": answer.counts.not_judged,
            "casts_run": answer.counts.casts.run,
        }
        for profile, answer in zip(profiles, answers, strict=True)
    ]
    document["profiles_differ"] = [
        {
            "name": node.name,
            "profiles": [None if row is None else {"type": row.type, **_ends(row)} for row in node.rows],
        }
        for node in found
    ]
    return document


def read_back_document(found: ReadBack) -> documents.ReadBack:
    return {
        "agreement": found.agreement,
        "matched": found.matched,
        "by_fusion": found.by_fusion,
        "types": [{"type": row.type, "matched": row.matched, "agree": row.agree} for row in found.types],
        "unmatched": [
            {"name": node.name, "type": node.type, "in": cast("Any", node.side), "why": node.why}
            for node in found.unmatched
        ],
        "differs": [
            {
                "name": node.name,
                "type": node.type,
                "predicted": _ends(node.predicted),
                "compiled": _ends(node.found),
                "why": node.predicted.why,
            }
            for node in found.differs
        ],
    }


def reads_low_text(answer: GraphAnswer) -> str:
    """Return that nodes which give float32 do not compute in it."""
    rows = answer.reads_low
    parts = [f"{row.nodes} {row.type} in {row.dtype}" for row in rows[:_MOST_TYPES]]
    more = f" and {len(rows) - _MOST_TYPES} more op types" if len(rows) > _MOST_TYPES else ""
    mode = MODES.get(answer.mode_name or "")
    same = f"; {mode.name} is the same mode as {mode.same[0]}" if mode and mode.engine == "FORCE_FP32" else ""
    return f"high nodes that read float32 inputs in a low dtype: {', '.join(parts)}{more}{same}"


def coverage_text(coverage: Coverage) -> str:
    """Return how many compute nodes are not judged, with their op types and the reasons; empty if all are."""
    left = coverage.compute - coverage.judged
    if not left:
        return ""
    types: Counter[tuple[str, str]] = Counter()
    for group in coverage.types:
        types[group.op_type, _short_reason(group.why)] += group.nodes
    reasons = {why for _, why in types}
    most = types.most_common(_MOST_TYPES)
    listed = [f"{count} {name}{f' ({why})' if len(reasons) > 1 else ''}" for (name, why), count in most]
    if len(types) > _MOST_TYPES:
        listed.append(f"{left - sum(count for _, count in most)} of other types")
    why = f" ({next(iter(reasons))})" if len(reasons) == 1 else ""
    return f"{left} of {counted(coverage.compute, 'compute node')} not judged{why}: {', '.join(listed)}"


def _short_reason(why: str) -> str:
    """Return the reason that a node has, without what only this node has: ``refused by AI Core``."""
    return why.removeprefix("not judged: ").partition(":")[0]


def casts_text(answer: GraphAnswer) -> str:
    casts = answer.cast_counts
    if not casts.edges:
        return "no edge needs a Cast"
    edges = f"{counted(casts.edges, 'edge')} need{'s' if casts.edges == 1 else ''} a Cast"
    same = casts.edges - casts.run - casts.folded
    shared = f", {same} shared with another edge" if same else ""
    converted = ""
    if answer.mode_name is not None and casts.bytes:
        unknown = f" and {counted(casts.unknown_sizes, 'tensor')} of unknown size" if casts.unknown_sizes else ""
        converted = f", {size(casts.bytes)}{unknown} converted in each run"
    return f"{edges}: {casts.run} to run, {casts.folded} folded on constants{shared}{converted}"


def memory_text(answer: GraphAnswer) -> str:
    """Return the bytes of tensors and weights as text; empty if none is known."""
    low, high, weights, unknown = answer.memory
    if not low + high + weights:
        return ""
    more = f"; {counted(unknown, 'tensor')} of unknown size" if unknown else ""
    return f"tensors: {size(low)} low, {size(high)} high; weights: {size(weights)}{more}"


def dtypes(words: Sequence[str | None]) -> str:
    """Return distinct dtypes with commas: `float16`, `float16,int32`; `-` if there are none."""
    return ",".join(dict.fromkeys(word or "-" for word in words)) or "-"
