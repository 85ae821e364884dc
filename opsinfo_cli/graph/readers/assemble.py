"""The graph value of a model whose operators were translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import Damaged
from ..builder import GraphBuilder
from ..graph import UNKNOWN, Note, Origin
from .op_names import second_type
from .source import CONST, INPUT, SourceGraph, SourceNode

if TYPE_CHECKING:
    from ..graph import GraphTensor, ModelFacts, ModelGraph

OUTPUT = "NetOutput"
OUTPUT_NAME = "Node_Output"
"""ATC's name for the node that collects a model's outputs."""


def assemble(graph: SourceGraph, facts: ModelFacts, path: str) -> ModelGraph:
    """The graph value: of each graph its inputs, then its nodes, then the node that collects its outputs.

    :raises Damaged: if an input reads a value that no node produces, or two nodes produce one
    """
    assembler = _Assembler(path)
    waiting: list[tuple[SourceGraph, int | None]] = [(graph, None)]
    while waiting:
        waiting += assembler.add(*waiting.pop(0))
    notes = facts.notes
    if assembler.without_dtype:
        message = "dtypes of these nodes are unknown: the file does not have them"
        notes = (*notes, Note("unknown-dtype", message, nodes=assembler.without_dtype))
    made = assembler.builder.build(facts._replace(notes=notes))
    made.model = made.model._replace(second_types=_second_types(made))
    return made


def _second_types(graph: ModelGraph) -> dict[str, str]:
    """Return op types with a constant input -> the type that fusion may turn them into."""
    waiting = {op_type: second for op_type in set(graph.types) if (second := second_type(op_type))}
    found = {}
    for node in graph if waiting else ():
        if node.type in waiting and any(source and graph.nodes[source.node].type == CONST for source in node.sources):
            found[node.type] = waiting.pop(node.type)
    return found


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
            origin = Origin(-1, True, (), (value,))
            builder.add(next(names), INPUT, [None], [tensor], inputs=[tensor], attributes=attributes, origin=origin)
        bodies: list[tuple[SourceGraph, int | None]] = []
        for node in graph.nodes:
            index = self._add_node(graph, node, next(names), producers)
            read.update(node.inputs)
            bodies += [(body, index) for body in node.bodies]
        if graph.outputs or parent is not None:
            self._add_output(graph, next(names), producers)
            read.update(graph.outputs)
        self.without_dtype += sum(
            any(value in read and graph.tensor(value).dtype is None for value in node.outputs if value)
            for node in graph.nodes
        )
        return bodies

    def _producers(self, graph: SourceGraph, first: int) -> dict[str, tuple[int, int]]:
        """Return the node and the number of its output that produce each value.

        :raises Damaged: if two nodes produce one value
        """
        producers = {value: (index, 0) for index, value in enumerate(graph.inputs, first)}
        for index, node in enumerate(graph.nodes, first + len(graph.inputs)):
            for number, value in enumerate(node.outputs):
                place = (index, number)
                if value and producers.setdefault(value, place) != place:
                    message = f"`{value}` is an output of two nodes, the second is `{node.name}`"
                    raise Damaged(message, name="bad-graph", path=self._path)
        return producers

    def _add_node(self, graph: SourceGraph, node: SourceNode, name: str, producers: dict[str, tuple[int, int]]) -> int:
        try:
            sources = [producers[value] if value else None for value in node.inputs]
        except KeyError as error:
            raise self._not_produced(node.name, error.args[0]) from None
        origin = Origin(node.number, "source" not in node.extra, node.inputs, node.outputs)
        return self.builder.add(
            name,
            node.type,
            sources,
            [graph.tensor(value) if value else UNKNOWN for value in node.outputs],
            inputs=self._inputs(graph, node),
            control=node.control,
            attributes=node.extra,
            weights=node.weights,
            origin=origin if node.number >= 0 else None,
        )

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

    def _add_output(self, graph: SourceGraph, name: str, producers: dict[str, tuple[int, int]]) -> None:
        """Add what collects a graph's outputs."""
        sources = []
        for value in graph.outputs:
            if value not in producers:
                raise self._not_produced(name, value)
            sources.append(producers[value])
        attributes = {"parent_outputs": tuple(graph.parent_outputs)} if graph.parent_outputs else None
        inputs = [graph.tensor(value) for value in graph.outputs]
        self.builder.add(name, OUTPUT, sources, inputs=inputs, attributes=attributes)

    def _not_produced(self, reader: str, value: str) -> Damaged:
        return Damaged(f"`{reader}` reads `{value}`, which no node produces", name="bad-graph", path=self._path)


def _unique(graph: SourceGraph) -> list[str]:
    """Return the names of the inputs, the nodes and the output node; a repeated name gets a number.

    Nodes keep their names before inputs and outputs do.
    """
    own_names = [node.name for node in graph.nodes]
    others = [*(graph.input_names.get(value, value) for value in graph.inputs), OUTPUT_NAME]
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
