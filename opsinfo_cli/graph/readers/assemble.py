"""The graph value of a model whose operators were translated."""

from __future__ import annotations

from array import array
from itertools import accumulate
from sys import intern
from typing import TYPE_CHECKING

from ...errors import Damaged
from ..graph import UNKNOWN, GraphColumns, ModelGraph, Note, Subgraph
from .op_names import second_type
from .produced import Produced
from .source import CONST, INPUT, SourceGraph, SourceNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..graph import GraphTensor, ModelFacts, Weights

OUTPUT = "NetOutput"
_LOOPS = frozenset({"Switch", "Merge", "Enter", "NextIteration"})
OUTPUT_NAME = "Node_Output"
"""ATC's name for the node that collects a model's outputs."""


def assemble(graph: SourceGraph, facts: ModelFacts, path: str) -> ModelGraph:
    """The graph value.

    :raises Damaged: if an input reads a value that no node produces, or two nodes produce one
    """
    assembler = _Assembler(path)
    waiting: list[tuple[SourceGraph, int | None]] = [(graph, None)]
    while waiting:
        waiting += assembler.add(*waiting.pop(0))
    return assembler.built(facts)


def first_nodes(graph: SourceGraph) -> Iterator[tuple[SourceGraph, int]]:
    """Return the graph and its bodies in the order of :func:`assemble`, each with the index of its first node.

    A graph's inputs come first, then its nodes, then the node that collects its outputs.
    """
    waiting, index = [graph], 0
    while waiting:
        each = waiting.pop(0)
        yield each, index
        index += len(each.inputs) + len(each.nodes) + bool(each.outputs or each is not graph)
        waiting += [body for node in each.nodes for body in node.bodies]


