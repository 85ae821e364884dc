"""The JSON of `opsinfo simulate`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, LineNumber, Schema
from .shared import Coverage, Head, Refusal


class Model(TypedDict):
    """The model."""

    path: str
    """The path of the model."""
    opset: LineNumber
    """The opset of the computed model; older models are converted."""


class Output(TypedDict):
    """One output."""

    name: str
    """The name of the output."""
    max_abs_error: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """max|a-b| over all elements; "inf" if an element is Inf or NaN on one side only, or if the shapes differ."""
    max_rel_error: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """max|a-b| / max|b| over all elements, b being the reference; "inf" as for max_abs_error, or if the reference is
    zero.
    """
    cosine: Annotated[float, Schema(minimum=-1, maximum=1)] | None
    """The cosine similarity of the output and the reference; null if unknown."""
    inf: Count
    """Number of infinite elements."""
    nan: Count
    """Number of NaN elements."""
    reference_inf: Count
    """Number of infinite elements in the reference."""
    reference_nan: Count
    """Number of NaN elements in the reference."""
    elements: Count
    """Number of elements."""
    why: str | None
    """Differences other than in numbers: in the shape or in texts; null if there are none."""


class FirstNotFinite(TypedDict):
    """The first node that yields Inf or NaN where float32 does not; null if there is none or it was not requested."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    why: str
    """A description of the error."""


class FirstJump(TypedDict):
    """The first node whose error is above 0.001 and at least ten times the largest error of its inputs; null if there
    is none or it was not requested.
    """

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    why: str
    """A description of the error."""


class Cost(TypedDict):
    """The cost of one op type."""

    type: str
    """The op type."""
    nodes: list[str]
    """The nodes at which tensors are rounded."""
    error_alone: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """The largest max_rel_error if only the tensors at these nodes are rounded; null if it cannot be computed."""
    error_without: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """The largest max_rel_error of the whole policy with the op type on the black list; null if it cannot be computed
    or the mode does not use lists.
    """


class TracedNode(TypedDict):
    """One node."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    error: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """The max_rel_error of the node's outputs against float32."""
    error_of_inputs: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """The largest max_rel_error of the values that the node reads."""
    inf: Count
    """Number of elements that are infinite here but not in float32."""
    nan: Count
    """Number of elements that are NaN here but not in float32."""


class NodeCost(TypedDict):
    """The cost of one low node, with --by node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    error_alone: (
        Annotated[float, Schema(minimum=0, pattern="^inf$")] | Annotated[str, Schema(minimum=0, pattern="^inf$")] | None
    )
    """The largest max_rel_error if only the tensors at this node are rounded; null if it cannot be computed."""
    margin: Annotated[float, Schema(minimum=0)] | None
    """The largest value of the dtype (65504 for float16) over the largest magnitude that the node reads or yields in
    float32, below 1 it overflows; null if unknown.
    """
    shape: list[Count] | None
    """The shape of the first output; null if unknown."""


class Absorbed(TypedDict):
    """One node."""

    node: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    by: str
    """The name of the Softmax."""


class Limit(TypedDict):
    """One limit of the simulation."""

    kind: str
    """The subject: kernels, fusion, replaced, overflow, inner-tensors and others."""
    message: str
    """The limit as text."""
    nodes: list[str]
    """The affected nodes; empty if all nodes may be affected."""


class SimulateDocument(Head):
    """What a policy costs in accuracy, computed on a CPU. Later versions may add keys."""

    model: Model
    """The model."""
    precision_mode: str
    """The precision mode."""
    mixlist: str | None
    """The path of the mixlist; null if none was given."""
    saturate: bool
    """Whether overflowing values are clipped; if not, they become Inf."""
    shapes: dict[str, list[Annotated[int, Schema(minimum=-1)]]]
    """The shapes that were written into the model's inputs, by name, -1 for an open dimension; empty if none were
    given.
    """
    open_dimensions: Count
    """How many nodes have other op types or dtypes once every dimension of the model has a size."""
    inputs: list[str]
    """The sources of the input sets: files, folders, or random:SEED."""
    rounded: Count
    """Number of places where a tensor is rounded."""
    outputs: list[Output]
    """The outputs of the model; with several input sets, the worst values."""
    first_not_finite: FirstNotFinite | None
    """The first node that yields Inf or NaN where float32 does not; null if there is none or it was not requested."""
    first_jump: FirstJump | None
    """The first node whose error is above 0.001 and at least ten times the largest error of its inputs; null if there
    is none or it was not requested.
    """
    types: list[Cost]
    """Op types at whose nodes tensors are rounded, the most costly first; empty with --no-rank."""
    nodes: list[TracedNode | NodeCost] | None
    """With --by node low nodes, the most costly first; else the nodes of the main graph with floating-point outputs, in
    the model's order, and null with --no-trace.
    """
    trace: NotRequired[list[TracedNode] | None]
    """With --by node, the nodes of the main graph with floating-point outputs, in the model's order; null with
    --no-trace.
    """
    absorbed: list[Absorbed]
    """Nodes that yield infinities, which all end in a Softmax; it yields what it yields in float32."""
    coverage: Coverage
    """How much of the model the engine judges; the other nodes are computed in float32. Constants, inputs and outputs
    of the model are not counted.
    """
    refused_by_atc: list[Refusal]
    """Nodes that the compiler's front end refuses: atc does not compile this model. They are computed in float32."""
    max_error: float | None
    """The upper bound of max_rel_error; null if none was given."""
    min_cosine: float | None
    """The lower bound of the cosine; null if none was given."""
    passes: bool | None
    """Whether all outputs are within the bounds; null if there are no bounds."""
    not_shown: list[Limit]
    """What may differ on a device."""
