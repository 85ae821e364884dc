"""The graph value: a model as nodes of op types with tensors between them.

Kept in columns (one list for all names, one for all types, one for all inputs ...), so that 100,000 nodes stay small
and a walk over them is fast; :class:`GraphNode` is a view of one row. A graph is made by a ``builder.GraphBuilder`` or
by ``readers.assemble``, and does not change afterwards.

Nodes of subgraphs are in the same columns, after those of the main graph; an edge never leaves its subgraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Mapping


NO_ATTRIBUTES: Mapping[str, object] = {}
NO_SECOND_TYPES: Mapping[str, str] = {}


class GraphTensor(NamedTuple):
    """The facts of a file about one input or output; equal ones are shared.

    :param dtype: the dtype in the file; None if unknown
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


UNKNOWN = GraphTensor()


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
    """The place of a constant's bytes, little-endian.

    :param offset: in bytes from the start of the file
    :param size: in bytes; -1: up to the end of the file
    :param encoding: ``raw``; ``varint``: 16-bit patterns as variable-length numbers (ONNX ``int32_data``, TensorFlow
        ``half_val``); ``escaped``: the inside of a string of text protobuf
    """

    path: str
    offset: int
    size: int
    encoding: str = "raw"


class Note(NamedTuple):
    """A fact that a reader could not read, or had to assume.

    :param kind: a slug: ``unmapped-operator``, ``opset``, ``foreign-domain`` ...
    :param subject: an operator of the source framework, a domain
    :param nodes: the number of affected nodes
    """

    kind: str
    message: str
    subject: str = ""
    nodes: int = 0


class ModelFacts(NamedTuple):
    """The facts of a model file about itself.

    :param format: ``om``, ``ge-proto``, ``ge-onnx``, ``atc-json``, ``onnx``, ``tensorflow``, ``saved-model``
    :param atc_cmdline: the command that compiled it, as written in the file
    :param graph_precision_mode: the number of the mode the engine used (``graph_precision_mode``)
    :param command: the command split into arguments
    :param judged: whether the engine chose the dtypes; None if unknown
    :param has_casts: whether the engine's Casts are in the graph; None if unknown
    :param attributes: other facts of the file (``atc_version``, opset imports ...)
    :param notes: facts that the reader could not read, or had to assume
    :param predicted: names and types are a translation from another framework; fusion may change them
    :param second_types: op types with a constant input -> the type that fusion may turn them into (``ReduceMeanD``)
    """

    format: str
    path: str | None = None
    soc_version: str | None = None
    atc_cmdline: str | None = None
    graph_precision_mode: int | None = None
    command: tuple[str, ...] = ()
    judged: bool | None = None
    has_casts: bool | None = None
    attributes: Mapping[str, object] = NO_ATTRIBUTES
    notes: tuple[Note, ...] = ()
    predicted: bool = False
    second_types: Mapping[str, str] = NO_SECOND_TYPES


class GraphColumns(NamedTuple):
    """The columns of a graph. ``inputs_of[i]`` to ``inputs_of[i + 1]`` are the input slots of node i.

    :param source_node: the producer's index of each input slot, -1 if absent
    :param source_output: the number of the producer's output of each input slot
    """

    names: list[str]
    types: list[str]
    inputs_of: array[int]
    source_node: array[int]
    source_output: array[int]
    input_tensors: list[GraphTensor]
    outputs_of: array[int]
    output_tensors: list[GraphTensor]


class ModelGraph:
    """A model as nodes in the order of its file.

    ``control``, ``attributes``, ``fused_from`` and ``weights`` have only the nodes with such facts, by index.

    :ivar columns: the columns, for code that walks all nodes
    :ivar control: control producers of a node, as indexes
    :ivar attributes: attributes that decide a dtype, and facts that a reader adds; see :attr:`GraphNode.attributes`
    :ivar fused_from: names of the operators that were fused into a node (``_datadump_original_op_names``)
    """

    __slots__ = ("_by_name", "attributes", "columns", "control", "fused_from", "model", "subgraphs", "weights")

    def __init__(
        self,
        columns: GraphColumns,
        model: ModelFacts,
        subgraphs: list[Subgraph],
        control: dict[int, tuple[int, ...]],
        attributes: dict[int, dict[str, object]],
        fused_from: dict[int, tuple[str, ...]],
        weights: dict[int, Weights],
    ) -> None:
        self.columns = columns
        self.model = model
        self.subgraphs = subgraphs
        self.control = control
        self.attributes = attributes
        self.fused_from = fused_from
        self.weights = weights
        self._by_name: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.columns.names)

    def __getitem__(self, index: int) -> GraphNode:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return GraphNode(self, index)

    def __iter__(self) -> Iterator[GraphNode]:
        return (GraphNode(self, index) for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<Graph {self.model.format} {len(self)} nodes>"

    def find(self, name: str) -> GraphNode | None:
        """Return the first node of this name, in the main graph before subgraphs."""
        if self._by_name is None:
            names = self.columns.names
            self._by_name = {names[index]: index for index in range(len(names) - 1, -1, -1)}
        found = self._by_name.get(name)
        return None if found is None else GraphNode(self, found)

    def subgraph_of(self, index: int) -> Subgraph:
        """Return the subgraph of a node."""
        from bisect import bisect_right

        starts = [subgraph.nodes.start for subgraph in self.subgraphs]
        return self.subgraphs[bisect_right(starts, index) - 1]


class GraphNode:
    """A view of one node."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: ModelGraph, index: int) -> None:
        self.graph = graph
        self.index = index

    def __repr__(self) -> str:
        return f"<Node {self.index} {self.type} {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphNode) and self.graph is other.graph and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self.graph), self.index))

    @property
    def name(self) -> str:
        return self.graph.columns.names[self.index]

    @property
    def type(self) -> str:
        return self.graph.columns.types[self.index]

    @property
    def sources(self) -> list[Producer | None]:
        """The producer of each input, in order; None for an absent optional input."""
        columns = self.graph.columns
        slots = range(columns.inputs_of[self.index], columns.inputs_of[self.index + 1])
        return [
            None if (node := columns.source_node[slot]) < 0 else Producer(node, columns.source_output[slot])
            for slot in slots
        ]

    @property
    def inputs(self) -> list[GraphTensor]:
        columns = self.graph.columns
        return columns.input_tensors[columns.inputs_of[self.index] : columns.inputs_of[self.index + 1]]

    @property
    def outputs(self) -> list[GraphTensor]:
        columns = self.graph.columns
        return columns.output_tensors[columns.outputs_of[self.index] : columns.outputs_of[self.index + 1]]

    @property
    def control(self) -> tuple[int, ...]:
        """Indexes of the nodes that must run before it."""
        return self.graph.control.get(self.index, ())

    @property
    def attributes(self) -> Mapping[str, object]:
        """The attributes that decide a dtype, as far as the file has them, and facts that a reader adds.

        ``_keep_dtype``, ``_inherit_dtype_from_predecessor``, ``_force_fp32_to_fp16``: integers, the engine's names.
        ``parent_input``: of a subgraph's Data, the parent's input that feeds it (the engine's ``_parent_node_index``).
        ``parent_outputs``: of a subgraph's NetOutput, the parent's output that each input feeds, a tuple, -1 for none.
        """
        return self.graph.attributes.get(self.index, NO_ATTRIBUTES)

    @property
    def fused_from(self) -> tuple[str, ...]:
        """Names of the operators fused into it, empty if none."""
        return self.graph.fused_from.get(self.index, ())
