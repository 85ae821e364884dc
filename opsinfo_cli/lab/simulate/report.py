"""The report of one simulation, and what a simulation cannot show, which every report lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ...core.document import Count, LineNumber, Schema, headed, optional
from ...errors import NoVerdict, join_some
from ..graph.document import Coverage
from ..graph.graph import Refusal
from ..graph.limits import Limit, limits_of
from ..graph.verdict import no_verdict
from .node_costs import NodeCost
from .output_error import OutputError
from .rounding_plan import unknown_tensors
from .simulation import TypeCost
from .trace import TracedNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..graph.result import Answer
    from .rounding_plan import RoundingPlan
    from .simulation import OutputErrors, Simulation
    from .trace import Trace


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
    expanded = tuple(name for name, _ in places.expanded)
    if expanded:
        inner = sum(count for _, count in places.expanded)
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
    yield from limits_of(answer)
    refused = tuple(refusal.name for refusal in answer.graph.model.refused)
    if refused:
        yield Limit("refused-by-atc", f"atc refuses the model: {join_some(refused)}", refused)
    removed = tuple(nodes[node].name for node in answer.removed)
    if removed:
        yield Limit("removed-casts", f"Casts of the model that the compiler removes: {join_some(removed)}", removed)
    unknown = unknown_tensors(places)
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
    """Return the error for a bound that a model meets because nothing of it was rounded."""
    hint = "`opsinfo graph` shows which nodes are low, and --precision-mode chooses another mode"
    return NoVerdict(_NOTHING_ROUNDED, name="nothing-rounded", path=path, hint=hint)


@dataclass(frozen=True)
class SimulatedModel:
    """The model."""

    path: str
    """The path of the model."""
    opset: LineNumber
    """The opset of the model's standard operators."""


@dataclass(frozen=True)
class FirstNode:
    """The first node of a kind."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    why: str
    """A description of the error."""


@dataclass(frozen=True)
class AbsorbedNode:
    """One node."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    by: str
    """The name of the Softmax."""


@dataclass(frozen=True)
class SimulateDocument:
    """What a policy costs in accuracy, computed on a CPU. Later versions may add keys."""

    model: SimulatedModel
    """The model."""
    precision_mode: str
    """The precision mode."""
    mixlist: str | None
    """The path of the mixlist; null if none was given."""
    saturate: bool
    """Whether overflowing values are clipped; if not, they become Inf."""
    shapes: Mapping[str, Sequence[Annotated[int, Schema(minimum=-1)]]]
    """The shapes that were written into the model's inputs, by name, -1 for an open dimension; empty if none were
    given.
    """
    open_dimensions: Count
    """How many nodes have other op types or dtypes once every dimension of the model has a size."""
    inputs: list[str]
    """The sources of the input sets: files, folders, or random:SEED."""
    rounded: Count
    """Number of places where a tensor is rounded."""
    outputs: Sequence[OutputError]
    """The outputs of the model; with several input sets, the worst values."""
    first_not_finite: FirstNode | None
    """The first node that yields Inf or NaN where float32 does not; null if there is none or it was not requested."""
    first_jump: FirstNode | None
    """The first node whose error is above 0.001 and at least ten times the largest error of its inputs; null if there
    is none or it was not requested.
    """
    types: list[TypeCost]
    """Op types at whose nodes tensors are rounded, the most costly first; empty with --no-rank."""
    nodes: Sequence[TracedNode | NodeCost] | None
    """With --by node low nodes, the most costly first; else the nodes of the main graph with floating-point outputs, in
    the model's order, and null with --no-trace.
    """
    absorbed: list[AbsorbedNode]
    """Nodes that yield infinities, which all end in a Softmax; it yields what it yields in float32."""
    coverage: Coverage
    """How much of the model the engine judges; the other nodes are computed in float32. Constants, inputs and outputs
    of the model are not counted.
    """
    refused_by_atc: Sequence[Refusal]
    """Nodes that the compiler's front end refuses: atc does not compile this model. They are computed in float32."""
    max_error: float | None
    """The upper bound of max_rel_error; null if none was given."""
    min_cosine: float | None
    """The lower bound of the cosine; null if none was given."""
    passes: bool | None
    """Whether all outputs are within the bounds; null if there are no bounds."""
    not_shown: list[Limit]
    """What may differ on a device."""
    trace: Sequence[TracedNode] | None = optional(null=True)
    """With --by node, the nodes of the main graph with floating-point outputs, in the model's order; null with
    --no-trace.
    """


class SimulationReport(NamedTuple):
    """The computed values, and their bounds.

    :param trace: the error along the graph; None: not requested
    :param nodes: low nodes, the most costly first; None: not requested
    :param answer: that of the judge
    """

    simulation: Simulation
    simulated: OutputErrors
    trace: Trace | None
    types: list[TypeCost]
    limits: list[Limit]
    nodes: list[NodeCost] | None
    answer: Answer
    mixlist: str | None = None
    max_error: float | None = None
    min_cosine: float | None = None

    @property
    def coverage(self) -> Coverage:
        """How many nodes the engine judges; the others are computed in float32."""
        return self.answer.coverage

    @property
    def warnings(self) -> Sequence[str]:
        """What has no effect, such as op types of the mixlist that the target lacks."""
        return self.answer.warnings

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
        unproved = no_verdict(self.answer)
        if unproved is None and self.has_bounds and not self.simulated.rounded and not self.simulation.plan():
            return nothing_rounded(self.simulation.path)  # a list that keeps all high is a pass
        return unproved

    @property
    def passes(self) -> bool | None:
        """Whether every output is within the bounds, and the numbers prove it; None: there are no bounds."""
        if not self.has_bounds:
            return None
        return self.fault is None and self.simulated.passes(self.max_error, self.min_cosine)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo simulate``."""
        document = headed("simulate", self.document)
        if self.nodes is None:
            del document["trace"]
        return document

    @property
    def document(self) -> SimulateDocument:
        simulation, trace = self.simulation, self.trace
        model = simulation.prepared.graph.model
        wrong, jump = (trace.first_not_finite, trace.first_jump) if trace else (None, None)
        traced = trace.nodes if trace else None
        return SimulateDocument(
            model=SimulatedModel(simulation.path, simulation.file.opset),
            precision_mode=simulation.mode,
            mixlist=self.mixlist,
            saturate=simulation.rewriter.rounder.saturate,
            shapes=model.shapes,
            open_dimensions=len(self.answer.decided_open),
            inputs=[input_set.name for input_set in simulation.inputs],
            rounded=self.simulated.rounded,
            outputs=self.simulated.outputs,
            first_not_finite=FirstNode(wrong.node, wrong.type, wrong.why_not_finite) if wrong else None,
            first_jump=FirstNode(jump.node, jump.type, jump.why_jump) if jump else None,
            types=self.types,
            nodes=traced if self.nodes is None else self.nodes,
            absorbed=[
                AbsorbedNode(node.node, node.type, node.absorbed_by) for node in (trace.absorbed if trace else ())
            ],
            coverage=self.coverage,
            refused_by_atc=model.refused,
            max_error=self.max_error,
            min_cosine=self.min_cosine,
            passes=self.passes,
            not_shown=self.limits,
            trace=traced,
        )
