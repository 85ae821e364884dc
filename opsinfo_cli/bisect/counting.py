"""Counter-based delta debugging (CDD), for a check that is not monotone.

Candidates are released in groups; a group whose release fails counts against its members, and the more often that has
happened, the smaller the groups. The schedule of sizes is that of ProbDD if every candidate starts with the same
probability.

Source: M. Zhang et al., "Toward a Better Understanding of Probabilistic Delta Debugging", ICSE 2025, section IV.
"""

from __future__ import annotations

from math import e, log
from typing import TYPE_CHECKING

from .question import Question

if TYPE_CHECKING:
    from collections.abc import Generator

    from .question import Kept

_FIRST = 0.1
"""The probability that a candidate is needed, before anything is known."""
_GROWTH = e / (e - 1)
"""The growth factor of the probability in each round."""


def counted(kept: Kept) -> Generator[Question, bool, Kept]:
    """Release what can be released from a set that passes; groups shrink to single candidates."""
    chance = _FIRST
    while kept:
        size = _size(chance)
        members = sorted(kept, reverse=True)
        for at in range(0, len(members), size):
            rest = kept.difference(members[at : at + size])
            if rest != kept and (yield Question(rest)):
                kept = rest
        if size == 1:
            break
        chance *= _GROWTH
    return kept


def _size(chance: float) -> int:
    """Return the size of a group whose release is expected to help most."""
    return max(1, round(-1 / log(1 - chance))) if chance < 0.5 else 1
