"""A model computed with every low tensor rounded as it would be stored, and compared with float32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.marks import ADD_BLACK
from ...core.document import WithInfinity
from ...errors import Damaged, Refused, UsageFault
from ..graph.judge.modes import judge_mode
from ..graph.prepare import marks_of
from .onnx_model import OnnxFile
from .output_error import ErrorSize, OutputError, output_error, worst
from .round_in_onnx import Rounder
from .rounded_model import Rewriter
from .rounding_plan import RoundingPlan, rounding_plan, tensor_places
from .runtime import ModelSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...core.cann.mixlist import AnyMixlist
    from ..graph.graph import ModelGraph
    from ..graph.prepare import PreparedModel
    from ..graph.result import Answer
    from .inputs import InputSet
    from .rounding_plan import Spot


class OutputErrors(NamedTuple):
    """The outputs of one computation against their reference.

    :param rounded: places where a tensor was rounded
    """

    outputs: tuple[OutputError, ...]
    rounded: int

    @property
    def max_rel_error(self) -> float:
        """The largest of all outputs."""
        return max((output.max_rel_error for output in self.outputs), default=0.0)

    @property
    def min_cosine(self) -> float | None:
        """The smallest of all outputs; None: that of an output is unknown."""
        cosines = [output.cosine for output in self.outputs]
        known = [cosine for cosine in cosines if cosine is not None]
        return None if len(known) < len(cosines) else min(known, default=1.0)

    def passes(self, max_error: float | None = None, min_cosine: float | None = None) -> bool:
        """Return whether every output is within both bounds; an unknown error is not."""
        return all(output.passes(max_error, min_cosine) for output in self.outputs)


@dataclass(frozen=True)
class TypeCost(WithInfinity):
    """The cost of one op type."""

    type: str
    """The op type."""
    nodes: tuple[str, ...]
    """The nodes at which tensors are rounded."""
    error_alone: ErrorSize | None
    """The largest max_rel_error if only the tensors at these nodes are rounded; null if it cannot be computed."""
    error_without: ErrorSize | None
    """The largest max_rel_error of the whole policy with the op type on the black list; null if it cannot be computed
    or the mode does not use lists.
    """


class Simulation:
    """A model that can be computed many times.

    :ivar reference: the outputs in float32, for each set of inputs
    """

    def __init__(
        self, path: str, prepared: PreparedModel, mode: str, inputs: Sequence[InputSet], *, saturate: bool = False
    ) -> None:
        """Open a model and compute it in float32, once.

        :param inputs: at least one set
        :raises MissingPackage: if onnx, onnxruntime or numpy is not installed
        :raises UsageFault: if the mode is unknown
        :raises Refused: if the model cannot be read or computed
        :raises Damaged: if it is no ONNX model, or has no outputs
        """
        self.path = path
        self.prepared = prepared
        self.mode = mode
        self.inputs = inputs
        graph = prepared.graph
        judge_mode(mode)
        self.file = OnnxFile.of(onnx_model(graph), path)
        self.names = [output.name for output in self.file.proto.graph.output]
        if not self.names:
            raise Damaged("the model has no outputs", name="no-outputs", path=path)
        plain = ModelSession(self.file.proto.SerializeToString(), self.file.weights, path)
        self.reference = [dict(zip(self.names, plain.run(input_set.feeds), strict=True)) for input_set in inputs]
        self.places = tensor_places(self.file, graph)
        self.rewriter = Rewriter(self.file, Rounder(self.file.opset, saturate))
        self._known: dict[frozenset[tuple[Spot, str]], OutputErrors] = {}

    def session(self, plan: RoundingPlan, more: Sequence[str] = ()) -> ModelSession:
        """The model with the roundings of a plan.

        :param more: values of the main graph that it yields behind its own outputs
        """
        return ModelSession(self.rewriter.model(plan, more), self.file.weights, self.path)

    def answer(self, mixlist: AnyMixlist | None = None) -> Answer:
        return self.prepared.judge(self.mode, mixlist)

    def plan(self, mixlist: AnyMixlist | None = None) -> RoundingPlan:
        return rounding_plan(self.places, self.answer(mixlist))

    def run(self, mixlist: AnyMixlist | None = None) -> OutputErrors:
        """Judge again, round, compute and compare.

        :raises Refused: if the mixlist is refused, or onnxruntime cannot compute the rounded model
        """
        return self.compute(self.plan(mixlist))

    def compute(self, plan: RoundingPlan) -> OutputErrors:
        """Compute with the roundings of a plan and compare; equal plans are computed once.

        :raises Refused: if onnxruntime cannot compute the rounded model
        """
        key = plan.key
        if key not in self._known:
            session = self.session(plan)
            errors: dict[str, list[OutputError]] = {}
            for input_set, reference in zip(self.inputs, self.reference, strict=True):
                found = dict(zip(self.names, session.run(input_set.feeds), strict=True))
                for name, value in reference.items():
                    errors.setdefault(name, []).append(output_error(name, found[name], value))
            self._known[key] = OutputErrors(tuple(map(worst, errors.values())), len(plan))
        return self._known[key]

    def rank(
        self, mixlist: AnyMixlist | None = None, progress: Callable[[float], None] = lambda _: None, alone: bool = False
    ) -> list[TypeCost]:
        """The op types at whose nodes tensors are rounded, the most costly first.

        :param alone: without ``error_without``, which takes half of the time
        :raises Refused: if the mixlist is refused
        """
        plan = self.plan(mixlist)
        marks = marks_of(mixlist)
        has_lists = self.answer(mixlist).mode.is_mixed and not alone
        costs = []
        types = plan.types
        for op_type, nodes in types.items():
            without = {**marks, op_type: frozenset({ADD_BLACK})}
            error = self.error(plan.only(op_type=op_type))
            costs.append(TypeCost(op_type, nodes, error, self.error(self.plan(without)) if has_lists else None))
            progress(1)

        def worst_first(cost: TypeCost) -> tuple[float, float, str]:
            alone = -1.0 if cost.error_alone is None else cost.error_alone
            return -alone, math.inf if cost.error_without is None else cost.error_without, cost.type

        return sorted(costs, key=worst_first)

    def error(self, plan: RoundingPlan) -> float | None:
        """The largest ``max_rel_error`` of a plan; None: it cannot be computed."""
        try:
            return self.compute(plan).max_rel_error
        except Refused:
            return None


def onnx_model(graph: ModelGraph) -> Any:
    """Return the ModelProto that a graph was read from.

    :raises UsageFault: if it was read from another format
    """
    if graph.model.onnx is None:
        message = f"simulate requires an ONNX model; this is {graph.model.format}"
        hint = "give the ONNX file that the model was compiled from"
        raise UsageFault(message, name="not-onnx", path=graph.model.path, hint=hint)
    return graph.model.onnx
