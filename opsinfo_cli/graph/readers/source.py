"""A model with the names of its own framework, before translation.

Values have names, as in ONNX; a TensorFlow value is named ``node:output``. Nodes are in the file's order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..graph import UNKNOWN, GraphTensor, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..graph import Weights

CONST, INPUT = "Const", "Data"
NOTHING: Mapping[str, object] = {}
"""The shared empty value of nodes; never changed in place."""


class SourceNode:
    """An operator of the source framework.

    :ivar op: the operator, with its domain and ``::`` before it unless it is the default one
    :ivar inputs: names of values; empty for an absent optional input
    :ivar attributes: numbers, words and lists of integers that decide the translation
    :ivar number: counts the operators of one graph of an ONNX model; -1 in other formats
    :ivar type: the translated op type; empty before the translation
    """

    __slots__ = (
        "attributes",
        "bodies",
        "control",
        "extra",
        "inputs",
        "name",
        "number",
        "op",
        "outputs",
        "type",
        "weights",
    )

    def __init__(self, name: str, op: str, inputs: list[str], outputs: list[str]) -> None:
        self.name = name
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.control: Sequence[str] = ()
        self.attributes: Mapping[str, object] = NOTHING
        self.number = -1
        self.extra: Mapping[str, object] = NOTHING
        self.bodies: Sequence[SourceGraph] = ()
        self.type = ""
        self.weights: Weights | None = None

    def keep(self, name: str, value: object) -> None:
        """Keep a value for the graph's attributes."""
        self.extra = {**self.extra, name: value}

    def __repr__(self) -> str:
        return f"<SourceNode {self.op} {self.name!r}>"


class SourceGraph:
    """A graph of the source framework, or the body of a control operator.

    :ivar inputs: names of the values from outside
    :ivar outputs: names of the results
    :ivar tensors: the facts of each value
    :ivar input_names: names of inputs whose node is named differently from the value
    :ivar attribute: the attribute of the parent with the body
    :ivar parent_inputs: the parent's input that feeds each input of a body
    :ivar parent_outputs: the parent's output that each output of a body feeds, -1 for none
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
        """Return the facts of a value."""
        return self.tensors.get(value, UNKNOWN)

    def walk(self) -> Iterator[SourceGraph]:
        """Yield this graph and all bodies inside it, outer ones first."""
        waiting: list[SourceGraph] = [self]
        while waiting:
            graph = waiting.pop()
            yield graph
            bodies = [body for node in graph.nodes if node.bodies for body in node.bodies]
            waiting += reversed(bodies)


def constant(graph: SourceGraph, name: str, dtype: str, shape: tuple[int, ...] = ()) -> SourceNode:
    """Return a constant that the translation adds; its value has its name."""
    node = SourceNode(name, CONST, [], [name])
    node.type = CONST
    graph.tensors[name] = GraphTensor(dtype, shape=shape)
    return node


class Notes:
    """Collects notes; a repeated note counts another node."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, kind: str, message: str, subject: str = "", nodes: int = 1) -> None:
        """Add a note.

        :param kind: a slug
        :param subject: the operator, domain, file or function
        """
        self._counts[kind, message, subject] += nodes

    def all(self) -> tuple[Note, ...]:
        """Return the notes, in the order in which they were added."""
        return tuple(Note(kind, message, subject, count) for (kind, message, subject), count in self._counts.items())
