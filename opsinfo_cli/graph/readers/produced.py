"""The values of a source graph, numbered: looking a name up costs more than anything else on a large graph."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from ...errors import Damaged
from ..graph import UNKNOWN

if TYPE_CHECKING:
    from ..graph import GraphTensor
    from .source import SourceGraph

_ABSENT = -1


class Produced:
    """The values that the inputs of a graph and then its nodes produce, numbered in this order.

    :ivar counts: the number of values of each input and node
    :ivar tensors: the facts of each value
    :ivar read: the numbers of the values that the nodes read, -1 for an absent one
    """

    def __init__(self, graph: SourceGraph, path: str) -> None:
        """
        :raises Damaged: if two nodes produce one value, or neither an input nor a node produces one that is read
        """
        self._graph = graph
        self._path = path
        known = graph.tensors.get
        self.counts = [1] * len(graph.inputs)
        self.tensors = [known(value, UNKNOWN) for value in graph.inputs]
        self._number_of = dict(zip(graph.inputs, range(len(graph.inputs)), strict=True))
        self._number_of[""] = _ABSENT
        self.read: list[int] = []
        self._number_nodes()
        self._owners = [node for node, count in enumerate(self.counts) for _ in range(count)]
        self._starts = list(accumulate(self.counts, initial=0)) if max(self.counts, default=0) > 1 else None

    def _number_nodes(self) -> None:
        """Number the outputs of the nodes, and look up their inputs.

        A value is mostly read soon after it is produced, while its name is in the caches of the processor.
        """
        number_of, counts, tensors, read = self._number_of, self.counts, self.tensors, self.read
        known = self._graph.tensors.get
        number_at = number_of.__getitem__
        in_order = True
        for node in self._graph.nodes:
            if in_order and node.inputs:
                try:
                    read += map(number_at, node.inputs)
                except KeyError:
                    in_order = False
            outputs = node.outputs
            counts.append(len(outputs))
            for value in outputs:
                if value:
                    number = len(tensors)
                    if number_of.setdefault(value, number) != number:
                        raise self._twice(value, node.name)
                    tensors.append(known(value, UNKNOWN))
                else:
                    tensors.append(UNKNOWN)
        if not in_order:
            self.read = self.numbers([value for node in self._graph.nodes for value in node.inputs])

    def _twice(self, value: str, node: str) -> Damaged:
        said = f"`{value}` is an output of two nodes, the second is `{node}`"
        return Damaged(said, name="bad-graph", path=self._path)

    def numbers(self, values: list[str], reader: str = "") -> list[int]:
        """Return the numbers of values.

        :param reader: the name of what reads them, if it is not a node of the graph
        :raises Damaged: if neither an input nor a node produces one
        """
        number_of = self._number_of
        try:
            return [number_of[value] for value in values]
        except KeyError as error:
            lost = error.args[0]
            reader = reader or next(node.name for node in self._graph.nodes if lost in node.inputs)
            said = f"`{reader}` reads `{lost}`, which no node produces"
            raise Damaged(said, name="bad-graph", path=self._path) from None

    def producers(self, numbers: list[int], first: int) -> list[int]:
        """Return the index of the input or node that produces each value, -1 for an absent one.

        :param first: the index of the first input
        """
        owners = [*[owner + first for owner in self._owners], -1]
        return [owners[number] for number in numbers]

    def places(self, numbers: list[int]) -> list[int]:
        """Return the number of each value among the outputs of its node."""
        owners, starts = self._owners, self._starts
        if starts is None:
            return [0] * len(numbers)
        return [0 if number == _ABSENT else number - starts[owners[number]] for number in numbers]

    def facts(self, numbers: list[int]) -> list[GraphTensor]:
        """Return the tensor of each value, that of an absent one without any facts."""
        tensors = [*self.tensors, UNKNOWN]
        return [tensors[number] for number in numbers]

    def nodes_without_dtype(self, read: list[int]) -> int:
        """Return how many nodes have a value of unknown dtype that is read."""
        unknown = {number for number, tensor in enumerate(self.tensors) if tensor.dtype is None}
        owners = {self._owners[number] for number in unknown.intersection(read)} if unknown else ()
        return sum(owner >= len(self._graph.inputs) for owner in owners)
