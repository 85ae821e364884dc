"""A model with the names of its own framework, and its way to a graph value: folding of constants, then assembling.

Values have names, as in ONNX; a TensorFlow value is named ``node:output``. Nodes are in the file's order. Constants are
folded as in the graph engine before the judge: a node that depends on constants only becomes one; so does ``Shape``,
``Size`` or ``Rank`` of a value whose shape is known (hicann/ge compiler/graph/passes/, constant_folding_pass,
dimension_compute_pass).
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....errors import Damaged
from ..builder import GraphBuilder
from ..graph import UNKNOWN, GraphTensor, Note, Origin, Producer

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from ..graph import ModelFacts, ModelGraph, Weights

CONST, INPUT, _OUTPUT = "Const", "Data", "NetOutput"
_OUTPUT_NAME = "Node_Output"
"""ATC's name for the node that collects a model's outputs."""
_OF_SHAPE = frozenset({"Shape", "ShapeN", "Size", "Rank", "VariableShape"})
_KEPT = """
QuantizeLinear DequantizeLinear DynamicQuantizeLinear Enter RefEnter Switch RefSwitch Merge RefMerge Exit
RefExit NextIteration RefNextIteration LoopCond Assert Print PrintV2 NoOp Placeholder PlaceholderWithDefault
Bernoulli Multinomial
"""
_NOT_FOLDED = frozenset(_KEPT.split())
"""Operators that are not folded: control flow, and operators with a state or an effect. Collected by hand from those of
TensorFlow and ONNX that are no functions of their inputs; nothing says that they are all. A missing one is folded if
all its inputs are constants."""
_STATEFUL = ("Random", "Stateful", "Stateless", "Var", "Queue", "TensorArray", "Iterator", "Assign", "Read", "Stack")
"""Beginnings of names of operators with a state, which are not folded either; by hand, too."""


@dataclass(eq=False, slots=True)
class SourceNode:
    """An operator of the source framework.

    :ivar op: the operator, with its domain and ``::`` before it unless it is the default one
    :ivar inputs: names of values; empty for an absent optional input
    :ivar attributes: numbers, words and lists of integers that decide the translation; of TensorFlow, messages
    :ivar extra: attributes of the node in the graph value
    :ivar number: counts the operators of one graph of an ONNX model; -1 in other formats
    :ivar type: the translated op type; empty before the translation
    """

    name: str
    op: str
    inputs: list[str]
    outputs: list[str]
    control: Sequence[str] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    number: int = -1
    extra: Mapping[str, object] = field(default_factory=dict)
    bodies: Sequence[SourceGraph] = ()
    type: str = ""
    weights: Weights | None = None


@dataclass(eq=False)
class SourceGraph:
    """A graph of the source framework, or the body of a control operator.

    :ivar inputs: names of the values from outside
    :ivar input_names: names of inputs whose node is named differently from the value
    :ivar parent_inputs: the parent's input that feeds each input of a body
    :ivar parent_outputs: the parent's output that each output of a body feeds, -1 for none
    """

    name: str
    input_names: dict[str, str] = field(default_factory=dict)
    nodes: list[SourceNode] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    tensors: dict[str, GraphTensor] = field(default_factory=dict)
    parent_inputs: list[int] = field(default_factory=list)
    parent_outputs: list[int] = field(default_factory=list)

    def tensor(self, value: str) -> GraphTensor:
        return self.tensors.get(value, UNKNOWN)

    def walk(self) -> Iterator[SourceGraph]:
        """Yield this graph and all bodies inside it, outer ones first."""
        waiting = [self]
        while waiting:
            graph = waiting.pop()
            yield graph
            waiting += reversed([body for node in graph.nodes for body in node.bodies])


def constant(graph: SourceGraph, name: str, dtype: str, shape: tuple[int, ...] = ()) -> SourceNode:
    """Return a constant that the translation adds; its value has its name."""
    graph.tensors[name] = GraphTensor(dtype, shape=shape)
    return SourceNode(name, CONST, [], [name], type=CONST)


class Notes:
    """Collects notes; a repeated note counts another node."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, kind: str, message: str, subject: str = "", nodes: int = 1) -> None:
        self._counts[kind, message, subject] += nodes

    def all(self) -> tuple[Note, ...]:
        return tuple(Note(kind, message, subject, count) for (kind, message, subject), count in self._counts.items())


def fold(graph: SourceGraph) -> None:
    """Fold the constants of a graph and all its bodies."""
    for part in graph.walk():
        _fold(part)


