"""The cost of a list: what it moves to high precision, and what it leaves low."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..graph.casts import tensor_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..graph.answer import Answer


class Cost(NamedTuple):
    """What a list moves to high precision; costs are compared in the order of the fields.

    :param nodes: nodes that are low without the list and high with it
    :param bytes: of their outputs in high precision, as far as shapes are known
    """

    nodes: int
    bytes: int


NOTHING = Cost(0, 0)


def cost_of(before: Answer, after: Answer) -> Cost:
    """Return the cost of a list.

    :param before: without it
    """
    moved = [node for node in after.changed(before) if before.is_low(node) and not after.is_low(node)]
    return _size(after, moved)


def left_low(answer: Answer) -> Cost:
    """Return the nodes that are low, with the bytes of their outputs."""
    return _size(answer, low_nodes(answer))


def low_nodes(answer: Answer) -> Iterator[int]:
    """Yield the indexes of the nodes that are low."""
    return (node for node in range(len(answer)) if answer.is_low(node))


def _size(answer: Answer, nodes: Iterable[int]) -> Cost:
    count = size = 0
    slots = answer.graph.slots
    for node in nodes:
        count += 1
        for slot in range(slots.outputs_of[node], slots.outputs_of[node + 1]):
            size += tensor_bytes(answer.outputs[slot], slots.outputs[slot].shape) or 0
    return Cost(count, size)
