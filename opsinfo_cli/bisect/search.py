"""The search: both ends, halving, the proof of minimality, and the method for checks that are not monotone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .counting import counted
from .halving import halved, most_runs
from .question import Minimum, Question

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from .question import Asking, Kept


class Ends(NamedTuple):
    """The verdicts if every candidate is kept, and if none is."""

    all: bool
    none: bool


def both_ends(count: int) -> Generator[Question, bool, Ends]:
    """Ask both ends, each twice."""
    left = most_runs(max(1, count)) + count
    everything = yield Question(frozenset(range(count)), exact=True, likely=0.9, least=2, left=left + 4)
    nothing = yield Question(frozenset(), exact=True, likely=0.1, least=2, left=left + 2)
    return Ends(everything, nothing)


def smallest(weights: Sequence[float]) -> Asking:
    """The smallest set that passes and fails without any one of its members.

    :param weights: one for each candidate, in descending order
    """
    result = yield from halved(weights)
    kept, proved = yield from _proved(result.kept, result.found)
    monotone = proved
    while not proved:  # a set passes although one that contains it failed
        kept = yield from counted(kept)
        kept, proved = yield from _proved(kept, sorted(kept))
    return Minimum(kept, True, monotone)


def _proved(kept: Kept, found: Sequence[int]) -> Generator[Question, bool, tuple[Kept, bool]]:
    """Ask for each member whether the check fails without it.

    :returns: the set and True; or a smaller one that passes and False
    """
    for left, member in zip(range(len(found), 0, -1), reversed(found), strict=True):
        smaller = kept - {member}
        if (yield Question(smaller, exact=True, likely=0.02, left=left)):
            return smaller, False
    return kept, True
