"""The values of a source graph, numbered: looking a name up costs more than anything else on a large graph."""

from __future__ import annotations

from itertools import accumulate

from ...errors import Damaged
from ...typed import TYPE_CHECKING
from ..graph import UNKNOWN

if TYPE_CHECKING:
    from ..graph import GraphTensor
    from .source import SourceGraph

_ABSENT = -1


class Produced:
    """The values that the inputs of a graph and then its nodes produce, numbered in this order.

    :ivar counts: the number of values of each input and node
    :ivar tensors: the facts of each value
    """

    def __init__(self, graph: SourceGraph, path: str) -> None:
        """:raises Damaged: if two nodes produce one value"""
        values = [*graph.inputs, *[value for node in graph.nodes for value in node.outputs]]
        number_of = dict(zip(values, range(len(values)), strict=True))
        absent = values.count("") if number_of.pop("", None) is not None else 0
        if len(number_of) + absent < len(values):
            raise _appears_twice(graph, path)
        number_of[""] = _ABSENT
        known = graph.tensors.get
        self._graph = graph
        self._path = path
        self._number_of = number_of
        self.tensors = [known(value, UNKNOWN) if value else UNKNOWN for value in values]
        self.counts = [1] * len(graph.inputs) + [len(node.outputs) for node in graph.nodes]
        self._owners = [node for node, count in enumerate(self.counts) for _ in range(count)]
        self._starts = list(accumulate(self.counts, initial=0)) if max(self.counts, default=0) > 1 else None

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


def _appears_twice(graph: SourceGraph, path: str) -> Damaged:
    seen = set(graph.inputs)
    for node in graph.nodes:
        for value in node.outputs:
            if value and value in seen:
                said = f"`{value}` is an output of two nodes, the second is `{node.name}`"
                return Damaged(said, name="bad-graph", path=path)
            seen.add(value)
    twice = next(value for value in graph.inputs if graph.inputs.count(value) > 1)
    return Damaged(f"two inputs are named `{twice}`", name="bad-graph", path=path)
