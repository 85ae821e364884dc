"""The effect of a policy on a model: what is shown, JSON documents, and the words that text and page share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Annotated, Any

from ....core.cann.precision_mode import MODES
from ....core.document import Count, Schema, as_json, optional
from ....errors import counted
from ...graph.constants import ConstantCheck, ConstantFault
from ...graph.cost import Cost, NodeBytes
from ...graph.document import CastRow, Coverage, GraphDocument, NodeAnswer, NodeDtypes, PathStep
from ...graph.evidence import AccuracyEvidence
from ...graph.fusion_result import FusionResult, PassCount
from ...graph.read_back import ReadBack
from ...graph.result import Answer, AnswerComparison, GraphAnswer, summaries_of
from ...graph.shape_profiles import ProfileDifference, ShapeProfile

_MOST_TYPES = 6


@dataclass(frozen=True)
class GraphView:
    """A model's answer with what is said around it.

    :param facts: how the model was judged: (name, value)
    :param constants: the check of constants; None if it was not made
    :param compared_with: the option that asked for a comparison, as text: ``mixlist a.json``
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


@dataclass(frozen=True)
class UnreadFile:
    """One file."""

    path: str
    """The path of the file."""
    why: str
    """Why the file could not be read."""


@dataclass(frozen=True)
class ChangedNode:
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    a: NodeDtypes
    """The dtypes of a node."""
    b: NodeDtypes
    """The dtypes of a node."""


@dataclass(frozen=True)
class JudgedProfile:
    """One profile."""

    name: Annotated[str, Schema(examples=["8,448"])]
    """Its sizes, as given."""
    shapes: Mapping[str, Sequence[Annotated[int, Schema(minimum=-1)]]]
    """The shapes of inputs that were written into the model; -1 for an open dimension."""
    nodes: Count
    """Number of nodes."""
    low: Count
    """Low nodes."""
    high: Count
    """High nodes."""
    not_judged: Count
    """Nodes that are neither."""
    casts_run: Count
    """Casts that run."""


@dataclass(frozen=True)
class ShownGraph(GraphDocument):
    """The dtypes of a model's nodes and the reasons for them. Later versions may add keys."""

    constants: list[ConstantFault] | None = optional()
    """With a mode: constants with values that their low dtype cannot represent."""
    unread: list[UnreadFile] | None = optional()
    """With a mode: files whose constants could not be read."""
    path: Sequence[PathStep] | None = optional()
    """With --node: the nodes on the way back to the origin of its dtypes, in order."""
    changed: list[ChangedNode] | None = optional()
    """With a comparison: nodes whose dtypes differ."""
    casts_gone: list[CastRow] | None = optional()
    """With a comparison: Casts of the first result that are not in the second."""
    casts_added: list[CastRow] | None = optional()
    """With a comparison: Casts that are only in the second result."""
    only_in_one: list[str] | None = optional()
    """With --compare-against: names of the nodes that the other target fuses otherwise; they and their Casts are not
    compared.
    """
    fusion_result: FusionResult | None = optional()
    """With --read-back of a fusion_result.json: the compiled graph that is compared, the closest one in the file."""
    passes: list[PassCount] | None = optional()
    """With --read-back of a fusion_result.json: the passes of the compiler, and those predicted."""
    profiles: list[JudgedProfile] | None = optional()
    """With the command of --atc, if it has several shapes: each profile. The rest of the document is that of the first.
    """
    profiles_differ: Sequence[ProfileDifference] | None = optional()
    """The nodes whose op types or dtypes differ between profiles."""
    read_back: ReadBack | None = optional()
    """With --read-back: the prediction compared with a compiled model or dump."""
    cost: Cost | None = optional()
    """With --profile: what the mixlist moves from low to high."""
    evidence: AccuracyEvidence | None = optional()
    """With --evidence: what it suspects; the nodes of the document are those of the suspects."""


def graph_document(answer: GraphAnswer, rows: Sequence[NodeAnswer] | None = None, **parts: Any) -> Mapping[str, Any]:
    """Return the JSON document of some nodes, or of all.

    :param parts: what this answer has beside them
    """
    whole = answer.document(answer, answer.types) if rows is None else answer.document(rows, summaries_of(rows))
    document: dict[str, Any] = as_json(ShownGraph(**vars(whole), **parts))
    return document


def comparison_parts(answer: GraphAnswer, found: AnswerComparison) -> dict[str, Any]:
    return {
        "changed": [ChangedNode(a.name, a.type, a.dtypes, b.dtypes) for a, b in found.changed],
        "casts_gone": [*map(answer.cast_row, found.casts_gone)],
        "casts_added": [*map(answer.cast_row, found.casts_added)],
        "only_in_one": found.only_in_one or None,
    }


def judged_profile(profile: ShapeProfile, answer: Answer) -> JudgedProfile:
    own = answer.counts
    counts = own.nodes, own.low, own.high, own.not_judged, own.casts_run
    return JudgedProfile(profile.name, answer.graph.model.shapes, *counts)


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
        # without what only one node has: `refused by AI Core`
        types[group.type, group.why.removeprefix("not judged: ").partition(":")[0]] += group.nodes
    reasons = {why for _, why in types}
    most = types.most_common(_MOST_TYPES)
    listed = [f"{count} {name}{f' ({why})' if len(reasons) > 1 else ''}" for (name, why), count in most]
    if len(types) > _MOST_TYPES:
        listed.append(f"{left - sum(count for _, count in most)} of other types")
    why = f" ({next(iter(reasons))})" if len(reasons) == 1 else ""
    return f"{left} of {counted(coverage.compute, 'compute node')} not judged{why}: {', '.join(listed)}"


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
    low, high, weights, unknown = astuple(answer.memory)
    if not low + high + weights:
        return ""
    more = f"; {counted(unknown, 'tensor')} of unknown size" if unknown else ""
    return f"tensors: {size(low)} low, {size(high)} high; weights: {size(weights)}{more}"


def dtypes(words: Sequence[str | None]) -> str:
    """Return distinct dtypes with commas: `float16`, `float16,int32`; `-` if there are none."""
    return ",".join(dict.fromkeys(word or "-" for word in words)) or "-"


def cost_text(cost: Cost) -> str:
    """Return nodes, the bytes of their outputs if they are known, and their time."""
    nodes = nodes_text(cost)
    return nodes if cost.microseconds is None else f"{nodes}, which took {duration(cost.microseconds)} in the profile,"


def nodes_text(found: Cost | NodeBytes) -> str:
    """Return nodes, and the bytes of their outputs if they are known: ``12 nodes (1.2 MB)``."""
    return counted(found.nodes, "node") + (f" ({size(found.bytes)})" if found.bytes else "")


def size(count: int) -> str:
    """Return bytes as text: ``512 bytes``, ``1.2 MB``."""
    if count > 1 << 63:  # more than any machine addresses, and beyond a float's range perhaps
        return "more than 2^63 bytes"
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else counted(count, "byte")


def duration(microseconds: float) -> str:
    """Return a time with a unit that suits it.

    >>> duration(12.5), duration(4122.34)
    ('12.5 us', '4.122 ms')
    """
    value, unit = microseconds, "us"
    for larger in ("ms", "s"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.4g} {unit}"
