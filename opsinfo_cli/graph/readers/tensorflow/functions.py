"""Functions of TensorFlow: calls are inlined, those of control operators become bodies.

Names inside are the caller's and the function's own, joined by a slash, as TensorFlow's inliner writes them. Source:
tensorflow/tensorflow tensorflow/core/framework/function.proto (how inputs inside are written).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..protobuf import WireFault
from ..source import SourceGraph, SourceNode
from .graph import source_graph, value_name
from .nodes import Function, TfFunction, TfNode
from .outputs import output_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...graph import GraphTensor
    from ..source import Notes

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_BODIES = {
    "If": (("then_branch", "else_branch"), 1),
    "StatelessIf": (("then_branch", "else_branch"), 1),
    "_If": (("then_branch", "else_branch"), 1),
    "While": (("cond", "body"), 0),
    "StatelessWhile": (("cond", "body"), 0),
    "_While": (("cond", "body"), 0),
    "Case": (("branches",), 1),
    "StatelessCase": (("branches",), 1),
}
"""Attributes that name functions, and the first input that is an argument of theirs."""

DEEPEST = 48
MOST_NODES = 2_000_000
"""The most nodes that inlining may create: functions that call each other twice grow without bounds."""


class FunctionLibrary:
    """The functions of a graph."""

    def __init__(self, functions: Iterable[TfFunction], notes: Notes) -> None:
        self.functions = {function.name: function for function in functions}
        self.notes = notes
        self._made = 0

    def called(self, node: TfNode) -> TfFunction | None:
        """Return the function that a node calls; None if it calls none."""
        if node.op in CALLS:
            text = node.attributes.get("f")
            name = text.names[0] if isinstance(text, Function) and text.names else ""
            if name not in self.functions:
                self.notes.add("missing-function", f"function `{name}` is not in the file", name)
            return self.functions.get(name)
        return self.functions.get(node.op)

    def inlined(self, nodes: Iterable[TfNode], depth: int = 0) -> Inlined:
        """Nodes with their calls inlined.

        :raises WireFault: if functions call each other too deep or make too many nodes
        """
        if depth > DEEPEST:
            raise WireFault(0, f"functions call each other more than {DEEPEST} deep")
        made: list[TfNode] = []
        aliases: dict[str, str] = {}
        for node in nodes:
            function = self.called(node)
            if function is None:
                made.append(node)
                continue
            arguments = [text for text in node.inputs if not text.startswith("^")]
            control = [text for text in node.inputs if text.startswith("^")]
            inner, results = self.body(function, node.name, arguments, control)
            self._made += len(inner)
            if self._made > MOST_NODES:
                raise WireFault(0, f"functions make more than {MOST_NODES} nodes")
            found = self.inlined(inner, depth + 1)
            made += found.nodes
            aliases.update(found.aliases)
            for number, result in enumerate(results):
                aliases[f"{node.name}:{number}"] = value_name(result)
        return Inlined(made, aliases)

    def body(
        self, function: TfFunction, prefix: str, arguments: list[str], control: list[str]
    ) -> tuple[list[TfNode], list[str]]:
        """Return a function's nodes for one call, and its results, in the form of a graph's inputs."""
        given = dict(zip(function.arguments, arguments, strict=False))
        by_name = {node.name: node for node in function.nodes}
        lead = prefix + "/" if prefix else ""

        def reference(text: str) -> str:
            if text.startswith("^"):
                return f"^{lead}{text[1:]}" if text[1:] in by_name else ""
            if text in given:
                return given[text]
            name, *rest = text.split(":")
            if not rest or name not in by_name:
                return given.get(name, text if not lead else lead + text)
            number = (
                int(rest[1]) if len(rest) > 1 and rest[1].isascii() and rest[1].isdigit() and len(rest[1]) < 7 else 0
            )
            output = self._output(by_name[name], rest[0], number)
            return f"{lead}{name}:{output}"

        nodes = []
        for node in function.nodes:
            inputs = [each for each in map(reference, node.inputs) if each]
            nodes.append(TfNode(lead + node.name, node.op, [*inputs, *control], node.attributes))
        return nodes, [reference(result) for _, result in function.results]

    def _output(self, node: TfNode, name: str, number: int) -> int:
        called = self.functions.get(node.op)
        if called is not None:
            names = [each for each, _ in called.results]
            return names.index(name) + number if name in names else number
        found = output_number(node.op, name, number)
        if found is None:
            self.notes.add(
                "output-name", f"output `{name}` of `{node.op}` is unknown; taken as its output {number}", node.op
            )
        return number if found is None else found


class Inlined(NamedTuple):
    """Nodes, and the new values of inlined calls."""

    nodes: list[TfNode]
    aliases: dict[str, str]


def graph_of(
    name: str,
    nodes: Iterable[TfNode],
    library: FunctionLibrary,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    tensors: Mapping[str, GraphTensor] | None = None,
    depth: int = 0,
) -> SourceGraph:
    """A source graph with calls inlined and the functions of control operators as bodies.

    :param inputs: values from outside, besides the placeholders
    :param outputs: the results
    :param tensors: the facts of the inputs
    """
    if depth > DEEPEST:
        raise WireFault(0, f"functions are nested more than {DEEPEST} deep")
    found = library.inlined(nodes)
    _resolve(found)
    wanted = [_final(found.aliases, value_name(value)) for value in outputs]
    graph = source_graph(name, needed(found.nodes, wanted) if wanted else found.nodes, inputs, tensors)
    graph.outputs = wanted
    for node in graph.nodes:
        if node.op in _BODIES:
            _bodies(graph, node, library, depth)
    return graph


def needed(nodes: list[TfNode], outputs: Iterable[str]) -> list[TfNode]:
    """Return the nodes that some values depend on, including through control edges."""
    by_name = {node.name: node for node in nodes}
    waiting = [text.rpartition(":")[0] or text for text in outputs]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting += [text.removeprefix("^").partition(":")[0] for text in by_name[name].inputs]
    return [node for node in nodes if node.name in found]


def _resolve(found: Inlined) -> None:
    """Connect inputs from inlined calls with the nodes that compute them, and drop control edges from the calls."""
    if not found.aliases:
        return
    names = {node.name for node in found.nodes}
    for node in found.nodes:
        node.inputs = [
            text if text.startswith("^") else _final(found.aliases, value_name(text))
            for text in node.inputs
            if not text.startswith("^") or text[1:] in names
        ]


def _final(aliases: Mapping[str, str], value: str) -> str:
    for _ in range(DEEPEST * 2):
        if value not in aliases:
            break
        value = aliases[value]
    return value


def _bodies(graph: SourceGraph, node: SourceNode, library: FunctionLibrary, depth: int) -> None:
    attributes, first = _BODIES[node.op]
    for attribute in attributes:
        text = node.attributes.get(attribute)
        for function_name in text.names if isinstance(text, Function) else ():
            function = library.functions.get(function_name)
            if function is None:
                library.notes.add("missing-function", f"function `{function_name}` is not in the file", function_name)
                continue
            nodes, results = library.body(function, "", list(function.arguments), [])
            inputs = [f"{argument}:0" for argument in function.arguments]
            tensors = {
                value: graph.tensor(node.inputs[number + first])
                for number, value in enumerate(inputs)
                if number + first < len(node.inputs)
            }
            body = graph_of(f"{node.name}/{function_name}", nodes, library, inputs, results, tensors, depth + 1)
            body.parent_inputs = [number + first for number in range(len(inputs))]
            body.parent_inputs += [-1] * (len(body.inputs) - len(inputs))
            body.parent_outputs = [-1 if attribute == "cond" else number for number in range(len(body.outputs))]
            node.bodies = [*node.bodies, body]
