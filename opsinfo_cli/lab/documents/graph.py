"""The JSON of `opsinfo graph`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, LineNumber, Schema
from .shared import Coverage, Difference, Dtypes, Head, Refusal


class Model(TypedDict):
    """The model."""

    path: str | None
    """The path of the file."""
    format: Literal["om", "ge-proto", "ge-onnx", "atc-json", "onnx", "tensorflow", "saved-model"]
    """The format of the file."""
    soc: str | None
    """The chip that the model was compiled for; null if unknown."""
    command: str | None
    """The command that compiled the model; null if unknown."""


Confidence: TypeAlias = Literal["library", "kernel", "assumed", "compiled"]


class Tensor(TypedDict):
    """An output of a node."""

    node: str
    """The name of the node."""
    tensor: Annotated[str, Schema(examples=["output 0"])]
    """The output, as `output 0`."""


class Node(TypedDict):
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    subgraph: str
    """The name of the node's subgraph; empty for the main graph."""
    list: Literal["white", "black", "gray"] | None
    """The list that the node's op type is on; null if the lists are not used."""
    why: str
    """Why the node has its dtypes."""
    code: Annotated[str, Schema(examples=["white", "gray", "mode", "first-column", "refused-dtype"])]
    """The reason as a word that never changes."""
    decided_by: Tensor | None
    """The tensor that the node's dtype follows; null if there is none."""
    judged: bool
    """Whether the engine chooses the dtypes of the node."""
    inputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each input."""
    outputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each output."""
    original_inputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each input before the engine chose dtypes."""
    original_outputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each output before the engine chose dtypes."""
    confidence: Confidence | None
    """The source of the node's dtype columns; null if the node was not judged."""
    compute: Annotated[str | None, Schema(examples=["float16", "float32", "hf32"])]
    """The dtype that the node is computed in; hf32 is float32 with inputs rounded to 11 bits of mantissa; null if it
    was not judged, or if it would be hf32 and whether the chip has it is unknown.
    """
    implmode: Annotated[str | None, Schema(examples=["high_precision", "enable_hi_float_32_execution"])]
    """The implementation mode of the node, as of atc --op_precision_mode; null if none is known."""
    fused_from: Annotated[str | None, Schema(examples=["StridedSliceV2"])]
    """The op type of the node in the model, if a fusion changed it before dtypes were chosen; null otherwise."""


Cast = TypedDict(
    "Cast",
    {
        "producer": Annotated[str, Schema(description="The node whose output is converted.")],
        "output": Annotated[Count, Schema(description="The index of that output, from 0.")],
        "consumer": Annotated[str, Schema(description="The node that reads it.")],
        "input": Annotated[Count, Schema(description="The index of the input of that node, from 0.")],
        "from": Annotated[str, Schema(description="The dtype before the Cast.")],
        "to": Annotated[str, Schema(description="The dtype after the Cast.")],
        "constant": Annotated[
            bool, Schema(description="Whether the Cast is applied to a constant and folded at compile time.")
        ],
    },
)
Cast.__doc__ = """A conversion that the engine inserts on one edge."""


class Type(TypedDict):
    """The nodes of one op type."""

    type: str
    """The op type."""
    nodes: Count
    """Number of nodes."""
    low: Count
    """Number of nodes that run in a low dtype."""
    high: Count
    """Number of judged or compiled nodes that do not run in a low dtype."""
    list: Literal["white", "black", "gray"] | None
    """The list of the nodes; null if there is none or they are on several."""


class Counts(TypedDict):
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


class Memory(TypedDict):
    """Sizes in bytes of the tensors of the whole graph that a node reads, without layouts that pad and
    without Casts.
    """

    low: Count
    """Tensors in a low dtype."""
    high: Count
    """Other tensors."""
    weights: Count
    """Constants, in the dtypes in which they are read."""
    unknown: Count
    """Number of tensors whose size is unknown."""


class ReadsLow(TypedDict):
    """Such nodes of one op type."""

    type: str
    """The op type."""
    dtype: str
    """The low dtype that they read."""
    nodes: LineNumber
    """How many."""


class Fusion(TypedDict):
    """One application of a fusion."""

    name: Annotated[str, Schema(examples=["ConstToAttrPass"])]
    """The compiler's name of the pass."""
    nodes: list[str]
    """Names of the nodes that it took."""
    result: list[str]
    """Names of the nodes that replace them; empty if they were removed."""
    confidence: NotRequired[Literal["high", "medium", "low"]]
    """How sure it is that the compiler does the same on this chip."""


