"""The order in which candidates are suspected: the user's evidence first, then known risks, then their place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..graph.cost import Cost

_RISKS = re.compile(
    r"Reduce|(?<!Resh)Sum|Mean|Prod|Pow|Exp(?!and)|Log(?!ical)|Square|[Ss]qrt|RealDiv|Div|Norm|BN|Softmax|Loss|CrossEntropy|Cum|AddN"
)
"""Reductions, powers, exponentials, logarithms, roots, divisions, normalisations, softmax, losses: their results leave
float16's range or lose digits first. Users keep these types in float32 most often."""

_RISK, _PLAIN = 4.0, 1.0
_EVIDENCE, _LEAST_EVIDENCE = 24.0, 6.0


def order_by_suspicion(
    names: Sequence[str], evidence: Sequence[str] = (), cost: Callable[[str], Cost] | None = None
) -> tuple[list[str], list[float]]:
    """Return candidates, the most probably needed first, and how strongly each is suspected, relative to the others.

    Of equal ones, what costs more is released first.

    :param names: in the order of the graph, so that neighbours stay together
    :param evidence: op types, the most suspect first
    """
    weights = {name: _RISK if is_risky(name) else _PLAIN for name in names}
    for rank, name in enumerate(dict.fromkeys(evidence), 1):
        if name in weights:
            weights[name] = max(_LEAST_EVIDENCE, _EVIDENCE / rank)
    order = sorted(names, key=cost) if cost else names
    order = sorted(order, key=lambda name: -weights[name])
    return order, [weights[name] for name in order]


def is_risky(name: str) -> bool:
    """Whether op types with this name are known to lose accuracy in low precision."""
    return _RISKS.search(name.title() if name.islower() else name) is not None
