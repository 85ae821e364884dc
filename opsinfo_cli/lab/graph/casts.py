"""The Casts of a judged graph: their edges, how many run, and the bytes they convert."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from .dtypes import BITS

if TYPE_CHECKING:
    from .graph import Producer


class Cast(NamedTuple):
    """One inserted Cast on one edge.

    :param producer: index of the node whose output is converted
    :param begin: the dtype of the output
    :param end: the dtype of the consumer's input
    :param constant: whether the output is a constant's, so that the compiler folds the Cast
    :param shape: the shape of the tensor; None if it is unknown
    """

    producer: int
    output: int
    consumer: int
    input: int
    begin: str
    end: str
    constant: bool
    shape: tuple[int, ...] | None

    @property
    def bytes(self) -> int | None:
        """The bytes that one run of it reads; None if unknown."""
        return tensor_bytes(self.begin, self.shape)


def tensor_bytes(dtype: str | None, shape: tuple[int, ...] | None) -> int | None:
    """Return the bytes of a tensor; None if its dtype or its shape is unknown."""
    bits = BITS.get(dtype or "")
    if bits is None or shape is None or min(shape, default=0) < 0:
        return None
    return (prod(shape) * bits + 7) // 8


class CastCounts(NamedTuple):
    """Counts of Casts.

    :param edges: edges that need a Cast
    :param run: Casts that run, equal ones of one output counted once
    :param folded: edges whose Cast is on a constant and costs nothing at run time
    :param bytes: the bytes that running Casts read in one run, as far as shapes are known
    :param unknown_sizes: Casts that run on tensors of unknown size
    """

    edges: int
    run: int
    folded: int
    bytes: int
    unknown_sizes: int


class Casts(NamedTuple):
    """The conversions on the edges.

    :param casts: one for each edge that needs one, in the order of consumers
    :param removed: indexes of the user's own conversions that were removed together with an inserted Cast
    :param rewired: (consumer, input) that bypass a removed conversion -> the output that feeds them instead
    """

    casts: list[Cast]
    removed: list[int]
    rewired: dict[tuple[int, int], Producer]

    @property
    def counts(self) -> CastCounts:
        running = {(cast.producer, cast.output, cast.begin, cast.end): cast for cast in self.casts if not cast.constant}
        sizes = [cast.bytes for cast in running.values()]
        known = [size for size in sizes if size is not None]
        folded = sum(cast.constant for cast in self.casts)
        return CastCounts(len(self.casts), len(running), folded, sum(known), len(sizes) - len(known))
