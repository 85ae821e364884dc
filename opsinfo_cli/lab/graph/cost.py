"""The cost of a list: what it moves to high precision, and what it leaves low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.document import Count, internal
from ...errors import counted
from ..profile.table import Microseconds
from ..profile.times import read_profile
from .casts import tensor_bytes
from .graph import NOT_COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..listener import Listener
    from ..profile.times import Profile
    from .graph import ModelGraph
    from .result import Answer


@dataclass(frozen=True, order=True)
class Cost:
    """What a list moves from low to high."""  # compared in the order of the fields

    microseconds: Microseconds | None
    """Time of these nodes in a profile; null if unknown."""
    nodes: Count
    """Number of nodes."""
    bytes: Count
    """Bytes of their outputs, as far as shapes are known."""
    casts: int = internal(0)
    """How many more Casts run with the list."""


@dataclass(frozen=True)
class NodeBytes:
    """Nodes, and the bytes of their outputs."""

    nodes: Count
    """Number of nodes."""
    bytes: Count
    """Bytes of their outputs, as far as shapes are known."""


class Prices:
    """The microseconds that the nodes of a model took.

    They are matched by name. If no node of an op type ran under its name, because the compiler renamed them, its nodes
    take the time of the type together.

    :ivar matched: the nodes that ran under their names
    """

    def __init__(self, graph: ModelGraph, profile: Profile) -> None:
        self._by_node = {node.index: each for node in graph if (each := profile.by_node.get(node.name)) is not None}
        self._types = graph.types
        named = {graph.types[node] for node in self._by_node}
        self._by_type = {name: time for name, time in profile.by_type.items() if name not in named}
        self.matched = len(self._by_node)

    def of(self, nodes: Iterable[int]) -> float:
        nodes = list(nodes)
        types = {self._types[node] for node in nodes}
        return sum(self._by_node.get(node, 0.0) for node in nodes) + sum(self._by_type.get(name, 0.0) for name in types)


def read_prices(graph: ModelGraph, paths: Sequence[str], listener: Listener) -> Prices:
    """Return what the nodes of a model took when they ran, and tell how they were found.

    :raises Refused: as :func:`.read_profile`
    """
    prices = Prices(graph, read_profile(paths, listener, {*graph.names}))
    nodes = sum(op_type not in NOT_COMPUTED for op_type in graph.types)
    if prices.matched:
        listener.note(f"{prices.matched} of {counted(nodes, 'compute node')} ran under their names")
    else:
        listener.warn("no node of the model ran under its name: its op types have the times of the profile")
    return prices


def cost_of(before: Answer, after: Answer, moved: Sequence[int], prices: Prices | None = None) -> Cost:
    """Return the cost of a list.

    :param before: without it
    :param moved: the nodes that it moves
    """
    casts = after.cast_counts.run - before.cast_counts.run
    size = _size(after, moved)
    return Cost(None if prices is None else round(prices.of(moved), 3), size.nodes, size.bytes, casts)


def moved_nodes(before: Answer, after: Answer) -> list[int]:
    """Return the indexes of the nodes that are low before and high after."""
    return [node for node in after.changed(before) if before.is_low(node) and not after.is_low(node)]


def left_low(answer: Answer) -> NodeBytes:
    """Return the size of the nodes that are low."""
    return _size(answer, low_nodes(answer))


def low_nodes(answer: Answer) -> Iterator[int]:
    """Yield the indexes of the nodes that are low."""
    return (node for node in range(len(answer)) if answer.is_low(node))


def _size(answer: Answer, nodes: Iterable[int]) -> NodeBytes:
    count = size = 0
    slots = answer.graph.slots
    for node in nodes:
        count += 1
        for slot in range(slots.outputs_of[node], slots.outputs_of[node + 1]):
            size += tensor_bytes(answer.outputs[slot], slots.outputs[slot].shape) or 0
    return NodeBytes(count, size)
