"""The reason for a node's dtypes, as text and as data."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .graph import Producer

if TYPE_CHECKING:
    from .graph import ModelGraph
    from .judge.facts import DtypeChoice
    from .judge.prepared import Judged, Prepared


TEXTS = {
    "white": "on the white list by the {by}",
    "black": "on the black list by the {by}: keeps its dtype",
    "gray": "on the gray list by the {by}: follows {source}",
    "gray-own": "on the gray list by the {by}: {tensor} has no producer, so its own dtype is used",
    "inherits": "inherits its dtype: follows {source}",
    "inherits-own": "inherits its dtype: {tensor} has no producer, so its own dtype is used",
    "keep-dtype": "keeps its dtype because of keep_dtype",
    "cast": "keeps its dtypes because it is a Cast",
    "complex": "keeps its dtypes because one of them is complex",
    "mode": "by the mode {mode}",
    "promoted": "its inputs are promoted to one dtype, regardless of the mode and the lists",
    "customized": "by customize_dtypes",
    "first-column": "first column: no column fits, by the rule for {rule}",
    "continuous": "takes the dtype of its first reader `{detail}`",
    "related": "takes the dtype of {source}",
    "refused-tensors": "refused by AI Core: the number of its {detail} does not fit the library's entry",
    "refused-shape": "refused by AI Core: its kernel does not take {detail}",
    "refused-customized": "refused by AI Core: no column has the dtypes of customize_dtypes",
    "refused-dtype": "refused by AI Core: no column may take the dtype of {detail}{because}",
    "refused-format": "refused by AI Core: no column takes the format of {detail}",
    "refused-value": "refused by AI Core: {detail} must come from a constant",
    "refused-cast": "refused by AI Core: no column has exactly these dtypes",
    "not-in-store": "not an op type of AI Core here: keeps its dtypes",
    "no-columns": "its kernel chooses columns at compile time and none are known: keeps its dtypes",
    "unknown-dtype": "not judged: its dtypes are unknown",
    "graph-input": "input of the graph: never judged",
    "graph-output": "output of the graph: never judged",
    "constant": "constant: never judged",
    "variable": "variable: never judged",
    "layout": "layout conversion: never judged",
}
"""The text of every code."""
_RULES = {"white": "the white list", "black": "the black list", "gray": "the gray list", "gray-own": "the gray list"}


class Reason(NamedTuple):
    """The reason for a node's dtypes.

    :param code: stable, for scripts; one of ``TEXTS``
    :param text: the reason for people
    :param policy: the list that the node is on; None if the lists are not used
    :param by: ``library`` or ``mixlist``, which put it there
    :param tensor: the node's deciding tensor, such as ``input 0``; None if there is none
    :param decided_by: the output that it follows; None if it follows none
    """

    code: str
    text: str
    policy: str | None = None
    by: str | None = None
    tensor: str | None = None
    decided_by: Producer | None = None


def reason_of(prepared: Prepared, judged: Judged, node: int) -> Reason:
    """Return the reason for a node's dtypes in one judging."""
    graph, choice = prepared.graph, judged.choices[node]
    code, source = choice.why, _source(graph, choice, node)
    if node in judged.related and code != "continuous":
        code, source = "related", Producer(*judged.related[node])
    policy, by = _policy(prepared, judged, node)
    tensor = f"{choice.decided[0].removesuffix('s')} {choice.decided[1]}" if choice.decided else None
    text = TEXTS[code].format(
        by=by,
        mode=judged.mode.name,
        tensor=tensor,
        detail=choice.detail,
        source="" if source is None else f"output {source.output} of `{graph.columns.names[source.node]}`",
        rule=_RULES.get(choice.detail, choice.detail),
        because=", and it is on the black list" if policy == "black" else "",
    )
    if choice.through and source is not None:
        text += ", through a Cast"
    return Reason(code, text, policy, by, tensor, source)


def _source(graph: ModelGraph, choice: DtypeChoice, node: int) -> Producer | None:
    """Return the output that a node followed, before a Cast in between."""
    if not choice.followed or choice.decided is None:
        return None
    source = graph[node].sources[choice.decided[1]]
    if source is not None and choice.through:
        return graph[source.node].sources[0]
    return source


def _policy(prepared: Prepared, judged: Judged, node: int) -> tuple[str | None, str | None]:
    choice = judged.choices[node]
    if choice.policy is None:
        return None, None
    kernels = prepared.kernels_of[prepared.kind_of[node]]
    kernel = kernels[max(choice.kernel, 0)] if kernels else None
    by = "library" if kernel is None or kernel.policy is choice.policy else "mixlist"
    if kernel is not None and kernel.confidence == "assumed" and prepared.kernels.operators is None and by == "library":
        by = "assumption"
    return str(choice.policy), by
