"""The graph value: a model as nodes of op types with tensors between them.

A graph is made by a ``builder.GraphBuilder`` and does not change afterwards. Nodes of subgraphs are in the same list,
after those of the main graph; an edge never leaves its subgraph.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from ...core.document import Count, Schema
from ...errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.cann.input_shapes import ModelInput, Shapes

ModelFormat: TypeAlias = Literal["om", "ge-proto", "ge-onnx", "atc-json", "onnx", "tensorflow", "saved-model"]


class GraphTensor(NamedTuple):
    """The facts of a file about one input or output; equal ones are shared.

    :param original_dtype: the dtype before the judge (``origin_data_type``); None if it is ``dtype``
    :param format: ``ND``, ``NCHW`` ...; the original format (``origin_format``) if the file has both
    :param shape: the original shape (``origin_shape``) if the file has both; -1 or -2: unknown dimension or rank
    :param continuous: ``_format_continuous``, set by the graph compiler on tensors of loops
    """

    dtype: str | None = None
    original_dtype: str | None = None
    format: str | None = None
    shape: tuple[int, ...] | None = None
    continuous: bool = False

    @property
    def first_dtype(self) -> str | None:
        """The dtype before the judge."""
        return self.original_dtype or self.dtype

    @property
    def is_open(self) -> bool:
        """Whether a dimension of a known rank has no size."""
        return self.shape is not None and -1 in self.shape


UNKNOWN = GraphTensor()
CONSTANTS = frozenset({"Const", "Constant"})
"""Op types of constants."""
NEVER_JUDGED: Mapping[str, str] = {
    **dict.fromkeys(CONSTANTS, "constant"),
    **dict.fromkeys(("Data", "RefData", "QueueData", "AippData"), "graph-input"),
    "Variable": "variable",
    "NetOutput": "graph-output",
    "TransData": "layout",
}
"""Op types that the engine never judges, with the code of the reason (op_format_dtype_judge.cc:1129-1136)."""
NOT_COMPUTED = frozenset(NEVER_JUDGED) - {"TransData"}
"""Those that store or pass on a tensor; a TransData is a kernel that writes it in another layout, and takes time."""


class Producer(NamedTuple):
    """The producer of an input: a node's index in the graph and the number of its output."""

    node: int
    output: int


class Subgraph(NamedTuple):
    """One body of a control operator; number 0 is the main graph.

    :param parent: index of the node that owns it, None for the main graph
    :param nodes: indexes of its nodes, in the file's order
    """

    name: str
    parent: int | None
    nodes: range


class Weights(NamedTuple):
    """The place of a constant's values: bytes of a file, little-endian, or a tensor that is in memory.

    :param offset: in bytes from the start of the file
    :param size: in bytes; -1: up to the end of the file
    :param encoding: ``raw``; ``varint``: integers, or 16-bit patterns of floats, as variable-length numbers
        (``int_val`` and ``half_val`` of TensorFlow), the last of which may be repeated; ``escaped``: the inside of a
        string of text protobuf
    :param tensor: the ONNX TensorProto with the values; None: they are in the file
    :param folder: the folder that the file must be in, if a model names it; ``path`` is below it
    """

    path: str
    offset: int = 0
    size: int = 0
    encoding: str = "raw"
    tensor: Any = None
    folder: str | None = None


class Origin(NamedTuple):
    """The ONNX node that a node comes from; several nodes have the same one if it was expanded.

    :param number: counts the operators of one graph of the model; -1 for an input of the graph
    :param main: whether this node is the operator itself, and not one that the expansion added
    :param inputs: the values that the node reads, by name, empty for an absent one: one for each of its ``sources``
        that the model has, in their order, also after a fusion (``with_inputs``)
    :param inner: values of the model that vanished when nodes were fused into this one
    :param merged: further values that became part of an input: (number of the input, value)
    """

    number: int
    main: bool
    inputs: Sequence[str]
    outputs: Sequence[str]
    inner: Sequence[str] = ()
    merged: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Note:
    """One note."""

    kind: Annotated[str, Schema(examples=["unmapped-operator", "empty-constant"])]
    """The kind of note."""
    message: str
    """The text of the note."""
    subject: str = ""
    """The subject of the note, such as an operator or a domain."""
    nodes: Count = 0
    """Number of affected nodes."""


@dataclass(frozen=True)
class Refusal:
    """A refused node."""

    name: str
    """The node's name."""
    type: Annotated[str, Schema(examples=["Gelu"])]
    """The operator of the source framework."""
    why: Annotated[str, Schema(examples=["no plugin for ai.onnx::20::Gelu"])]
    """The reason."""


