"""Constants that overflow or become zero on an edge that becomes low."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import Refused
from .readers.constants import LIMITS, extremes, harmless, is_small

if TYPE_CHECKING:
    from typing import TypeAlias

    from .answer import Answer
    from .casts import Cast
    from .graph import Weights

    Suspect: TypeAlias = tuple[Cast, Weights, str]


_CLIPPED = frozenset({"float32", "float64"})
"""Dtypes of constants that ``--is_weight_clip`` clips (hicann/ge ffdcbc9f, compiler/graph/passes/feature/
constant_clip_pass.cc:114-144)."""


_TOGETHER = 256
"""Small constants that are looked at together."""


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

    Only constants on edges that become low are read, in slices, and small ones of one file together.
    """
    graph = answer.graph
    names = graph.columns.names
    found: list[ConstantFault] = []
    unread: dict[str, str] = {}
    for cast, weights, dtype in _suspects(answer):
        if weights.path in unread:
            continue
        try:
            seen = extremes(weights, dtype, cast.end)
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


def _suspects(answer: Answer) -> list[Suspect]:
    """The Casts on constants, without those on small constants that are harmless together with their neighbours."""
    tensors, outputs_of = answer.graph.columns.output_tensors, answer.graph.columns.outputs_of
    weights_of = answer.graph.weights
    groups: dict[tuple[str, str, str], list[Suspect]] = {}
    kept: list[Suspect] = []
    for cast in answer.casts:
        producer, low = cast.producer, cast.end
        weights = weights_of.get(producer)
        if not cast.constant or weights is None or low not in LIMITS:
            continue
        own = tensors[outputs_of[producer] + cast.output].first_dtype or cast.begin
        if is_small(weights):
            groups.setdefault((weights.path, own, low), []).append((cast, weights, own))
        else:
            kept.append((cast, weights, own))
    for (_, own, low), group in groups.items():
        for start in range(0, len(group), _TOGETHER):
            some = group[start : start + _TOGETHER]
            if not harmless([weights for _, weights, _ in some], own, low):
                kept += some
    return sorted(kept, key=lambda each: (each[0].consumer, each[0].input))