class FusionNotApplied(TypedDict):
    """One fusion that was not applied."""

    name: Annotated[str, Schema(examples=["EinsumPass"])]
    """The compiler's name of the pass."""
    nodes: LineNumber
    """Number of nodes."""
    names: NotRequired[list[str]]
    """Names of the nodes."""


class Note(TypedDict):
    """One note."""

    kind: Annotated[str, Schema(examples=["unmapped-operator", "empty-constant"])]
    """The kind of note."""
    message: str
    """The text of the note."""
    subject: str
    """The subject of the note, such as an operator or a domain."""
    nodes: Count
    """Number of affected nodes."""


class Constant(TypedDict):
    """One constant on one edge."""

    name: str
    """The name of the constant."""
    used_by: str
    """The node that reads it."""
    value: float
    """The first value that cannot be represented."""
    why: str
    """What happens to the values, and how many are affected."""


class UnreadFile(TypedDict):
    """One file."""

    path: str
    """The path of the file."""
    why: str
    """Why the file could not be read."""


class Step(TypedDict):
    """One node on the way."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    tensor: str | None
    """The tensor that decided the dtype; null if there is none."""
    dtype: str | None
    """The dtype; null if unknown."""
    why: str
    """Why the node has this dtype."""


class Change(TypedDict):
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    a: Dtypes
    """The dtypes of a node."""
    b: Dtypes
    """The dtypes of a node."""


class FusionResult(TypedDict):
    """With --read-back of a fusion_result.json: the compiled graph that is compared, the closest one in the file."""

    graph: Annotated[str, Schema(examples=["0_0"])]
    """Session and graph."""
    graphs: LineNumber
    """Number of graphs in the file."""


class Profile(TypedDict):
    """One profile."""

    name: Annotated[str, Schema(examples=["8,448"])]
    """Its sizes, as given."""
    shapes: dict[str, list[Annotated[int, Schema(minimum=-1)]]]
    """The shapes of inputs that were written into the model; -1 for an open dimension."""
    nodes: Count
    """Number of nodes."""
    low: Count
    """Low nodes."""
    high: Count
    """High nodes."""
    not_judged: Count
    """Nodes that are neither."""
    casts_run: Count
    """Casts that run."""


class Profile2(TypedDict):
    type: str
    """Its op type."""
    inputs: list[str | None]
    """The dtypes of its inputs."""
    outputs: list[str | None]
    """The dtypes of its outputs."""


class DifferingNode(TypedDict):
    """One node."""

    name: str
    """Its name."""
    profiles: list[Profile2 | None]
    """The node in each profile; null if it is part of another node there."""


class Pass(TypedDict):
    """One pass."""

    name: Annotated[str, Schema(examples=["ConstToAttrPass"])]
    """The compiler's name of the pass."""
    predicted: int | None
    """How often it was applied here; null if its rule is not known."""
    matched: Count
    """How often it matched in the compiler."""
    effective: Count
    """How often it took effect there."""


class Agreement(TypedDict):
    """One op type."""

    type: str
    """The op type in the compiled model."""
    matched: Count
    """Number of matched nodes."""
    agree: Count
    """Number of matched nodes that agree."""


UnmatchedNode = TypedDict(
    "UnmatchedNode",
    {
        "name": Annotated[str, Schema(description="The name of the node.")],
        "type": Annotated[str, Schema(description="The op type of the node.")],
        "in": Annotated[Literal["compiled", "predicted"], Schema(description="Which of the two graphs has the node.")],
        "why": Annotated[str, Schema(description="Why the node was not compared.")],
    },
)
UnmatchedNode.__doc__ = """One node."""


class ReadBack(TypedDict):
    """With --read-back: the prediction compared with a compiled model or dump."""

    agreement: float | None
    """Percentage of matched nodes that agree; null if none matched."""
    matched: Count
    """Number of compute nodes of the compiled model that were found in the prediction."""
    by_fusion: Count
    """Number of these that were found through the names of the operators fused into them."""
    types: list[Agreement]
    """The matched nodes by op type."""
    unmatched: list[UnmatchedNode]
    """Nodes that were not compared."""
    differs: list[Difference]
    """Nodes whose dtypes differ from the prediction."""


class Cost(TypedDict):
    """With --profile: what the mixlist moves from low to high."""

    nodes: Count
    """Number of nodes."""
    bytes: Count
    """Bytes of their outputs, as far as shapes are known."""
    microseconds: Annotated[float, Schema(minimum=0)] | None
    """Time of these nodes in a profile; null if unknown."""


