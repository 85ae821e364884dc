"""The JSON document of a graph, as records: its nodes with their dtypes and reasons, Casts, counts and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from ...core.cann.dtype_names import Precision
from ...core.document import Count, LineNumber, PolicyName, Schema, internal, optional, renamed
from .casts import Memory
from .fusions.fuse import Fusion
from .graph import ModelFormat, Note, Producer, Refusal

Confidence: TypeAlias = Literal["library", "kernel", "assumed", "compiled"]
DtypeName: TypeAlias = Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]


@dataclass(frozen=True)
class NodeDtypes:
    """The dtypes of a node."""

    inputs: tuple[DtypeName, ...]
    """The dtype of each input."""
    outputs: tuple[DtypeName, ...]
    """The dtype of each output."""


@dataclass(frozen=True, slots=True)
class DecidingOutput:
    """An output of a node."""

    node: str
    """The name of the node."""
    tensor: Annotated[str, Schema(examples=["output 0"])]
    """The output, as `output 0`."""
    source: Producer = internal()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer:
    """One node."""

    index: int = internal()
    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    subgraph: str
    """The name of the node's subgraph; empty for the main graph."""
    why: str
    """Why the node has its dtypes."""
    code: Annotated[str, Schema(examples=["white", "gray", "mode", "first-column", "refused-dtype"])]
    """The reason as a word that never changes."""
    judged: bool
    """Whether the engine chooses the dtypes of the node."""
    inputs: tuple[DtypeName, ...]
    """The dtype of each input."""
    outputs: tuple[DtypeName, ...]
    """The dtype of each output."""
    original_inputs: tuple[DtypeName, ...]
    """The dtype of each input before the engine chose dtypes."""
    original_outputs: tuple[DtypeName, ...]
    """The dtype of each output before the engine chose dtypes."""
    confidence: Confidence | None
    """The source of the node's dtype columns; null if the node was not judged."""
    compute: Annotated[str | None, Schema(examples=["float16", "float32", "hf32"])] = None
    """The dtype that the node is computed in; hf32 is float32 with inputs rounded to 11 bits of mantissa; null if it
    was not judged, or if it would be hf32 and whether the chip has it is unknown.
    """
    implmode: Annotated[str | None, Schema(examples=["high_precision", "enable_hi_float_32_execution"])] = None
    """The implementation mode of the node, as of atc --op_precision_mode; null if none is known."""
    type_before_fusion: Annotated[str | None, Schema(examples=["StridedSliceV2"])] = renamed("fused_from")
    """The op type of the node in the model, if a fusion changed it before dtypes were chosen; null otherwise."""
    policy: PolicyName | None = renamed("list")
    """The list that the node's op type is on; null if the lists are not used."""
    decided_by: DecidingOutput | None = None
    """The tensor that the node's dtype follows; null if there is none."""
    by: str | None = internal(None)
    """``library`` or ``mixlist``, which put it on its list, or ``assumption``; None without a list."""
    tensor: str | None = internal(None)
    """The node's tensor that decided, such as ``input 0``; None if there is none."""
    runs: Precision | None = internal()
    """``low`` if an output is low, or an input if no output is floating; ``high``; None if it was not judged or has no
    floating-point tensor.
    """

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r}: {', '.join(map(str, self.outputs or self.inputs))}, {self.why}>"

    @property
    def low(self) -> bool:
        return self.runs == "low"

    @property
    def dtypes(self) -> NodeDtypes:
        return NodeDtypes(self.inputs, self.outputs)

    @property
    def settled_by(self) -> tuple[str | None, str | None]:
        """The tensor that decided its dtypes, and its dtype."""
        if self.tensor is None:
            return None, next((dtype for dtype in (*self.outputs, *self.inputs) if dtype), None)
        side, number = self.tensor.split()
        return self.tensor, (self.inputs if side == "input" else self.outputs)[int(number)]


@dataclass(frozen=True)
class NotJudged:
    """Nodes of one op type that are not judged for one reason."""

    type: str
    """The op type."""
    nodes: LineNumber
    """Number of nodes."""
    why: str
    """Why they are not judged."""


@dataclass(frozen=True)
class Coverage:
    """How much of the whole graph the engine judges; constants, inputs and outputs of the graph are not counted."""

    compute: Count
    """Number of nodes that compute."""
    judged: Count
    """Number of them whose dtypes the engine chooses."""
    types: list[NotJudged]
    """The others by op type and reason, most nodes first."""
    without_floating: int = internal()
    """Those of the judged ones that have no floating-point tensor."""


@dataclass(frozen=True)
class ReadsLow:
    """Such nodes of one op type."""

    type: str
    """The op type."""
    dtype: str
    """The low dtype that they read."""
    nodes: LineNumber
    """How many."""


