"""The error along the graph: every floating-point output of the main graph's nodes against float32.

Memory: values are fetched in portions of at most 256 MB on either side; each portion is compared and released before
the next one is computed. A model whose values take more is computed once for each portion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...core.document import Count, WithInfinity, internal
from ...errors import counted
from ..graph.readers.onnx_shapes import dims_of, infer
from .output_error import ErrorSize, output_error, worst
from .packages import load_package
from .rounded_model import NOTHING
from .rounding_plan import STORED, TensorSide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .output_error import OutputError
    from .rounding_plan import RoundingPlan
    from .simulation import Simulation

JUMP, LEAST = 10.0, 1e-3
"""An error jumps if it is ten times the largest error of the inputs and above 0.001. Chosen: one rounding to float16
has up to 2**-11, 0.0005. In a compare table (``graph/evidence.py``), where few tensors have a row, four times count."""
PORTION = 256 << 20
"""Bytes of values that are held at a time, on either side."""
_UNKNOWN = 1 << 20
"""Bytes that a value of unknown shape counts as."""
_ABSORBING = frozenset({"Softmax", "SoftmaxV2"})
"""Op types that yield zero where they read a negative infinity, as for a very small number."""


@dataclass(frozen=True)
class TracedNode(WithInfinity):
    """One node."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    error: ErrorSize
    """The max_rel_error of the node's outputs against float32."""
    inf: Count
    """Number of elements that are infinite here but not in float32."""
    nan: Count
    """Number of elements that are NaN here but not in float32."""
    error_of_inputs: ErrorSize
    """The largest max_rel_error of the values that the node reads."""
    elements: int = internal()
    finite_error: float = internal(0.0)
    """``error`` of the elements that are finite."""
    absorbed_by: str = internal("")
    """The name of the Softmax in which its infinities end; empty: there is none, or they end elsewhere."""

    @property
    def why_not_finite(self) -> str:
        wrong = [f"{count} {word}" for count, word in ((self.inf, "Inf"), (self.nan, "NaN")) if count]
        return f"{' and '.join(wrong)} in {counted(self.elements, 'value')} that are finite in float32"

    @property
    def why_jump(self) -> str:
        inputs = f"at most {self.error_of_inputs:.3g}" if self.error_of_inputs else "none"
        return f"error {self.error:.3g}; error of its inputs: {inputs}"

    @property
    def jumps(self) -> bool:
        error = self.finite_error if self.absorbed_by else self.error
        return error > LEAST and error >= JUMP * self.error_of_inputs and math.isfinite(self.error_of_inputs)


class Trace(NamedTuple):
    """The nodes of the main graph in the model's order."""

    nodes: tuple[TracedNode, ...]

    @property
    def first_not_finite(self) -> TracedNode | None:
        """The first node that yields Inf or NaN where float32 does not, and no Softmax absorbs it."""
        return next((node for node in self.nodes if (node.inf or node.nan) and not node.absorbed_by), None)

    @property
    def absorbed(self) -> list[TracedNode]:
        """Nodes whose infinities end in a Softmax, which yields what it yields in float32."""
        return [node for node in self.nodes if node.absorbed_by]

    @property
    def first_jump(self) -> TracedNode | None:
        """The first node whose error is ten times the largest error of its inputs and above 0.001."""
        return next((node for node in self.nodes if node.jumps), None)