class EvidenceSuspect(TypedDict):
    """A node, or a fused operator of the device, that may be where accuracy is lost."""

    name: str
    """The node of the model; empty if the evidence knows op types only and the model has none."""
    nodes: list[str]
    """All nodes of the graph that it stands for."""
    type: str
    """The op type."""
    kind: Literal["overflow", "differs", "unseen", "jump", "costs", "magnitude"]
    """What the evidence says: inputs agree and the output overflows or differs; no row, and between tensors that agree
    and one that does not; within the limits, but with an error much larger than that of the inputs; the error that its
    rounding alone costs in a simulation; a dumped call of its kind near the largest float16.
    """
    why: str
    """The same for people."""
    ran: str | None
    """The dtype of its output in the evidence; null if unknown."""
    predicted: str | None
    """The dtype that the judge gives its output; null if it was not judged."""
    list: Literal["white", "black", "gray"] | None
    """The list that decides; null if lists are not used."""
    movable: Literal["mixlist", "keep_dtype"] | None
    """What moves all its low nodes to high precision; null if nothing does, or none is low."""
    cosine: float | None
    """The cosine of its output; null if unknown."""
    path: str
    """The file that says it."""
    line: int | None
    """The line in it; null for JSON."""


class Evidence(TypedDict):
    """What evidence suspects."""

    path: list[str]
    """The files that were read."""
    rows: Count
    """Their rows or entries."""
    matched: Count
    """Those that are about nodes of the model."""
    suspects: list[EvidenceSuspect]
    """The most suspect first."""
    mixlist: dict[str, dict[str, list[str]]]
    """The smallest mixlist that moves the suspects which a mixlist can move, with the marks that were given."""
    unclear: list[str]
    """What cannot be told, for people."""


class GraphDocument(Head):
    """The dtypes of a model's nodes and the reasons for them. Later versions may add keys."""

    model: Model
    """The model."""
    precision_mode: str | None
    """The precision mode used to choose the dtypes; null if the dtypes are those of the file."""
    judged: bool | None
    """Whether an engine chose these dtypes; null if unknown."""
    shapes: dict[str, list[Annotated[int, Schema(minimum=-1)]]]
    """The shapes that were written into the model's inputs, by name, -1 for an open dimension; empty if none were
    given.
    """
    open_dimensions: Count | None
    """How many nodes have other op types or dtypes once every dimension of the model has a size; null if the dtypes are
    those of the file.
    """
    nodes: list[Node]
    """The selected nodes, in the graph's order."""
    casts: list[Cast]
    """The Casts of the whole graph, one for each edge."""
    types: list[Type]
    """The op types of the selected nodes, those with the most low nodes first."""
    counts: Counts
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
    refused_by_atc: list[Refusal]
    """Nodes that the compiler's front end refuses: atc does not compile this model. They are in `nodes`, not judged."""
    fusions: list[Fusion]
    """Fusions of the whole graph that were applied before dtypes were chosen, in the compiler's order."""
    fusions_not_applied: list[FusionNotApplied]
    """Fusions that may run and were not applied, with the nodes that they may change."""
    notes: list[Note]
    """What the reader could not read or had to assume."""
    constants: NotRequired[list[Constant]]
    """With a mode: constants with values that their low dtype cannot represent."""
    unread: NotRequired[list[UnreadFile]]
    """With a mode: files whose constants could not be read."""
    path: NotRequired[list[Step]]
    """With --node: the nodes on the way back to the origin of its dtypes, in order."""
    changed: NotRequired[list[Change]]
    """With a comparison: nodes whose dtypes differ."""
    casts_gone: NotRequired[list[Cast]]
    """With a comparison: Casts of the first result that are not in the second."""
    casts_added: NotRequired[list[Cast]]
    """With a comparison: Casts that are only in the second result."""
    fusion_result: NotRequired[FusionResult]
    """With --read-back of a fusion_result.json: the compiled graph that is compared, the closest one in the file."""
    profiles: NotRequired[list[Profile]]
    """With the command of --atc, if it has several shapes: each profile. The rest of the document is that of the first.
    """
    profiles_differ: NotRequired[list[DifferingNode]]
    """The nodes whose op types or dtypes differ between profiles."""
    passes: NotRequired[list[Pass]]
    """With --read-back of a fusion_result.json: the passes of the compiler, and those predicted."""
    read_back: NotRequired[ReadBack]
    """With --read-back: the prediction compared with a compiled model or dump."""
    cost: NotRequired[Cost]
    """With --profile: what the mixlist moves from low to high."""
    evidence: NotRequired[Evidence]
    """With --evidence: what it suspects; the nodes of the document are those of the suspects."""
