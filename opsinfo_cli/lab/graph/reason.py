"""The reason for a node's dtypes, as a code and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.policy import Policy
from .graph import Producer

if TYPE_CHECKING:
    from ...core.document import PolicyName
    from .judge.graph_judge import GraphJudge, Judgement
    from .judge.node_facts import DtypeChoice


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
    "refused-tensors": "refused by {core}: the number of its {detail} does not fit the library's entry",
    "refused-shape": "refused by {core}: its kernel does not take {detail}",
    "refused-customized": "refused by {core}: no column has the dtypes of customize_dtypes",
    "refused-dtype": "refused by {core}: no column may take the dtype of {detail}{because}",
    "refused-format": "refused by {core}: no column takes the format of {detail}",
    "refused-value": "refused by {core}: {detail} must come from a constant",
    "refused-cast": "refused by {core}: no column has exactly these dtypes",
    "not-in-store": "not an op type of AI Core here: keeps its dtypes",
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
    :param by: ``library`` or ``mixlist``, which put it there, or ``assumption``
    :param tensor: the node's deciding tensor, such as ``input 0``; None if there is none
    :param source: the output that it followed, beyond the Cast that it looked through; None if it followed none
    """

    code: str
    text: str
    policy: PolicyName | None
    by: str | None
    tensor: str | None
    source: Producer | None


def reason_of(judge: GraphJudge, judgement: Judgement, node: int) -> Reason:
    choice, nodes = judgement.choices[node], judge.graph.nodes
    policy: PolicyName | None = None
    by = None
    if choice.policy is not None:
        kernels = judge.kernels_of[judge.kind_of[node]]
        kernel = kernels[max(choice.kernel, 0)] if kernels else None
        policy = choice.policy.value
        if kernel is not None and kernel.policy is not choice.policy:
            by = "mixlist"
        else:
            is_assumed = kernel is not None and kernel.confidence == "assumed" and judge.kernels.operators is None
            by = "assumption" if is_assumed else "library"
    tensor = f"{choice.decided[0].removesuffix('s')} {choice.decided[1]}" if choice.decided else None
    code, source = choice.why, None
    if node in judgement.related and choice.why != "continuous":
        code, source = "related", judgement.related[node]
    elif choice.followed and choice.decided is not None:
        source = nodes[node].sources[choice.decided[1]]
        source = nodes[source.node].sources[0] if source is not None and choice.through else source
    text = TEXTS[code].format(
        by=by,
        mode=judgement.mode.name,
        tensor=tensor,
        rule=_RULES.get(choice.detail, choice.detail),
        source="" if source is None else f"output {source.output} of `{nodes[source.node].name}`",
        **_refusal_words(choice),
    )
    through = ", through a Cast" if choice.through and source is not None else ""
    return Reason(code, text + through, policy, by, tensor, source)


def not_judged_text(choice: DtypeChoice) -> str:
    return TEXTS[choice.why].format(**_refusal_words(choice))


def _refusal_words(choice: DtypeChoice) -> dict[str, str]:
    return {
        "core": "AI Core, if its columns are as assumed" if choice.confidence == "assumed" else "AI Core",
        "detail": choice.detail,
        "because": ", and it is on the black list" if choice.policy is Policy.BLACK else "",
    }
