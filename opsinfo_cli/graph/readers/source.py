"""A model in the words of the framework it comes from, before its names are translated.

Values have names, as in ONNX; a TensorFlow value is named ``node:output``. Nodes stand in the file's order.
"""

from __future__ import annotations

from ...typed import TYPE_CHECKING
from ..graph import UNKNOWN, GraphTensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..graph import Weights

CONST, INPUT = "Const", "Data"
NOTHING: Mapping[str, object] = {}
"""What most nodes have of most things; never changed in place."""


class SourceNode:
    """An operator of the source framework.

    :ivar op: the operator, with its domain and ``::`` before it where it is not the default one
    :ivar inputs: names of values; empty for an absent optional input
    :ivar attributes: numbers, words and lists of integers that decide what the operator becomes
    :ivar type: the op type it becomes; empty: not yet translated
    """

    __slots__ = ("attributes", "bodies", "control", "extra", "inputs", "name", "op", "outputs", "type", "weights")

    def __init__(self, name: str, op: str, inputs: list[str], outputs: list[str]) -> None:
        self.name = name
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.control: Sequence[str] = ()
        self.attributes: Mapping[str, object] = NOTHING
        self.extra: Mapping[str, object] = NOTHING
        self.bodies: Sequence[SourceGraph] = ()
        self.type = ""
        self.weights: Weights | None = None

    def keep(self, name: str, value: object) -> None:
        """Keep something that goes into the graph's attributes."""
        self.extra = {**self.extra, name: value}

    def __repr__(self) -> str:
        return f"<SourceNode {self.op} {self.name!r}>"


class SourceGraph:
    """A graph of the source framework, or the body of a control operator.

    :ivar inputs: names of the values that come from outside
    :ivar outputs: names of the values that go out
    :ivar tensors: what is known of each value
    :ivar input_names: names of inputs whose node is named differently from the value
    :ivar attribute: the attribute of the parent that holds it
    :ivar parent_inputs: of each input of a body the parent's input that feeds it
    :ivar parent_outputs: of each output of a body the parent's output that it feeds, -1 for none
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.input_names: dict[str, str] = {}
        self.attribute = ""
        self.nodes: list[SourceNode] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.tensors: dict[str, GraphTensor] = {}
        self.parent_inputs: list[int] = []
        self.parent_outputs: list[int] = []

    def tensor(self, value: str) -> GraphTensor:
        """What is known of a value."""
        return self.tensors.get(value, UNKNOWN)

    def walk(self) -> Iterator[SourceGraph]:
        """This graph and all bodies inside it, outer ones first."""
        waiting: list[SourceGraph] = [self]
        while waiting:
            graph = waiting.pop()
            yield graph
            bodies = [body for node in graph.nodes if node.bodies for body in node.bodies]
            waiting += reversed(bodies)


def constant(graph: SourceGraph, name: str, dtype: str, shape: tuple[int, ...] = ()) -> SourceNode:
    """A constant that the translation puts in; its value is named as it is."""
    node = SourceNode(name, CONST, [], [name])
    node.type = CONST
    graph.tensors[name] = GraphTensor(dtype, shape=shape)
    return node