def _fold(graph: SourceGraph) -> None:
    constant = {""}  # an absent input
    held: dict[str, Weights | None] = {}
    made: list[SourceNode] = []
    for node in graph.nodes:
        if node.type == CONST:
            constant.update(node.outputs)
            held.update(dict.fromkeys(node.outputs, node.weights))
            made.append(node)
        elif (node.op in _OF_SHAPE or constant.issuperset(node.inputs)) and _folds(graph, node, constant):
            constant.update(node.outputs)
            if node.op == "Identity" and len(node.outputs) == 1:  # the only one whose values are known: its input's
                output, given = node.outputs[0], node.inputs[0]
                graph.tensors[output] = graph.tensor(given)
                held[output] = held.get(given)
            for number, value in enumerate(node.outputs):
                if value:
                    name = f"{node.name}:{number}" if number else node.name
                    folded = SourceNode(name, CONST, [], [value], number=node.number, type=CONST)
                    folded.weights = held.get(value)
                    made.append(folded)
        else:
            made.append(node)
    unused = constant.difference(graph.outputs)
    for node in made:
        unused.difference_update(node.inputs)
    unused.add("")
    waited = {name for node in made for name in node.control}
    kept = [node for node in made if node.type != CONST or node.name in waited or not unused.issuperset(node.outputs)]
    names = {node.name for node in kept} if waited else set[str]()
    for node in kept:
        if node.control:
            node.control = [name for name in node.control if name in names]
    graph.nodes = kept


def _folds(graph: SourceGraph, node: SourceNode, constant: set[str]) -> bool:
    op = node.op
    given = [value for value in node.inputs if value]
    if not given or not node.outputs or node.type or node.bodies:
        return False
    if op in _NOT_FOLDED or op.startswith(_STATEFUL) or "::" in op:
        return False
    if constant.issuperset(given):
        return True
    if op not in _OF_SHAPE:
        return False
    shapes = [graph.tensor(value).shape for value in given]
    return all(shape is not None and all(dim >= 0 for dim in shape) for shape in shapes)


def prune(graph: SourceGraph, refused: Container[str] = ()) -> list[str]:
    """Remove the nodes on which no output of the graph depends, and return the names of those that are no constants.

    The compiler does the same with each graph that has outputs (hicann/ge,
    graph/passes/standard_optimize/prune_pass.cc).

    :param refused: names of nodes that stay, because the front end refuses the model for them
    """
    if not graph.outputs:
        return []
    feeding: dict[str, list[SourceNode]] = {}  # two of one value are refused later
    for node in graph.nodes:
        for value in filter(None, node.outputs):
            feeding.setdefault(value, []).append(node)
    by_name = {node.name: node for node in graph.nodes}
    kept = {id(node) for node in graph.nodes if node.name in refused}
    waiting = [node for node in graph.nodes if id(node) in kept]
    waiting += [node for value in graph.outputs for node in feeding.get(value, ())]
    while waiting:
        node = waiting.pop()
        kept.add(id(node))
        before = [each for value in node.inputs for each in feeding.get(value, ())]
        before += [by_name[name] for name in node.control if name in by_name]
        waiting += [each for each in before if id(each) not in kept]
    gone = [node.name for node in graph.nodes if id(node) not in kept and node.type != CONST]
    graph.nodes = [node for node in graph.nodes if id(node) in kept]
    return gone


def assemble(graph: SourceGraph, facts: ModelFacts, path: str) -> ModelGraph:
    """The graph value: of each graph its inputs, then its nodes, then the node that collects its outputs.

    :raises Damaged: if an input reads a value that no node produces, or two nodes produce one
    """
    assembler = _Assembler(path)
    waiting: deque[tuple[SourceGraph, int | None]] = deque([(graph, None)])
    while waiting:
        waiting += assembler.add(*waiting.popleft())
    notes = facts.notes
    if assembler.without_dtype:
        message = "dtypes of these nodes are unknown: the file does not have them"
        notes = (*notes, Note("unknown-dtype", message, nodes=assembler.without_dtype))
    return assembler.builder.build(facts._replace(notes=notes))


