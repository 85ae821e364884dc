"""A model computed with every low tensor rounded as it would be stored, and compared with float32."""

from __future__ import annotations

import math

from ..errors import Refused, UsageFault
from ..graph.judging import marks_of
from ..model.policy import ADD_BLACK
from ..typed import TYPE_CHECKING, NamedTuple
from .conversion import converted
from .onnx_file import OnnxFile
from .output_error import OutputError, output_error, worst
from .rewriting import NOTHING, Rewriter
from .rounding_nodes import FIRST_BFLOAT16_CAST, Rounder
from .rounding_plan import RoundingPlan, rounding_plan
from .session import Session
from .tensor_places import tensor_places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..graph.answer import Answer
    from ..graph.judging import Lists, Ready
    from .inputs import InputSet
    from .tensor_places import TensorPlaces

OLDEST = 11
"""The opset below which a model is converted if it is to be saturated."""


class Simulated(NamedTuple):
    """The outputs of one computation against their reference.

    :param rounded: places where a tensor was rounded
    """

    outputs: tuple[OutputError, ...]
    rounded: int

    @property
    def max_rel_error(self) -> float:
        """The largest over all outputs."""
        return max((each.max_rel_error for each in self.outputs), default=0.0)

    @property
    def min_cosine(self) -> float | None:
        """The smallest over all outputs; None: that of an output is unknown."""
        cosines = [each.cosine for each in self.outputs]
        known = [each for each in cosines if each is not None]
        return None if len(known) < len(cosines) else min(known, default=1.0)

    def passes(self, max_error: float | None = None, min_cosine: float | None = None) -> bool:
        """Whether every output is within both bounds; what is unknown is not."""
        return all(each.passes(max_error, min_cosine) for each in self.outputs)


class TypeCost(NamedTuple):
    """What the low tensors of one op type cost.

    :param nodes: names of the nodes at which tensors are rounded
    :param error_alone: ``max_rel_error`` with the tensors at these nodes rounded alone; None: it cannot be computed
    :param error_without: the same of the whole policy with the type on the black list; None: as above, or the mode
        has no lists
    """

    type: str
    nodes: tuple[str, ...]
    error_alone: float | None
    error_without: float | None


