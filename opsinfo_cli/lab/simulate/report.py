"""The report of one simulation, and what a simulation cannot show, which every report lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import NoVerdict, join_some
from ..graph.open_dimensions import limits_of
from .rounding_plan import unknown_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..documents import simulate as documents
    from ..graph.result import Answer, Coverage
    from .node_costs import NodeCost
    from .rounding_plan import RoundingPlan
    from .simulation import OutputErrors, Simulation, TypeCost
    from .trace import Trace


class Limit(NamedTuple):
    """Something that may differ on a device.

    :param kind: a slug: ``kernels``, ``overflow``, ``fusion``, ``inner-tensors`` ...
    :param nodes: names of the affected nodes; empty: any node may be affected
    """

    kind: str
    message: str
    nodes: tuple[str, ...] = ()


ALWAYS = (
    Limit("kernels", "the inside of kernels: here all sums are in float32; some vector kernels add in float16"),
    Limit("fusion", "fusion: a fused operator may skip a rounding between its parts"),
    Limit("replaced", "operators that the compiler replaces after dtypes are chosen"),
)
_OVERFLOW = Limit("overflow", "saturation: overflow is Inf here; a device in saturation mode clips (--saturate)")
_SATURATED = Limit("overflow", "overflow: it is clipped here; a device that is not in saturation mode yields Inf")
_HF32 = Limit(
    "hf32", "HF32: inputs are rounded to the nearest of 11 bits of mantissa; how chips round is not published"
)
_HIFLOAT8 = Limit("hifloat8", "HiFloat8 is rounded to the nearest, ties away from zero; kernels may round at random")


def not_shown(simulation: Simulation, plan: RoundingPlan, answer: Answer) -> list[Limit]:
    """Return all limits of a simulation: general ones first, then those of the model."""
    limits = [*ALWAYS, _SATURATED if simulation.rewriter.rounder.saturate else _OVERFLOW]
    if "hf32" in plan.dtypes:
        limits.append(_HF32)
    if "hifloat8" in plan.dtypes:
        limits.append(_HIFLOAT8)
    if any(input_set.is_random for input_set in simulation.inputs):
        message = "real data: random inputs may overflow where real ones do not, and the other way round"
        limits.append(Limit("random-inputs", message))
    return [*limits, *_limits_of_model(simulation, plan, answer)]


def _limits_of_model(simulation: Simulation, plan: RoundingPlan, answer: Answer) -> Iterator[Limit]:
    places, nodes = simulation.places, answer.graph.nodes
    expanded = tuple(expansion.name for expansion in places.expanded)
    if expanded:
        inner = sum(expansion.inner for expansion in places.expanded)
        message = f"inner tensors of ONNX nodes that become several operators: {inner} of {join_some(expanded)}"
        yield Limit("inner-tensors", message, expanded)
    recurrent = tuple(
        places.names[number][0]
        for number in sorted(plan.owners)
        if simulation.file.nodes[number].proto.op_type in ("LSTM", "GRU", "RNN")
    )
    if recurrent:
        message = f"states between steps: rounded at their inputs and outputs only are {join_some(recurrent)}"
        yield Limit("recurrent", message, recurrent)
    assumed = tuple(
        nodes[at].name for at, choice in enumerate(answer.judgement.choices) if choice.confidence == "assumed"
    )
    if assumed:
        message = f"kernels that choose dtypes when compiling: dtypes are assumed for {join_some(assumed)}"
        yield Limit("assumed", message, assumed)
    yield from (Limit(*limit) for limit in limits_of(answer))
    refused = tuple(refusal.name for refusal in answer.graph.model.refused)
    if refused:
        yield Limit("refused-by-atc", f"atc refuses the model: {join_some(refused)}", refused)
    removed = tuple(nodes[node].name for node in answer.removed)
    if removed:
        yield Limit("removed-casts", f"Casts of the model that the compiler removes: {join_some(removed)}", removed)
    unknown = unknown_tensors(places, answer)
    if unknown:
        yield Limit("unknown-dtype", f"{unknown} inputs and outputs of unknown dtype: they are not rounded")
    owners = [number for number in places.names if simulation.file.bodies_of(number)]
    names = tuple(places.names[number][0] for number in owners)
    if names:
        shown = join_some(names)
        message = f"where in a body an error begins: bodies are computed with their roundings, and shown as {shown}"
        yield Limit("bodies", message, names)


_NOTHING_ROUNDED = "no tensor of this model is low in this mode: nothing was rounded"


def nothing_rounded(path: str) -> NoVerdict:
    """Return the error for a bound that a model meets because nothing of it was rounded.

    :param path: of the model
    """
    hint = "`opsinfo graph` shows which nodes are low, and --precision-mode chooses another mode"
    return NoVerdict(_NOTHING_ROUNDED, name="nothing-rounded", path=path, hint=hint)


class SimulationReport(NamedTuple):
    """The computed values, and their bounds.

    :param trace: the error along the graph; None: not requested
    :param types: op types, the most costly first
    :param nodes: low nodes, the most costly first; None: not requested
    :param coverage: how many nodes the engine judges; the others are computed in float32
    :param mixlist: the path of the mixlist
    :param warnings: what has no effect, such as op types of the mixlist that the target lacks
    :param decided_open: names of the nodes for which open dimensions decided
    :param unproved: why the answer of the judge proves nothing
    """

    simulation: Simulation
    simulated: OutputErrors
    trace: Trace | None
    types: list[TypeCost]
    limits: list[Limit]
    nodes: list[NodeCost] | None
    coverage: Coverage
    mixlist: str | None = None
    max_error: float | None = None
    min_cosine: float | None = None
    warnings: Sequence[str] = ()
    decided_open: tuple[str, ...] = ()
    unproved: NoVerdict | None = None

    @property
    def doubts(self) -> list[str]:
        """What limits the meaning of the numbers."""
        found = []
        for output in self.simulated.outputs:
            if output.why:
                found.append(f"output `{output.name}`: {output.why}")
            if output.reference_inf or output.reference_nan:
                wrong = f"{output.reference_inf} Inf and {output.reference_nan} NaN"
                found.append(f"output `{output.name}`: the reference has {wrong}")
        if not self.simulated.rounded and self.fault is None:
            found.append(_NOTHING_ROUNDED)
        return found

    @property
    def has_bounds(self) -> bool:
        return self.max_error is not None or self.min_cosine is not None

    @property
    def fault(self) -> NoVerdict | None:
        """Why the numbers prove nothing: nothing was judged, or with bounds nothing was rounded."""
        if self.unproved is None and self.has_bounds and not self.simulated.rounded and not self.simulation.plan():
            return nothing_rounded(self.simulation.path)  # a list that keeps all high is a pass
        return self.unproved

    @property
    def passes(self) -> bool | None:
        """Whether every output is within the bounds, and the numbers prove it; None: there are no bounds."""
        if not self.has_bounds:
            return None
        return self.fault is None and self.simulated.passes(self.max_error, self.min_cosine)

    def to_dict(self) -> documents.SimulateDocument:
        """Return the JSON document of ``opsinfo simulate``."""
        simulation, trace = self.simulation, self.trace
        model = simulation.prepared.graph.model
        wrong, jump = (trace.first_not_finite, trace.first_jump) if trace else (None, None)
        traced = None if trace is None else [node.to_dict() for node in trace.nodes]
        document: documents.SimulateDocument = {
            "schema_version": 1,
            "command": "simulate",
            "model": {"path": simulation.path, "opset": simulation.file.opset},
            "precision_mode": simulation.mode,
            "mixlist": self.mixlist,
            "saturate": simulation.rewriter.rounder.saturate,
            "shapes": {name: list(dims) for name, dims in model.shapes.items()},
            "open_dimensions": len(self.decided_open),
            "inputs": [input_set.name for input_set in simulation.inputs],
            "rounded": self.simulated.rounded,
            "outputs": [output.to_dict() for output in self.simulated.outputs],
            "first_not_finite": wrong and {"node": wrong.node, "type": wrong.type, "why": wrong.why_not_finite},
            "first_jump": jump and {"node": jump.node, "type": jump.type, "why": jump.why_jump},
            "types": [cost.to_dict() for cost in self.types],
            "nodes": None if traced is None else [*traced],
            "absorbed": [
                {"node": node.node, "type": node.type, "by": node.absorbed_by}
                for node in (trace.absorbed if trace else ())
            ],
            "coverage": self.coverage.to_dict(),
            "refused_by_atc": [
                {"name": refusal.name, "type": refusal.type, "why": refusal.why} for refusal in model.refused
            ],
            "max_error": self.max_error,
            "min_cosine": self.min_cosine,
            "passes": self.passes,
            "not_shown": [
                {"kind": limit.kind, "message": limit.message, "nodes": list(limit.nodes)} for limit in self.limits
            ],
        }
        if self.nodes is not None:
            document["nodes"], document["trace"] = [node.to_dict() for node in self.nodes], traced
        return document
