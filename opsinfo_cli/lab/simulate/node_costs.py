"""Low nodes ranked by what each costs alone, with how far their values are from the largest of their dtype."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from ...core.document import Count, Schema, WithInfinity
from .output_error import ErrorSize
from .packages import load_package
from .round_in_onnx import LARGEST
from .rounded_model import NOTHING
from .rounding_plan import TensorSide
from .trace import PORTION, compute_values, portions, sizes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .rounding_plan import RoundingPlan
    from .simulation import Simulation


@dataclass(frozen=True)
class NodeCost(WithInfinity):
    """The cost of one low node, with --by node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    error_alone: ErrorSize | None
    """The largest max_rel_error if only the tensors at this node are rounded; null if it cannot be computed."""
    margin: Annotated[float, Schema(minimum=0)] | None
    """The largest value of the dtype (65504 for float16) over the largest magnitude that the node reads or yields in
    float32, below 1 it overflows; null if unknown.
    """
    shape: tuple[Count, ...] | None
    """The shape of the first output; null if unknown."""


def rank_nodes(
    simulation: Simulation, plan: RoundingPlan, progress: Callable[[float], None] = lambda _: None
) -> list[NodeCost]:
    """Return the nodes at which a plan rounds tensors, the most costly first; of equal ones the nearest to overflow.

    :raises Refused: if onnxruntime cannot compute the model
    """
    largest: dict[str, dict[str, float]] = {}
    shown: dict[str, str] = {}
    nodes = simulation.file.nodes
    for (side, number, at), rounded in plan.items():
        if side is TensorSide.RESULT or nodes[number].scope != 0 or rounded.dtype not in LARGEST:
            continue
        proto = nodes[number].proto
        value = (proto.output if side is TensorSide.OUTPUT else proto.input)[at]
        largest.setdefault(rounded.node, {})[value] = LARGEST[rounded.dtype]
        if side is TensorSide.OUTPUT:
            shown.setdefault(rounded.node, value)
    values = list(dict.fromkeys(value for read in largest.values() for value in read))
    magnitudes, shapes = _magnitudes(simulation, values)
    costs = []
    for name, op_type in plan.nodes.items():
        ratios = [most / magnitudes[value] for value, most in largest.get(name, {}).items() if magnitudes.get(value)]
        shape = shapes.get(shown.get(name, ""))
        error = simulation.error(plan.only(node=name))
        costs.append(NodeCost(name, op_type, error, min(ratios, default=None), shape))
        progress(1)
    return sorted(
        costs, key=lambda cost: (-(cost.error_alone or 0.0), math.inf if cost.margin is None else cost.margin)
    )


def _magnitudes(simulation: Simulation, names: Sequence[str]) -> tuple[dict[str, float], dict[str, tuple[int, ...]]]:
    """Return the largest magnitudes of floating-point values in float32, and their shapes."""
    np = load_package("numpy")
    magnitudes: dict[str, float] = {}
    shapes: dict[str, tuple[int, ...]] = {}

    def add(name: str, array: Any) -> None:
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            numbers = np.abs(array[np.isfinite(array)])
            magnitudes[name] = max(float(numbers.max()) if numbers.size else 0.0, magnitudes.get(name, 0.0))
            shapes.setdefault(name, array.shape)

    wanted, outputs = frozenset(names), frozenset(simulation.names)
    for inputs in simulation.inputs:
        for name in wanted.intersection(inputs.feeds):
            add(name, inputs.feeds[name])
    for tensor in simulation.file.proto.graph.initializer:
        if tensor.name in wanted and tensor.name not in shapes:
            add(tensor.name, simulation.file.weight(tensor))
    left = [name for name in names if name not in shapes]
    for portion in portions(left, sizes_of(simulation), PORTION // len(simulation.inputs)):
        more = [name for name in portion if name not in outputs]
        places = {name: at for at, name in enumerate([*simulation.names, *more])}
        for arrays in compute_values(simulation, NOTHING, more):
            for name in portion:
                add(name, arrays[places[name]])
    return magnitudes, shapes
