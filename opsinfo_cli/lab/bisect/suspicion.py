"""The order in which candidates are suspected: the user's evidence first, then known risks, then their place."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from ...core.text.source import read_bytes
from ...errors import Damaged
from ..numbers.calls import calls_of, is_dump, op_types_of, spelled_as_types

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
_LARGEST, _NEAR = 65504.0, 1 / 16
"""The largest value of float16, and the share of it from which a call is suspected."""
_OVERFLOW = 2.0
"""The score of an overflow: twice that of a value at the limit."""


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


def read_evidence(path: str) -> list[str]:
    """Return op types, the most suspect first.

    :param path: the ``dump.json`` of msprobe, or JSON of `opsinfo simulate`
    :raises Damaged: if it is neither
    :raises Refused: if it cannot be read
    """
    try:
        document = json.loads(read_bytes(path))
        scores: dict[str, float] = {}
        if is_dump(document):
            for call in calls_of(document["data"], path):  # how near it comes to overflow in float16
                share = max(call.magnitudes) / _LARGEST
                if share >= _NEAR:
                    for name in (*op_types_of(call.name), *spelled_as_types(call.name)):
                        scores[name] = max(share if share <= 1 else _OVERFLOW, scores.get(name, 0.0))
        else:
            for entry in document["types"]:  # the error that each causes alone
                error = entry["error_alone"]
                scores[str(entry["type"])] = float(error) if isinstance(error, (int, float)) else math.inf
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        hint = "make it with `opsinfo simulate --format json`, or with msprobe and the task statistics"
        raise Damaged("neither JSON of `opsinfo simulate` nor a dump.json of msprobe", path=path, hint=hint) from None
    return sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))
