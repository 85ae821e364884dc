"""The order in which candidates are suspected: the user's evidence first, then known risks, then their place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_RISKS = re.compile(
    r"Reduce|(?<!Resh)Sum|Mean|Prod|Pow|Exp(?!and)|Log(?!ical)|Square|[Ss]qrt|RealDiv|Div|Norm|BN|Softmax|Loss|CrossEntropy|Cum|AddN"
)
"""Reductions, powers, exponentials, logarithms, roots, divisions, normalisations, softmax, losses: their results leave
float16's range or lose digits first. Users keep these types in float32 most often."""

_RISK, _PLAIN = 4.0, 1.0
_EVIDENCE, _LEAST_EVIDENCE = 24.0, 6.0


class Ordered(NamedTuple):
    """:param names: the most probably needed first
    :param weights: how strongly each is suspected, relative to the others
    """

    names: list[str]
    weights: list[float]


def ordered(names: Sequence[str], evidence: Sequence[str] = ()) -> Ordered:
    """Return candidates in the order of suspicion.

    :param names: in the order of the graph, so that neighbours stay together
    :param evidence: op types, the most suspect first
    """
    rank = {name: at for at, name in enumerate(dict.fromkeys(evidence))}
    weights = {name: _weight(name, rank) for name in names}
    position = {name: at for at, name in enumerate(names)}
    found = sorted(names, key=lambda name: (-weights[name], position[name]))
    return Ordered(found, [weights[name] for name in found])


def is_risky(name: str) -> bool:
    """Return whether op types with this name are known to lose accuracy in low precision."""
    return _RISKS.search(name) is not None


def _weight(name: str, rank: dict[str, int]) -> float:
    if name in rank:
        return max(_LEAST_EVIDENCE, _EVIDENCE / (1 + rank[name]))
    return _RISK if is_risky(name) else _PLAIN
