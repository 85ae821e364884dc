"""The reason for a node's dtypes, as a code and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.policy import Policy
from .graph import Producer

if TYPE_CHECKING:
    from ...core.document import PolicyName
    from .judge.graph_judge import GraphJudge, Judgement
    from .judge.node_facts import DtypeChoice


class ReasonText(NamedTuple):
    """The words of a reason.

    :param short: for a row of 80 columns
    """

    whole: str
    short: str


_REFUSED = "refused by AI Core"
TEXTS = {
    "white": ReasonText("on the white list by the {by}", "by the {by}"),
    "black": ReasonText("on the black list by the {by}: keeps its dtype", "by the {by}"),
    "gray": ReasonText("on the gray list by the {by}: follows {source}", "follows {source}"),
    "gray-own": ReasonText(
        "on the gray list by the {by}: {tensor} has no producer, so its own dtype is used", "its own dtype"
    ),
    "inherits": ReasonText("inherits its dtype: follows {source}", "inherits from {source}"),
    "inherits-own": ReasonText(
        "inherits its dtype: {tensor} has no producer, so its own dtype is used", "its own dtype"
    ),
    "keep-dtype": ReasonText("keeps its dtype because of keep_dtype", "keep_dtype"),
    "cast": ReasonText("keeps its dtypes because it is a Cast", "is a Cast"),
    "complex": ReasonText("keeps its dtypes because one of them is complex", "a complex dtype"),
    "mode": ReasonText("by the mode {mode}", "by the mode"),
    "promoted": ReasonText(
        "its inputs are promoted to one dtype, regardless of the mode and the lists", "its inputs are promoted"
    ),
    "customized": ReasonText("by customize_dtypes", "customize_dtypes"),
    "first-column": ReasonText("first column: no column fits, by the rule for {rule}", "first column"),
    "continuous": ReasonText("takes the dtype of its first reader `{detail}`", "as its first reader"),
    "related": ReasonText("takes the dtype of {source}", "as {source}"),
    "refused-tensors": ReasonText(
        "refused by {core}: the number of its {detail} does not fit the library's entry", _REFUSED
    ),
    "refused-shape": ReasonText("refused by {core}: its kernel does not take {detail}", _REFUSED),
    "refused-customized": ReasonText("refused by {core}: no column has the dtypes of customize_dtypes", _REFUSED),
    "refused-dtype": ReasonText("refused by {core}: no column may take the dtype of {detail}{because}", _REFUSED),
    "refused-format": ReasonText("refused by {core}: no column takes the format of {detail}", _REFUSED),
    "refused-value": ReasonText("refused by {core}: {detail} must come from a constant", _REFUSED),
    "refused-cast": ReasonText("refused by {core}: no column has exactly these dtypes", _REFUSED),
    "not-in-store": ReasonText("not an op type of AI Core here: keeps its dtypes", "not an op type of AI Core"),
    "unknown-dtype": ReasonText("not judged: its dtypes are unknown", "its dtypes are unknown"),
    "graph-input": ReasonText("input of the graph: never judged", "graph input"),
    "graph-output": ReasonText("output of the graph: never judged", "graph output"),
    "constant": ReasonText("constant: never judged", "constant"),
    "variable": ReasonText("variable: never judged", "variable"),
    "layout": ReasonText("layout conversion: never judged", "layout conversion"),
}
"""The words of every code."""
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
    text = TEXTS[code].whole.format(
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
    return TEXTS[choice.why].whole.format(**_refusal_words(choice))


def _refusal_words(choice: DtypeChoice) -> dict[str, str]:
    return {
        "core": "AI Core, if its columns are as assumed" if choice.confidence == "assumed" else "AI Core",
        "detail": choice.detail,
        "because": ", and it is on the black list" if choice.policy is Policy.BLACK else "",
    }