def trace(simulation: Simulation, plan: RoundingPlan, progress: Callable[[float], None] = lambda _: None) -> Trace:
    """Compute with a plan and in float32, and compare along the graph.

    :param progress: called with each part of :func:`floating_values` that is compared
    :raises Refused: if onnxruntime cannot compute the model
    """
    values = floating_values(simulation)
    sizes = sizes_of(simulation)
    names, outputs = simulation.names, frozenset(simulation.names)
    errors: dict[str, OutputError] = {}
    for portion in portions(list(values), sizes, PORTION // len(simulation.inputs)):
        more = [value for value in portion if value not in outputs]
        places = {name: at for at, name in enumerate([*names, *more])}
        by_set: dict[str, list[OutputError]] = {value: [] for value in portion}
        rounded = compute_values(simulation, plan, more)
        for a, b in zip(rounded, compute_values(simulation, NOTHING, more), strict=True):
            for value in portion:
                at = places[value]
                by_set[value].append(output_error(value, a[at], b[at]))
                a[at] = b[at] = None
                progress(1 / len(simulation.inputs))
        errors.update((value, worst(own)) for value, own in by_set.items())
    return Trace(tuple(_nodes(simulation, values, errors)))


def floating_values(simulation: Simulation) -> dict[str, int]:
    """Return the floating-point values of the main graph, each with the number of its node."""
    file = simulation.file
    found = {}
    for (side, owner, number), own, _ in simulation.places.all:
        if side is TensorSide.OUTPUT and file.nodes[owner].scope == 0 and own in STORED:
            found[file.nodes[owner].proto.output[number]] = owner
    return found


def portions(values: Sequence[str], sizes: Mapping[str, int], portion: int) -> Iterator[list[str]]:
    """:param portion: the bytes of the values of one"""
    part: list[str] = []
    total = 0
    for value in values:
        size = sizes.get(value, _UNKNOWN)
        if part and total + size > portion:
            yield part
            part, total = [], 0
        part.append(value)
        total += size
    if part:
        yield part


def compute_values(simulation: Simulation, plan: RoundingPlan, more: Sequence[str]) -> list[list[Any]]:
    """Return the values of each set of inputs; the session is released before the other one is created."""
    session = simulation.session(plan, more)
    return [list(session.run(input_set.feeds)) for input_set in simulation.inputs]


def _nodes(
    simulation: Simulation, values: Mapping[str, int], errors: Mapping[str, OutputError]
) -> Iterator[TracedNode]:
    outputs: dict[int, list[OutputError]] = {}
    for value, number in values.items():
        outputs.setdefault(number, []).append(errors[value])
    absorbed = _absorbers(simulation, outputs)
    for number, own in outputs.items():
        name, op_type = simulation.places.names[number]
        read = [
            errors[value].finite_error if values[value] in absorbed else errors[value].max_rel_error
            for value in _read(simulation, number)
            if value in errors
        ]
        yield TracedNode(
            name,
            op_type,
            max(error.max_rel_error for error in own),
            sum(max(0, error.inf - error.reference_inf) for error in own),
            sum(max(0, error.nan - error.reference_nan) for error in own),
            max(read, default=0.0),
            sum(error.elements for error in own),
            max(error.finite_error for error in own),
            absorbed.get(number, ""),
        )


def _absorbers(simulation: Simulation, outputs: dict[int, list[OutputError]]) -> dict[int, str]:
    """Return the nodes all of whose infinities end in a Softmax without Inf or NaN, each with its name."""
    file, names = simulation.file, simulation.places.names
    readers: dict[str, list[int]] = {}
    for number in (*file.nodes_of(0), -1):
        read: Iterable[str] = simulation.names if number < 0 else _read(simulation, number)
        for value in dict.fromkeys(read):
            readers.setdefault(value, []).append(number)
    found: dict[int, str] = {}
    for number in reversed(outputs):
        if not any(error.inf > error.reference_inf for error in outputs[number]) or _has_nan(outputs[number]):
            continue
        ends: list[str] = []
        for error in outputs[number]:
            if error.inf <= error.reference_inf:
                continue
            for reader in readers.get(error.name, ()):
                name, op_type = names.get(reader, ("", ""))
                finite = reader in outputs and not any(error.inf > error.reference_inf for error in outputs[reader])
                absorbs = finite and op_type in _ABSORBING and not _has_nan(outputs[reader])
                ends.append(name if absorbs else found.get(reader, ""))
        if ends and all(ends):
            found[number] = ends[0]
    return found


def _has_nan(errors: Sequence[OutputError]) -> bool:
    return any(error.nan > error.reference_nan for error in errors)


def _read(simulation: Simulation, number: int) -> Iterator[str]:
    """Yield the values that a node reads, including those that its bodies read."""
    yield from simulation.places.read.get(number, simulation.file.nodes[number].proto.input)
    for _, body in simulation.file.bodies_of(number):
        for inner in simulation.file.nodes_of(body):
            yield from simulation.file.nodes[inner].proto.input
            yield from _read(simulation, inner)


def sizes_of(simulation: Simulation) -> dict[str, int]:
    """Return the sizes in bytes of values whose shapes the ``onnx`` package infers from the first set of inputs."""
    proto = simulation.file.proto
    made = type(proto)()
    made.CopyFrom(proto)
    for model_input in made.graph.input:
        array = simulation.inputs[0].feeds.get(model_input.name)
        if array is not None:
            model_input.type.tensor_type.shape.Clear()
            for size in array.shape:
                model_input.type.tensor_type.shape.dim.add().dim_value = size
    del made.graph.value_info[:]
    try:
        found = infer(made)
    except Exception:  # onnx raises several kinds; sizes are then unknown
        return {}
    dtype_of = load_package("onnx").helper.tensor_dtype_to_np_dtype
    return {
        value.name: math.prod(dims) * dtype_of(value.type.tensor_type.elem_type).itemsize
        for value in found.graph.value_info
        if value.type.tensor_type.elem_type and (dims := dims_of(value.type)) is not None
    }