@dataclass(frozen=True)
class TypeSummary:
    """The nodes of one op type."""

    type: str
    """The op type."""
    nodes: Count
    """Number of nodes."""
    low: Count
    """Number of nodes that run in a low dtype."""
    high: Count
    """Number of judged or compiled nodes that do not run in a low dtype."""
    policy: PolicyName | None = renamed("list")
    """The list of the nodes; null if there is none or they are on several."""


@dataclass(frozen=True)
class PathStep:
    """One node on the way."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    why: str
    """Why the node has this dtype."""
    tensor: str | None
    """The tensor that decided the dtype; null if there is none."""
    dtype: str | None
    """The dtype; null if unknown."""
    node: NodeAnswer = internal()


@dataclass(frozen=True)
class ModelFile:
    """The model."""

    path: str | None
    """The path of the file."""
    format: ModelFormat
    """The format of the file."""
    soc: str | None
    """The chip that the model was compiled for; null if unknown."""
    command: str | None
    """The command that compiled the model; null if unknown."""


@dataclass(frozen=True, kw_only=True)
class CastRow:
    """A conversion that the engine inserts on one edge."""

    producer: str
    """The node whose output is converted."""
    output: Count
    """The index of that output, from 0."""
    consumer: str
    """The node that reads it."""
    input: Count
    """The index of the input of that node, from 0."""
    begin: str = renamed("from")
    """The dtype before the Cast."""
    end: str = renamed("to")
    """The dtype after the Cast."""
    constant: bool
    """Whether the Cast is applied to a constant and folded at compile time."""


@dataclass(frozen=True)
class NodeCounts:
    """Counts: nodes of the selection, Casts of the whole graph."""

    nodes: Count
    """Number of selected nodes."""
    low: Count
    """Number of nodes in a low dtype."""
    high: Count
    """Number of nodes in another dtype."""
    not_judged: Count
    """Number of nodes that were not judged or have no floating-point tensor."""
    casts: Count
    """Number of edges that need a Cast."""
    casts_run: Count
    """Number of Casts that run; equal Casts of one output count once."""
    casts_folded: Count
    """Number of edges whose Cast is folded into a constant."""
    first_column: int = internal(0)
    """Number of nodes that got the first column because none fitted."""
    assumed: int = internal(0)
    """Number of nodes whose columns were assumed."""


@dataclass(frozen=True)
class FusionNotApplied:
    """One fusion that was not applied."""

    name: Annotated[str, Schema(examples=["EinsumPass"])]
    """The compiler's name of the pass."""
    nodes: LineNumber
    """Number of nodes."""
    names: Sequence[str] | None = optional()
    """Names of the nodes."""


@dataclass(frozen=True)
class GraphDocument:
    """The dtypes of a model's nodes and the reasons for them. Later versions may add keys."""

    model: ModelFile
    """The model."""
    precision_mode: str | None
    """The precision mode used to choose the dtypes; null if the dtypes are those of the file."""
    judged: bool | None
    """Whether an engine chose these dtypes; null if unknown."""
    shapes: Mapping[str, Sequence[Annotated[int, Schema(minimum=-1)]]]
    """The shapes that were written into the model's inputs, by name, -1 for an open dimension; empty if none were
    given.
    """
    open_dimensions: Count | None
    """How many nodes have other op types or dtypes once every dimension of the model has a size; null if the dtypes are
    those of the file.
    """
    nodes: Iterable[NodeAnswer]
    """The selected nodes, in the graph's order."""
    casts: Iterable[CastRow]
    """The Casts of the whole graph, one for each edge."""
    types: Sequence[TypeSummary]
    """The op types of the selected nodes, those with the most low nodes first."""
    counts: NodeCounts
    """Counts: nodes of the selection, Casts of the whole graph."""
    memory: Memory
    """Sizes in bytes of the tensors of the whole graph that a node reads, without layouts that pad and
    without Casts.
    """
    coverage: Coverage
    """How much of the whole graph the engine judges; constants, inputs and outputs of the graph are not counted."""
    reads_low: list[ReadsLow]
    """High nodes that read inputs which are float32 in the model in a low dtype: they give float32, and do not compute
    in it. Most nodes first; a node that reads two low dtypes is counted for both.
    """
    refused_by_atc: Sequence[Refusal]
    """Nodes that the compiler's front end refuses: atc does not compile this model. They are in `nodes`, not judged."""
    fusions: Sequence[Fusion]
    """Fusions of the whole graph that were applied before dtypes were chosen, in the compiler's order."""
    fusions_not_applied: list[FusionNotApplied]
    """Fusions that may run and were not applied, with the nodes that they may change."""
    notes: Sequence[Note]
    """What the reader could not read or had to assume."""