class ModelFacts(NamedTuple):
    """The facts of a model file about itself.

    :param atc_cmdline: the command that compiled it, as written in the file; ``command``: split into arguments
    :param graph_precision_mode: the number of the mode that the engine used
    :param judged: whether the engine chose the dtypes
    :param opset: of the standard operators of an ONNX model; 0: none
    :param onnx: the ModelProto of an ONNX model, its functions inlined
    :param inputs: of a model of another framework, with the shapes that are judged
    """

    format: ModelFormat
    path: str | None = None
    soc_version: str | None = None
    atc_cmdline: str | None = None
    graph_precision_mode: int | None = None
    command: tuple[str, ...] = ()
    judged: bool = False
    opset: int = 0
    notes: tuple[Note, ...] = ()
    onnx: Any = None
    refused: tuple[Refusal, ...] = ()
    inputs: tuple[ModelInput, ...] = ()
    shapes: Shapes = MappingProxyType({})

    @property
    def predicted(self) -> bool:
        """Whether names and types are a translation from another framework; fusion may change them."""
        return self.format in ("onnx", "tensorflow", "saved-model")


@dataclass(eq=False, repr=False, slots=True)
class GraphNode:
    """One node.

    :ivar sources: the producer of each input; None for an absent optional input. ``inputs`` has the same length, and
        so has what the judge chooses for them: slots are counted by all three
    :ivar control: indexes of the nodes that must run before it
    :ivar attributes: those that decide a dtype, as far as the file has them, and facts that a reader adds.
        ``_keep_dtype``, ``_inherit_dtype_from_predecessor``, ``_force_fp32_to_fp16``: integers, the engine's names.
        ``parent_input``: of a subgraph's Data, the parent's input that feeds it (the engine's ``_parent_node_index``).
        ``parent_outputs``: of a subgraph's NetOutput, the parent's output that each input feeds, a tuple, -1 for none.
        ``fused_type``, ``fused_by``: the op type that a fusion turned into this one, and the fusion.
        ``fused_types``: the op types of all nodes that it took. ``host_inputs``: numbers of the inputs that the host
        computes when the model is compiled. ``constants``: the constants that became attributes, by the number of the
        input. ``given``: attributes of the operator in the model. ``operator``: that operator, if it has another name.
        ``source``: the operator that the node was built for, with others. ``continuous_input``: the input whose
        value a loop carries. ``_format_agnostic_except_input`` and ``_output``: numbers of the tensors that do not take
        the dtype of the reader.
    :ivar fused_names: names of the operators fused into it (``_datadump_original_op_names``)
    """

    index: int
    name: str
    type: str
    sources: tuple[Producer | None, ...]
    inputs: tuple[GraphTensor, ...]
    outputs: tuple[GraphTensor, ...]
    control: tuple[int, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    fused_names: tuple[str, ...] = ()
    weights: Weights | None = None
    origin: Origin | None = None

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the operators that it stands for: those fused into it, or its own."""
        return self.fused_names or (self.name,)

    @property
    def first_type(self) -> str:
        """The op type before fusion."""
        return str(self.attributes.get("fused_type", self.type))

    @property
    def first_types(self) -> tuple[str, ...]:
        """The op types before fusion of the nodes that became this one."""
        types = self.attributes.get("fused_types")
        return types if isinstance(types, tuple) else (self.type,)

    def __repr__(self) -> str:
        return f"<Node {self.index} {self.type} {self.name!r}>"


class Slots:
    """The inputs of all nodes numbered through, and the outputs: the form in which the judge looks dtypes up.

    :ivar inputs_of: the first input slot of each node, and the end of the last one; ``outputs_of`` likewise
    :ivar consumer: the node of each input slot
    :ivar source_node: the node that feeds each input slot, -1 if absent
    :ivar source_slot: the output slot that feeds each input slot, ``len(outputs)`` if absent
    """

    def __init__(self, nodes: list[GraphNode]) -> None:
        self.inputs_of = list(accumulate((len(node.sources) for node in nodes), initial=0))
        self.outputs_of = starts = list(accumulate((len(node.outputs) for node in nodes), initial=0))
        self.inputs = [tensor for node in nodes for tensor in node.inputs]
        self.outputs = [tensor for node in nodes for tensor in node.outputs]
        assert self.inputs_of[-1] == len(self.inputs), "a node has other sources than inputs"
        self.consumer = [node.index for node in nodes for _ in node.sources]
        sources = [source for node in nodes for source in node.sources]
        nowhere = len(self.outputs)
        self.source_node = [-1 if source is None else source[0] for source in sources]
        self.source_slot = [nowhere if source is None else starts[source[0]] + source[1] for source in sources]

    def producer(self, slot: int) -> Producer:
        """Return the node and the number of an output slot."""
        node = bisect_right(self.outputs_of, slot) - 1
        return Producer(node, slot - self.outputs_of[node])


class ModelGraph:
    """A model as nodes in the order of its file.

    :ivar subgraphs: the main graph, then the bodies of control operators
    """

    def __init__(self, nodes: list[GraphNode], model: ModelFacts, subgraphs: list[Subgraph]) -> None:
        self.nodes = nodes
        self.model = model
        self.subgraphs = subgraphs

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, index: int) -> GraphNode:
        if index < 0:
            raise IndexError(index)
        return self.nodes[index]

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        return f"<Graph {self.model.format} {len(self)} nodes>"

    @cached_property
    def names(self) -> list[str]:
        return [node.name for node in self.nodes]

    @cached_property
    def types(self) -> list[str]:
        return [node.type for node in self.nodes]

    @cached_property
    def slots(self) -> Slots:
        return Slots(self.nodes)

    @cached_property
    def _by_name(self) -> dict[str, GraphNode]:
        parts = {name: node for node in reversed(self.nodes) for name in node.fused_names}
        return parts | {node.name: node for node in reversed(self.nodes)}

    def find(self, name: str) -> GraphNode | None:
        """Return the first node of this name, in the main graph before subgraphs; or one that it was fused into.

        Names are unique in a subgraph only (``GraphBuilder.build``): who goes by name across bodies takes the first.
        """
        return self._by_name.get(name)

    @cached_property
    def _starts(self) -> list[int]:
        return [subgraph.nodes.start for subgraph in self.subgraphs]

    def subgraph_of(self, index: int) -> Subgraph:
        return self.subgraphs[bisect_right(self._starts, index) - 1]

    def main_nodes(self) -> list[GraphNode]:
        main = self.subgraphs[0].nodes
        return self.nodes[main.start : main.stop]

    def without(self, gone: Mapping[int, Producer | None]) -> ModelGraph:
        """Return the graph without some nodes.

        :param gone: the nodes, and the output that feeds the readers of each instead; it may be that of another one
        :raises Damaged: if they feed each other in a cycle
        """
        feeds = dict(gone)

        def behind(source: Producer | None) -> Producer | None:
            passed: list[int] = []
            while source is not None and source.node in feeds:
                passed.append(source.node)
                if len(passed) > len(feeds):
                    message = f"removed nodes form a cycle through `{self.names[source.node]}`"
                    raise Damaged(message, name="bad-graph", path=self.model.path)
                source = feeds[source.node]
            feeds.update(dict.fromkeys(passed, source))
            return source

        bodies = [[index for index in body.nodes if index not in gone] for body in self.subgraphs]
        place = {index: at for at, index in enumerate(chain(*bodies))}

        def placed(source: Producer | None) -> Producer | None:
            source = behind(source)
            return None if source is None else Producer(place[source.node], source.output)

        nodes: list[GraphNode] = []
        for node in (self.nodes[index] for index in chain(*bodies)):
            sources, control = tuple(map(placed, node.sources)), node.control
            if control:
                waited = [placed(Producer(index, 0)) for index in control]
                control = tuple(dict.fromkeys(source.node for source in waited if source is not None))
            facts = (node.attributes, node.fused_names, node.weights, node.origin)  # `replace` is ten times slower
            nodes.append(
                GraphNode(len(nodes), node.name, node.type, sources, node.inputs, node.outputs, control, *facts)
            )
        ends = pairwise(accumulate(map(len, bodies), initial=0))
        subgraphs = [
            Subgraph(body.name, None if body.parent is None else place.get(body.parent), range(*end))
            for body, end in zip(self.subgraphs, ends, strict=True)
        ]
        return ModelGraph(nodes, self.model, subgraphs)

    def compiled_by(self, command: tuple[str, ...]) -> ModelGraph:
        """Return the graph with the command that compiles it, split into arguments; as it is without one."""
        return ModelGraph(self.nodes, self.model._replace(command=command), self.subgraphs) if command else self

    def with_nodes(self, nodes: list[GraphNode]) -> ModelGraph:
        """Return the graph with other nodes in the same places."""
        return ModelGraph(nodes, self.model, self.subgraphs)
