"""The graph value of a model whose operators were translated."""

from __future__ import annotations

from ...errors import Damaged
from ...typed import TYPE_CHECKING
from ..builder import GraphBuilder
from ..graph import UNKNOWN
from .op_names import second_type
from .source import CONST, INPUT, SourceGraph, SourceNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..graph import GraphTensor, ModelFacts, ModelGraph

OUTPUT = "NetOutput"
_LOOPS = frozenset({"Switch", "Merge", "Enter", "NextIteration"})
OUTPUT_NAME = "Node_Output"
"""ATC's name for the node that collects a model's outputs."""


def assemble(graph: SourceGraph, facts: ModelFacts, path: str) -> ModelGraph:
    """The graph value.

    :raises Damaged: if an input reads a value that no node produces
    """
    assembler = _Assembler(path)
    assembler.builder.name_graph(graph.name)
    waiting = assembler.add(graph, main=True)
    while waiting:
        body, owner = waiting.pop(0)
        assembler.builder.subgraph(body.name, owner)
        waiting += assembler.add(body, main=False)
    return assembler.builder.build(facts)


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


def second_types(graph: SourceGraph) -> dict[str, str]:
    """Return op types with a constant input after the first -> the type that fusion may turn them into."""
    found: dict[str, str] = {}
    for each in graph.walk():
        constant = {value for node in each.nodes if node.type == CONST for value in node.outputs}
        waiting = {
            op_type: second for op_type in {node.type for node in each.nodes} if (second := second_type(op_type))
        }
        for node in each.nodes if waiting else ():
            if node.type in waiting and not constant.isdisjoint(node.inputs):
                found.setdefault(node.type, waiting.pop(node.type))
    return found


class _Assembler:
    def __init__(self, path: str) -> None:
        self.builder = GraphBuilder(path=path)
        self._path = path

    def add(self, graph: SourceGraph, main: bool) -> list[tuple[SourceGraph, int]]:
        """Add a graph's nodes, then its bodies, with the index of their owner."""
        builder, bodies = self.builder, []
        names = self._unique(graph)
        first = len(graph.inputs)
        produced = self._produced(graph, len(builder))
        known = graph.tensors.get
        for number, value in enumerate(graph.inputs):
            parent = -1 if main else graph.parent_inputs[number]
            tensor = graph.tensor(value)
            attributes = {} if parent < 0 else {"parent_input": parent}
            builder.add(names[number], INPUT, [None], [tensor], inputs=[tensor], attributes=attributes)
        loops = any(node.type in _LOOPS for node in graph.nodes)
        for number, node in enumerate(graph.nodes, first):
            index = builder.add(
                names[number],
                node.type,
                self._sources(produced, node.inputs, node.name) if node.inputs else (),
                [known(value, UNKNOWN) for value in node.outputs],
                inputs=self._inputs(graph, node) if loops else (),
                control=node.control,
                attributes=node.extra,
                weights=node.weights,
            )
            if node.bodies:
                bodies += [(body, index) for body in node.bodies]
        self._outputs(graph, produced, names[-1], main)
        return bodies

    def _produced(self, graph: SourceGraph, base: int) -> dict[str, tuple[int, int]]:
        """Return the producer of each value: the index of the node, and the number of its output.

        :raises Damaged: if two nodes produce it
        """
        produced = {value: (index, 0) for index, value in enumerate(graph.inputs, base)}
        for index, node in enumerate(graph.nodes, base + len(graph.inputs)):
            for number, value in enumerate(node.outputs):
                if value:
                    if value in produced:
                        said = f"`{value}` is an output of two nodes, the second is `{node.name}`"
                        raise Damaged(said, name="bad-graph", path=self._path)
                    produced[value] = (index, number)
        return produced

    def _inputs(self, graph: SourceGraph, node: SourceNode) -> list[GraphTensor | None]:
        """Return the facts of a node's inputs in a graph with loops, without the mark of the outputs they read."""
        marked = node.extra.get("continuous_input", -1)
        made: list[GraphTensor | None] = []
        for number, value in enumerate(node.inputs):
            known = graph.tensor(value)._replace(continuous=number == marked)
            made.append(self.builder.tensor(*known) if value else None)
        return made

    def _outputs(self, graph: SourceGraph, produced: dict[str, tuple[int, int]], name: str, main: bool) -> None:
        if not graph.outputs and main:
            return
        attributes = {} if main else {"parent_outputs": tuple(graph.parent_outputs)}
        if "" in graph.outputs:
            raise self._missing(name, "")
        sources = self._sources(produced, graph.outputs, name)
        self.builder.add(name, OUTPUT, sources, attributes=attributes)

    def _sources(
        self, produced: dict[str, tuple[int, int]], values: list[str], reader: str
    ) -> list[tuple[int, int] | None]:
        """Return the producers of a node's inputs.

        :raises Damaged: if no node produces one of them
        """
        try:
            return [produced[value] if value else None for value in values]
        except KeyError as missing:
            raise self._missing(reader, missing.args[0]) from None

    def _missing(self, reader: str, value: str) -> Damaged:
        return Damaged(f"`{reader}` reads `{value}`, which no node produces", name="bad-graph", path=self._path)

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
