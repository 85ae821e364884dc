"""The bytes of a graph's tensors, low and high, weights apart.

A tensor is an output that is read, at the size of its shape; layouts that pad, buffers that a compiler reuses and Casts
are not considered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.cann.dtype_names import LOW
from ...core.document import Count
from .casts import tensor_bytes
from .graph import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .casts import Cast
    from .graph import ModelGraph, Producer


@dataclass(frozen=True)
class Memory:
    """Sizes in bytes of the tensors of the whole graph that a node reads, without layouts that pad and without
    Casts.
    """

    low: Count
    """Tensors in a low dtype."""
    high: Count
    """Other tensors."""
    weights: Count
    """Constants, in the dtypes in which they are read."""
    unknown: Count
    """Number of tensors whose size is unknown."""


def memory_of(graph: ModelGraph, casts: Iterable[Cast], dtype_of: Callable[[Producer], str | None]) -> Memory:
    """Return the sizes of all tensors that a node reads."""
    converted = {(cast.consumer, cast.input): cast.end for cast in casts if cast.constant}
    read: set[tuple[Producer, str | None]] = set()
    for node in graph:
        for number, source in enumerate(node.sources):
            if source is not None:
                read.add((source, converted.get((node.index, number)) or dtype_of(source)))
    low = high = weights = unknown = 0
    for source, dtype in read:
        producer = graph[source.node]
        size = tensor_bytes(dtype, producer.outputs[source.output].shape)
        if size is None:
            unknown += 1
        elif producer.type in CONSTANTS:
            weights += size
        elif dtype in LOW:
            low += size
        else:
            high += size
    return Memory(low, high, weights, unknown)
