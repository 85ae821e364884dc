"""The expansion of one ONNX node to several nodes of CANN; see :mod:`.onnx_expand`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .source import SourceGraph, SourceNode, constant

if TYPE_CHECKING:
    from collections.abc import Sequence


class Expansion:
    """The expansion of one node; a rule sets its type and adds nodes before and after it.

    :ivar made: the resulting nodes, in order
    :ivar followed: whether a rule applied
    """

    def __init__(self, graph: SourceGraph, node: SourceNode, types: Sequence[str]) -> None:
        self.graph = graph
        self.node = node
        self.types = types
        self.made = [node]
        self.followed = True

    def rank(self, number: int = 0) -> int:
        """Return the number of dimensions of an input; -1 if unknown."""
        shape = self.graph.tensor(self.node.inputs[number]).shape if number < len(self.node.inputs) else None
        return -1 if shape is None else len(shape)

    def number(self, name: str, default: float) -> float:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, (int, float)) else default

    def before(self, number: int, op_type: str, suffix: str, shape: tuple[int, ...] | None = None) -> None:
        """Put a node of one input before input ``number``."""
        given = self.node.inputs[number]
        name = self.node.name + suffix
        made = self._made(name, op_type, [given], name)
        self.graph.tensors[name] = self.graph.tensor(given)._replace(shape=shape)
        self.node.inputs[number] = name
        self.made.insert(len(self.made) - 1, made)

    def behind(
        self, op_type: str, suffix: str, more: Sequence[str] = (), shape: tuple[int, ...] | None = None
    ) -> SourceNode:
        """Put a node after the last one; it takes over its first value."""
        last = self.made[-1]
        value = last.outputs[0]
        inner = last.name + ":inner" if last is self.node else last.name
        self.graph.tensors[inner] = self.graph.tensor(value)._replace(shape=shape)
        last.outputs = [inner, *last.outputs[1:]]
        made = self._made(self.node.name + suffix, op_type, [inner, *more], value)
        self.made.append(made)
        return made

    def const(self, suffix: str, dtype: str = "int64", shape: tuple[int, ...] = ()) -> str:
        """Add a constant, and return the name of its value."""
        made = constant(self.graph, self.node.name + suffix, dtype, shape)
        self.made.insert(0, made)
        return made.name

    def _made(self, name: str, op_type: str, inputs: list[str], output: str) -> SourceNode:
        made = SourceNode(name, op_type, inputs, [output])
        made.type = op_type
        made.keep("source", self.node.name)
        return made

    def step(self, op_type: str, suffix: str, value: str) -> SourceNode:
        """Return a node of one input that is not placed yet."""
        name = self.node.name + suffix
        made = self._made(name, op_type, [value], name)
        self.graph.tensors[name] = self.graph.tensor(value)
        return made
