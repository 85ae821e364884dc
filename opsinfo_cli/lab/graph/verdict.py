"""What a verdict on a model's accuracy rests on: what was not judged, or is low in the model itself, never passes; and
the nodes that the compiler's front end refuses, as warnings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.cann.dtype_names import precision_of
from ...core.cann.onnx_opsets import NEWEST_OPSET
from ...errors import NoVerdict, counted, join_some
from .graph import NOT_COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .document import Coverage
    from .graph import ModelFacts
    from .result import GraphAnswer

_MOST_REFUSALS = 5


def nothing_judged(answer: GraphAnswer) -> NoVerdict | None:
    """Return that the engine judges no node that computes; None if it judges one, or none computes."""
    coverage = answer.coverage
    if coverage.judged or not coverage.compute:
        return None
    nodes = counted(coverage.compute, "compute node")
    why = f"atc refuses the model; 0 of {nodes} judged" if answer.graph.model.refused else f"0 of {nodes} judged"
    hint = opset_hint(answer.graph.model) or "graph says why, node by node, with --by node"
    return NoVerdict(f"nothing was judged: {why}", name="nothing-judged", hint=hint, path=answer.graph.model.path)


def no_verdict(answer: GraphAnswer) -> NoVerdict | None:
    """Return why an answer proves nothing of a model's accuracy; None if it may.

    Either nothing was judged, or every low node is low in the model itself, so that no float32 is there to compare
    with. Whoever measures raises it, or gives it as the ``fault`` of the answer.
    """
    if found := nothing_judged(answer):
        return found
    low = [node for node in answer.graph if node.type not in NOT_COMPUTED and answer.runs_of(node.index) == "low"]
    own = ((tuple([t.first_dtype for t in node.inputs]), tuple([t.first_dtype for t in node.outputs])) for node in low)
    if low and all(precision_of(*dtypes) == "low" for dtypes in own):
        are = "is" if len(low) == 1 else "are"
        why = f"{counted(len(low), 'node')} {are} low in the model itself: there is no float32 to compare with"
        hint = "give the model as it was before its conversion to float16 or bfloat16"
        return NoVerdict(why, name="low-itself", hint=hint, path=answer.graph.model.path)
    return None


def opset_hint(model: ModelFacts) -> str:
    """Return what to do with a model whose opset is newer than the plugins; empty if it is not."""
    if model.opset <= NEWEST_OPSET:
        return ""
    convert = f"`onnx.version_converter.convert_version(model, {NEWEST_OPSET})`"
    return f"the model has opset {model.opset}: export it with opset {NEWEST_OPSET}, or convert it with {convert}"


def refusal_lines(model: ModelFacts) -> Iterator[str]:
    """Yield a line for each operator and reason, with its nodes, and what to do."""
    groups: dict[tuple[str, str], list[str]] = {}
    for refusal in model.refused:
        groups.setdefault((refusal.type, refusal.why), []).append(f"`{refusal.name}`")
    for (op, why), names in list(groups.items())[:_MOST_REFUSALS]:
        yield f"atc refuses this model: {join_some(names)} ({op}): {why}"
    if len(groups) > _MOST_REFUSALS:
        yield f"atc refuses this model: {counted(len(groups) - _MOST_REFUSALS, 'more operator')} of it too"
    hint = opset_hint(model)
    if groups and hint:
        yield hint


def share_not_judged(coverage: Coverage) -> str:
    """Return the share of nodes that a verdict does not cover, to be said beside it; empty if it covers all."""
    left = coverage.compute - coverage.judged
    if not left:
        return ""
    share = min(max(100 * left / coverage.compute, 1), 100)
    return f"{left} of {counted(coverage.compute, 'compute node')} not judged ({share:.0f} %)"
