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
"""The name that ATC gives to what collects a model's outputs."""


def assemble(graph: SourceGraph, facts: ModelFacts, path: str) -> ModelGraph:
    """The graph value.

    :raises Damaged: when an input comes from a value that nothing produces
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
    """The graph and its bodies as :func:`assemble` orders them, each with the index of the node that is first of it.

    A graph's inputs come first, then its nodes, then what collects its outputs.
    """
    waiting, index = [graph], 0
    while waiting:
        each = waiting.pop(0)
        yield each, index
        index += len(each.inputs) + len(each.nodes) + bool(each.outputs or each is not graph)
        waiting += [body for node in each.nodes for body in node.bodies]


def second_types(graph: SourceGraph) -> dict[str, str]:
    """Of the types that have a constant behind their first input the one that fusion may make of them."""
    found: dict[str, str] = {}
    for each in graph.walk():
        constant = {value for node in each.nodes if node.type == CONST for value in node.outputs}
        for node in each.nodes:
            if (
                node.type not in found
                and any(value in constant for value in node.inputs)
                and (second := second_type(node.type))
            ):
                found[node.type] = second
    return found


class _Assembler:
    def __init__(self, path: str) -> None:
        self.builder = GraphBuilder(path=path)
        self._path = path

    def add(self, graph: SourceGraph, main: bool) -> list[tuple[SourceGraph, int]]:
        """Add a graph's nodes; the bodies that come behind it, with the index of their owner."""
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
                [self._source(produced, value, node.name) if value else None for value in node.inputs],
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

    @staticmethod
    def _produced(graph: SourceGraph, base: int) -> dict[str, tuple[int, int]]:
        """Of each value the index of the node that produces it, and the number of its output."""
        produced = {value: (index, 0) for index, value in enumerate(graph.inputs, base)}
        for index, node in enumerate(graph.nodes, base + len(graph.inputs)):
            for number, value in enumerate(node.outputs):
                if value:
                    produced[value] = (index, number)
        return produced

    def _inputs(self, graph: SourceGraph, node: SourceNode) -> list[GraphTensor | None]:
        """What is known of a node's inputs in a graph with loops: the mark of an output is not one of its readers."""
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
        sources = [self._source(produced, value, name) for value in graph.outputs]
        self.builder.add(name, OUTPUT, sources, attributes=attributes)

    def _source(self, produced: dict[str, tuple[int, int]], value: str, reader: str) -> tuple[int, int]:
        found = produced.get(value)
        if found is None:
            raise Damaged(f"`{reader}` reads `{value}`, which nothing produces", name="bad-graph", path=self._path)
        return found

    @staticmethod
    def _unique(graph: SourceGraph) -> list[str]:
        """Names of the inputs, the nodes and what collects the outputs; one that appears again gets a number.

        Nodes have the first right to their names.
        """
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

        nodes = [own(node.name) for node in graph.nodes]
        return [*(own(graph.input_names.get(value, value)) for value in graph.inputs), *nodes, own(OUTPUT_NAME)]
