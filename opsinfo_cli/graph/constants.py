"""Constants that overflow or become zero on an edge that becomes low."""

from __future__ import annotations

from ..errors import Refused
from ..typed import TYPE_CHECKING, NamedTuple
from .readers.constants import LIMITS, extremes

if TYPE_CHECKING:
    from .answer import Answer


_CLIPPED = frozenset({"float32", "float64"})
"""Dtypes of constants that ``--is_weight_clip`` clips (hicann/ge ffdcbc9f, compiler/graph/passes/feature/
constant_clip_pass.cc:114-144)."""


class ConstantFault(NamedTuple):
    """A constant with a value that its low dtype cannot represent.

    :param value: the first such value
    """

    name: str
    used_by: str
    value: float
    why: str


class ConstantCheck(NamedTuple):
    """The check of constants on edges that become low.

    :param unread: by file, why values could not be read
    """

    faults: list[ConstantFault]
    unread: dict[str, str]


def constant_faults(answer: Answer) -> ConstantCheck:
    """Return the constants whose values overflow or become zero, with the nodes that use them.

    Only constants on edges that become low are read, in slices.
    """
    graph = answer.graph
    names, columns = graph.columns.names, graph.columns
    found: list[ConstantFault] = []
    unread: dict[str, str] = {}
    for cast in answer.casts:
        weights = graph.weights.get(cast.producer)
        if not cast.constant or weights is None or cast.end not in LIMITS or weights.path in unread:
            continue
        dtype = columns.output_tensors[columns.outputs_of[cast.producer] + cast.output].first_dtype
        try:
            seen = extremes(weights, dtype or cast.begin, cast.end)
        except Refused as error:
            unread[weights.path] = error.message
            continue
        if seen is None or seen.harmless:
            continue
        if seen.overflow is not None:
            is_clipped = answer.considered.clips and cast.begin in _CLIPPED
            becomes = "are clipped to the range of" if is_clipped else "overflow"
            why = f"{seen.overflowing} of {seen.values} values {becomes} {cast.end}"
            found.append(ConstantFault(names[cast.producer], names[cast.consumer], seen.overflow, why))
        if seen.vanish is not None:
            why = f"{seen.vanishing} of {seen.values} values become 0 in {cast.end}"
            found.append(ConstantFault(names[cast.producer], names[cast.consumer], seen.vanish, why))
    return ConstantCheck(found, unread)