class _Assembler:
    def __init__(self, path: str) -> None:
        self.builder = GraphBuilder(path=path)
        self.without_dtype = 0
        self._path = path
        self._marked: dict[GraphTensor, GraphTensor] = {}

    def add(self, graph: SourceGraph, parent: int | None) -> list[tuple[SourceGraph, int | None]]:
        """Add a graph's nodes, and return its bodies with the indexes of their owners.

        :param parent: the owner of this graph; None for the main graph
        """
        builder = self.builder
        if parent is None:
            builder.name_graph(graph.name)
        else:
            builder.subgraph(graph.name, parent)
        names = iter(_unique(graph))
        producers = self._producers(graph, len(builder))
        read: set[str] = set()
        for number, value in enumerate(graph.inputs):
            tensor = graph.tensor(value)
            parent_input = graph.parent_inputs[number] if number < len(graph.parent_inputs) else -1
            attributes = {"parent_input": parent_input} if parent_input >= 0 else None
            place = Origin(-1, True, (), (value,))
            builder.add(next(names), INPUT, [None], [tensor], inputs=[tensor], attributes=attributes, origin=place)
        bodies: list[tuple[SourceGraph, int | None]] = []
        unknown = [
            values
            for node in graph.nodes
            if (values := [value for value in node.outputs if value and graph.tensor(value).dtype is None])
        ]
        graph.nodes.reverse()
        while graph.nodes:  # each is gone before the next is made, so that a large model is not in memory twice
            node = graph.nodes.pop()
            is_main = "source" not in node.extra
            origin = Origin(node.number, is_main, node.inputs, node.outputs) if node.number >= 0 else None
            index = builder.add(
                next(names),
                node.type,
                self._sources(node.name, node.inputs, producers),
                [graph.tensor(value) if value else UNKNOWN for value in node.outputs],
                inputs=self._inputs(graph, node),
                control=node.control,
                attributes={**node.extra, "operator": node.op} if is_main and node.op != node.type else node.extra,
                weights=node.weights,
                origin=origin,
            )
            read.update(node.inputs)
            bodies += [(body, index) for body in node.bodies]
        if graph.outputs or parent is not None:
            name = next(names)
            sources = self._sources(name, graph.outputs, producers)
            outputs = {"parent_outputs": tuple(graph.parent_outputs)} if graph.parent_outputs else None
            builder.add(name, _OUTPUT, sources, inputs=list(map(graph.tensor, graph.outputs)), attributes=outputs)
            read.update(graph.outputs)
        self.without_dtype += sum(not read.isdisjoint(values) for values in unknown)
        return bodies

    def _producers(self, graph: SourceGraph, first: int) -> dict[str, Producer]:
        """Return the node and the number of its output that produce each value.

        :raises Damaged: if two nodes produce one value
        """
        producers = {value: Producer(index, 0) for index, value in enumerate(graph.inputs, first)}
        for index, node in enumerate(graph.nodes, first + len(graph.inputs)):
            for number, value in enumerate(node.outputs):
                place = Producer(index, number)
                if value and producers.setdefault(value, place) != place:
                    message = f"`{value}` is an output of two nodes, the second is `{node.name}`"
                    raise Damaged(message, name="bad-graph", path=self._path)
        return producers

    def _inputs(self, graph: SourceGraph, node: SourceNode) -> list[GraphTensor | None]:
        """The facts of a node's inputs, without the mark of the outputs of a loop that they read."""
        marked = node.extra.get("continuous_input", -1)
        tensors: list[GraphTensor | None] = []
        for number, value in enumerate(node.inputs):
            tensor = graph.tensor(value) if value else UNKNOWN
            if value and tensor.continuous != (number == marked):
                tensor = self._marked.setdefault(tensor, tensor._replace(continuous=number == marked))
            tensors.append(tensor)
        return tensors

    def _sources(self, reader: str, values: list[str], producers: Mapping[str, Producer]) -> list[Producer | None]:
        """:raises Damaged: if no node produces a value"""
        for value in values:
            if value and value not in producers:
                message = f"`{reader}` reads `{value}`, which no node produces"
                raise Damaged(message, name="bad-graph", path=self._path)
        return [producers.get(value) if value else None for value in values]


def _unique(graph: SourceGraph) -> list[str]:
    """Return the names of the inputs, the nodes and the output node; a repeated name gets a number.

    Nodes keep their names before inputs and outputs do.
    """
    own_names = [node.name for node in graph.nodes]
    others = [*(graph.input_names.get(value, value) for value in graph.inputs), _OUTPUT_NAME]
    taken: set[str] = set()
    counts: dict[str, int] = {}

    def own(name: str) -> str:
        if name in taken:
            again = counts.get(name, 1)
            while f"{name}:{again}" in taken:
                again += 1
            counts[name] = again + 1
            name = f"{name}:{again}"
        taken.add(name)
        return name

    nodes = [own(name) for name in own_names]
    *inputs, output = map(own, others)
    return [*inputs, *nodes, output]
