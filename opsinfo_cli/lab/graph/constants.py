"""Constants whose values overflow or become zero on an edge that becomes low.

A value overflows from half a step beyond the largest finite one on, and vanishes up to half the smallest subnormal:
IEEE 754 rounds to nearest, ties to even.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...errors import OpsinfoError
from .weights import WIDTHS, numpy, values_of

if TYPE_CHECKING:
    from .graph import Weights
    from .result import Answer

LIMITS = {"float16": (65520.0, 2.0**-25), "bfloat16": ((2.0 - 2.0**-8) * 2.0**127, 2.0**-134)}
"""By low dtype, the smallest absolute value that overflows, and the largest that becomes zero."""


@dataclass(frozen=True)
class ConstantFault:
    """One constant on one edge."""

    name: str
    """The name of the constant."""
    used_by: str
    """The node that reads it."""
    value: float
    """The first value that cannot be represented."""
    why: str
    """What happens to the values, and how many are affected."""


class ConstantCheck(NamedTuple):
    """The check of constants on edges that become low.

    :param unread: by file, why values could not be read
    """

    faults: list[ConstantFault]
    unread: dict[str, str]


class Extremes(NamedTuple):
    """The outcome of a constant's values: how many overflow or become zero, and the first of each."""

    values: int
    overflowing: int
    vanishing: int
    overflow: float | None
    vanish: float | None


def constant_faults(answer: Answer) -> ConstantCheck:
    """Return the constants whose values overflow or become zero, with the nodes that use them.

    Only constants on edges that become low are read.
    """
    nodes = answer.graph.nodes
    faults: list[ConstantFault] = []
    unread: dict[str, str] = {}
    for cast in answer.casts:
        producer, low = nodes[cast.producer], cast.end
        weights = producer.weights
        if not cast.constant or weights is None or low not in LIMITS or weights.path in unread:
            continue
        host_inputs = nodes[cast.consumer].attributes.get("host_inputs")  # the host computes others from these values
        if isinstance(host_inputs, tuple) and cast.input in host_inputs:
            continue
        try:
            found = extremes(weights, producer.outputs[cast.output].first_dtype or cast.begin, low)
        except OpsinfoError as error:
            unread[weights.path] = error.message
            continue
        if found is None:
            continue
        names = producer.name, nodes[cast.consumer].name
        if found.overflow is not None:
            why = f"{found.overflowing} of {found.values} values overflow {low}"
            faults.append(ConstantFault(*names, found.overflow, why))
        if found.vanish is not None:
            why = f"{found.vanishing} of {found.values} values become 0 in {low}"
            faults.append(ConstantFault(*names, found.vanish, why))
    return ConstantCheck(faults, unread)


def extremes(weights: Weights, dtype: str, low: str = "float16") -> Extremes | None:
    """Return the outcome of a constant's values in the dtype ``low``; None if their dtype is not floating.

    :raises Refused: if the file with the values cannot be read
    :raises Damaged: if it is too short
    :raises MissingPackage: if numpy is not installed
    """
    if dtype not in WIDTHS:
        return None
    np = numpy()
    bound, smallest = LIMITS[low]
    count, counts = 0, [0, 0]
    first: list[float | None] = [None, None]
    for values in values_of(weights, dtype):
        absolute = np.abs(values)
        count += int(values.size)
        marks = np.isfinite(absolute) & (absolute >= bound), (absolute <= smallest) & (absolute > 0)
        for at, marked in enumerate(marks):
            counts[at] += int(np.count_nonzero(marked))
            if first[at] is None and marked.any():
                first[at] = float(values[marked.argmax()])
    return Extremes(count, *counts, *first)