class Simulation:
    """A model ready to be computed many times.

    :ivar reference: of each set of inputs the outputs that are compared with
    """

    def __init__(
        self,
        path: str,
        ready: Ready,
        mode: str,
        inputs: Sequence[InputSet],
        file: OnnxFile,
        places: TensorPlaces,
        rewriter: Rewriter,
    ) -> None:
        self.path = path
        self.ready = ready
        self.mode = mode
        self.inputs = inputs
        self.file = file
        self.places = places
        self.rewriter = rewriter
        self.names = [each.name for each in file.proto.graph.output]
        self.reference: list[dict[str, Any]] = []
        self._known: dict[frozenset[tuple[int, int, int, str]], Simulated] = {}

    @classmethod
    def open(
        cls,
        path: str,
        ready: Ready,
        mode: str,
        inputs: Sequence[InputSet],
        *,
        saturate: bool = False,
        reference: Mapping[str, Any] | None = None,
    ) -> Simulation:
        """Open a model and compute it in float32, once.

        :param ready: its graph, ready to be judged
        :param inputs: at least one set
        :param saturate: what overflows becomes the largest value instead of Inf
        :param reference: outputs by name to compare with, instead of those in float32; for one set of inputs
        :raises MissingPackage: when onnx, onnxruntime or numpy is not installed
        :raises UsageFault: when the mode is unknown, or the reference does not fit the model
        :raises Refused: when the model cannot be read or computed
        :raises Damaged: when it is no ONNX model
        """
        if ready.prepared.graph.model.format != "onnx":
            raise UsageFault("a simulation requires an ONNX model", name="not-onnx", path=path)
        file = OnnxFile.read(path)
        low = {dtype for dtype in ready.judge(mode).outputs if dtype}
        needs_newer = file.opset < FIRST_BFLOAT16_CAST and "bfloat16" in low
        if needs_newer or (saturate and file.opset < OLDEST):
            file = converted(file, FIRST_BFLOAT16_CAST) or file
        places = tensor_places(path, file, ready.prepared.graph)
        made = cls(path, ready, mode, inputs, file, places, Rewriter(file, Rounder(file.opset, saturate)))
        made._refer(reference)
        return made

    def _refer(self, reference: Mapping[str, Any] | None) -> None:
        if reference is None:
            session = self.session(NOTHING)
            self.reference = [dict(zip(self.names, session.run(each.feeds), strict=True)) for each in self.inputs]
            return
        if len(self.inputs) != 1:
            raise UsageFault("--reference is for one set of inputs", name="bad-reference")
        unknown = [name for name in reference if name not in self.names]
        if unknown or not reference:
            said = f"the reference holds `{unknown[0]}`" if unknown else "the reference is empty"
            hint = f"the model's outputs: {', '.join(self.names)}"
            raise UsageFault(f"{said}, which is no output of the model" if unknown else said, name="bad-reference", hint=hint)
        self.reference = [dict(reference)]

    def session(self, plan: RoundingPlan, more: Sequence[str] = ()) -> Session:
        """The model with the roundings of a plan.

        :param more: values of the main graph that it yields behind its own outputs
        """
        return Session(self.rewriter.model(plan, more), self.file.folder, self.file.weights, self.path)

    def answer(self, mixlist: Lists = None) -> Answer:
        """What the judge says with a mixlist."""
        return self.ready.judge(self.mode, mixlist)

    def plan(self, mixlist: Lists = None) -> RoundingPlan:
        """What is rounded with a mixlist."""
        return rounding_plan(self.places, self.answer(mixlist))

    def run(self, mixlist: Lists = None) -> Simulated:
        """Judge anew, round, compute and compare.

        :raises Refused: when the mixlist is refused, or onnxruntime cannot compute the rounded model
        """
        return self.computed(self.plan(mixlist))

    def computed(self, plan: RoundingPlan) -> Simulated:
        """Compute with the roundings of a plan and compare; equal plans are computed once.

        :raises Refused: when onnxruntime cannot compute the rounded model
        """
        key = plan.key
        if key not in self._known:
            session = self.session(plan)
            errors: dict[str, list[OutputError]] = {}
            for each, reference in zip(self.inputs, self.reference, strict=True):
                found = dict(zip(self.names, session.run(each.feeds), strict=True))
                for name, value in reference.items():
                    errors.setdefault(name, []).append(output_error(name, found[name], value))
            self._known[key] = Simulated(tuple(map(worst, errors.values())), plan.count)
        return self._known[key]

    def rank(self, mixlist: Lists = None, progress: Callable[[int, int], None] | None = None) -> list[TypeCost]:
        """The op types at whose nodes tensors are rounded, those that cost most first.

        :param progress: called after each op type with the number of those done, and of all
        :raises Refused: when the mixlist is refused
        """
        plan = self.plan(mixlist)
        marks = marks_of(mixlist)
        has_lists = self.answer(mixlist).mode.is_mixed
        costs = []
        types = plan.types
        for done, (op_type, nodes) in enumerate(types.items(), 1):
            without = {**marks, op_type: frozenset({ADD_BLACK})}
            alone = self._error(plan.only(op_type))
            costs.append(TypeCost(op_type, nodes, alone, self._error(self.plan(without)) if has_lists else None))
            if progress:
                progress(done, len(types))
        return sorted(costs, key=_worst_first)

    def _error(self, plan: RoundingPlan) -> float | None:
        try:
            return self.computed(plan).max_rel_error
        except Refused:
            return None


def _worst_first(cost: TypeCost) -> tuple[float, float, str]:
    alone = -1.0 if cost.error_alone is None else cost.error_alone
    without = math.inf if cost.error_without is None else cost.error_without
    return -alone, without, cost.type
