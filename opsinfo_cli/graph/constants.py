"""Constants that overflow or vanish on an edge that becomes low."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .readers.constants import LIMITS, extremes

if TYPE_CHECKING:
    from .answer import Answer


class ConstantFault(NamedTuple):
    """A constant with a value that its low dtype cannot hold.

    :param value: the first such value
    """

    name: str
    used_by: str
    value: float
    why: str


def constant_faults(answer: Answer) -> list[ConstantFault]:
    """The constants whose values overflow or vanish, with the nodes that use them.

    Only constants on edges that become low are read, in slices.

    :raises Refused: if the file with the values is missing or cannot be read
    """
    graph = answer.graph
    names, columns = graph.columns.names, graph.columns
    found: list[ConstantFault] = []
    for cast in answer.casts:
        weights = graph.weights.get(cast.producer)
        if not cast.constant or weights is None or cast.end not in LIMITS:
            continue
        dtype = columns.output_tensors[columns.outputs_of[cast.producer] + cast.output].first_dtype
        seen = extremes(weights, dtype or cast.begin, cast.end)
        if seen is None or seen.harmless:
            continue
        if seen.overflow is not None:
            why = f"{seen.overflowing} of {seen.values} values overflow {cast.end}"
            found.append(ConstantFault(names[cast.producer], names[cast.consumer], seen.overflow, why))
        if seen.vanish is not None:
            why = f"{seen.vanishing} of {seen.values} values become 0 in {cast.end}"
            found.append(ConstantFault(names[cast.producer], names[cast.consumer], seen.vanish, why))
    return found