class _Assembler:
    """Fills the columns of a graph, without a builder: no reference has to wait for its node here."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._columns = GraphColumns([], [], array("i", [0]), array("i"), array("i"), [], array("i", [0]), [])
        self._subgraphs: list[Subgraph] = []
        self._control: dict[int, tuple[int, ...]] = {}
        self._attributes: dict[int, dict[str, object]] = {}
        self._weights: dict[int, Weights] = {}
        self._marked: dict[GraphTensor, GraphTensor] = {}
        self._unknown = 0

    def built(self, facts: ModelFacts) -> ModelGraph:
        notes = facts.notes
        if self._unknown:
            said = "dtypes of these nodes are unknown: the file does not have them"
            notes = (*notes, Note("unknown-dtype", said, nodes=self._unknown))
        facts = facts._replace(notes=notes, second_types=self._second_types())
        return ModelGraph(self._columns, facts, self._subgraphs, self._control, self._attributes, {}, self._weights)

    def _second_types(self) -> dict[str, str]:
        """Return op types with a constant input -> the type that fusion may turn them into."""
        columns, found = self._columns, {}
        types = columns.types
        waiting = {op_type: second for op_type in set(types) if (second := second_type(op_type))}
        for node, op_type in enumerate(types) if waiting else ():
            sources = columns.source_node[columns.inputs_of[node] : columns.inputs_of[node + 1]]
            if op_type in waiting and any(source >= 0 and types[source] == CONST for source in sources):
                found[op_type] = waiting.pop(op_type)
        return found

    def add(self, graph: SourceGraph, parent: int | None) -> list[tuple[SourceGraph, int | None]]:
        """Add a graph's nodes, and return its bodies with the indexes of their owners.

        :param parent: the owner of this graph; None for the main graph
        """
        names = self._columns.names
        first = len(names)
        *others, output = self._unique(graph)
        names += others
        produced = Produced(graph, self._path)
        self._add_inputs(graph, produced, first)
        read = self._add_nodes(graph, produced, first)
        if graph.outputs or parent is not None:
            names.append(output)
            read += self._add_output(graph, produced, first)
        self._unknown += produced.nodes_without_dtype(read)
        nodes = range(first, len(names))
        self._subgraphs.append(Subgraph(graph.name, parent, nodes))
        return self._add_facts(graph.nodes, nodes, first + len(graph.inputs))

    def _add_inputs(self, graph: SourceGraph, produced: Produced, first: int) -> None:
        """Add a Data for each input; it has an input too, which nothing feeds."""
        count = len(graph.inputs)
        self._append([INPUT] * count, [1] * count, produced.counts[:count])
        self._feed([-1] * count, [0] * count, produced.tensors[:count])
        for index, parent_input in enumerate(graph.parent_inputs[:count], first):
            if parent_input >= 0:
                self._attributes[index] = {"parent_input": parent_input}

    def _add_nodes(self, graph: SourceGraph, produced: Produced, first: int) -> list[int]:
        """Add the nodes, and return the numbers of the values they read."""
        nodes = graph.nodes
        inputs = [len(node.inputs) for node in nodes]
        types = [intern(node.type) for node in nodes]
        self._append(types, inputs, produced.counts[len(graph.inputs) :])
        self._columns.output_tensors.extend(produced.tensors)
        numbers = produced.read
        if not _LOOPS.isdisjoint(types):
            tensors = [tensor for node in nodes for tensor in self._in_loop(graph, node)]
        else:
            tensors = produced.facts(numbers)
        self._feed(produced.producers(numbers, first), produced.places(numbers), tensors)
        return numbers

    def _in_loop(self, graph: SourceGraph, node: SourceNode) -> Iterator[GraphTensor]:
        """The facts of a node's inputs in a graph with loops, without the mark of the outputs they read."""
        marked = node.extra.get("continuous_input", -1)
        for number, value in enumerate(node.inputs):
            tensor = graph.tensor(value) if value else UNKNOWN
            if value and tensor.continuous != (number == marked):
                tensor = self._marked.setdefault(tensor, tensor._replace(continuous=number == marked))
            yield tensor

    def _add_output(self, graph: SourceGraph, produced: Produced, first: int) -> list[int]:
        """Add what collects a graph's outputs, and return their numbers."""
        name = self._columns.names[-1]
        if "" in graph.outputs:
            raise Damaged(f"`{name}` reads ``, which no node produces", name="bad-graph", path=self._path)
        if graph.parent_outputs:
            self._attributes[len(self._columns.types)] = {"parent_outputs": tuple(graph.parent_outputs)}
        numbers = produced.numbers(graph.outputs, name)
        self._append([OUTPUT], [len(numbers)], [0])
        self._feed(produced.producers(numbers, first), produced.places(numbers), produced.facts(numbers))
        return numbers

    def _append(self, types: list[str], inputs: list[int], outputs: list[int]) -> None:
        """Add nodes with so many inputs and outputs."""
        columns = self._columns
        columns.types.extend(types)
        columns.inputs_of.extend(accumulate(inputs, initial=columns.inputs_of.pop()))
        columns.outputs_of.extend(accumulate(outputs, initial=columns.outputs_of.pop()))

    def _feed(self, producers: list[int], outputs: list[int], tensors: list[GraphTensor]) -> None:
        """Add the inputs of the nodes that were appended."""
        columns = self._columns
        columns.source_node.extend(producers)
        columns.source_output.extend(outputs)
        columns.input_tensors.extend(tensors)

    def _add_facts(
        self, nodes: Sequence[SourceNode], all_nodes: range, begin: int
    ) -> list[tuple[SourceGraph, int | None]]:
        """Add what few nodes have, and return the bodies."""
        bodies: list[tuple[SourceGraph, int | None]] = []
        index_of: dict[str, int] = {}
        for index, node in enumerate(nodes, begin):
            if node.weights is not None:
                self._weights[index] = node.weights
            if node.extra:
                self._attributes[index] = dict(node.extra)
            if node.bodies:
                bodies += [(body, index) for body in node.bodies]
            if node.control:
                index_of = index_of or {self._columns.names[each]: each for each in all_nodes}
                self._control[index] = self._controlled(node, index, index_of)
        return bodies

    def _controlled(self, node: SourceNode, index: int, index_of: dict[str, int]) -> tuple[int, ...]:
        """:raises Damaged: if the producer of a control edge is not a node of the graph"""
        try:
            return tuple([index_of[name] for name in node.control])
        except KeyError as error:
            name = self._columns.names[index]
            said = f"`{name}` has a control edge from `{error.args[0]}`, which is not a node of its graph"
            raise Damaged(said, name="bad-graph", path=self._path) from None

    @staticmethod
    def _unique(graph: SourceGraph) -> list[str]:
        """Return the names of the inputs, the nodes and the output node; a repeated name gets a number.

        Nodes keep their names before inputs and outputs do.
        """
        own_names = [node.name for node in graph.nodes]
        others = [*(graph.input_names.get(value, value) for value in graph.inputs), OUTPUT_NAME]
        if len({*own_names, *others}) == len(own_names) + len(others):
            return [*others[:-1], *own_names, OUTPUT_NAME]
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
