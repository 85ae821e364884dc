"""A set of candidates that passes, and fails without any one of its members.

Both ends are asked, then halves; then come the proof of minimality, and the method for checks that are not monotone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, e, log, log2
from typing import TYPE_CHECKING, Literal, NamedTuple

from ....core.document import Count
from .halving import halve, most_runs
from .question import Kept, Question

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import TypeAlias

    from .cheapest_set import FindCheaper

Ended: TypeAlias = Literal["found", "nothing-to-do", "cannot-cure", "budget", "interrupted"]
END_RUNS = 2
"""Runs of each end: two that disagree show that the check is noisy."""


class SearchEnd(NamedTuple):
    """How a search ended.

    :param kept: the smallest set that is known to pass; None: no set is
    :param minimal: whether it was shown that the check fails without any single member
    :param monotone: False if answers contradicted each other
    """

    ended: Ended
    kept: Kept | None
    minimal: bool = False
    monotone: bool = True

    @property
    def stopped(self) -> bool:
        """Whether it would go on with ``--resume``."""
        return self.ended in ("budget", "interrupted")


def find_minimal_set(
    weights: Sequence[float], cheaper: FindCheaper | None = None, singles: Sequence[int] = (), ends: int = END_RUNS
) -> Generator[Question, bool, SearchEnd]:
    """Search for a set that passes and fails without any one of its members.

    :param weights: how strongly each candidate is suspected, in descending order
    :param cheaper: goes on from such a set to the cheapest
    :param singles: candidates that may be enough alone, in the order in which they are tried
    :param ends: runs of each end
    """
    count = len(weights)
    more = most_runs(max(1, count)) if cheaper else 0
    left = most_runs(max(1, count)) + count + more
    everything = Question(frozenset(range(count)), exact=True, likely=0.9, least=ends, left=left + 2 * ends)
    nothing = Question(frozenset(), exact=True, likely=0.1, least=ends, left=left + ends)
    kept, proved = None, True
    if singles:
        if (yield nothing):
            return SearchEnd("nothing-to-do", frozenset(), True)
        for single in singles:  # if one passes, everything would, too
            if (yield Question(frozenset({single}), exact=True, likely=0.5, left=left + ends)):
                kept = frozenset({single})
                break
    if kept is None:
        all_pass = yield everything
        if (yield nothing):
            return SearchEnd("nothing-to-do", frozenset(), True)
        if not all_pass:
            return SearchEnd("cannot-cure", None)
        kept, order = yield from halve(weights, more)
        kept, proved = yield from _prove(kept, order, more)
    monotone = proved
    while not proved:  # a set passes although one that contains it failed
        kept = yield from _count_down(kept)
        kept, proved = yield from _prove(kept, sorted(kept))
    if cheaper:
        kept = yield from cheaper(kept, count)
    return SearchEnd("found", kept, True, monotone)


def _prove(kept: Kept, order: Sequence[int], more: int = 0) -> Generator[Question, bool, tuple[Kept, bool]]:
    """Ask for each member whether the check fails without it.

    :param more: maximum number of questions that follow
    :returns: the set and True; or a smaller one that passes and False
    """
    for left, member in zip(range(len(order), 0, -1), reversed(order), strict=True):
        smaller = kept - {member}
        if (yield Question(smaller, exact=True, likely=0.02, left=left + more)):
            return smaller, False
    return kept, True


_FIRST = 0.1
"""The probability that a candidate is needed, before anything is known."""
_GROWTH = e / (e - 1)
"""The growth factor of the probability in each round."""


def _count_down(kept: Kept) -> Generator[Question, bool, Kept]:
    """Release what can be released from a set that passes; groups shrink to single candidates (CDD).

    The schedule of sizes is that of ProbDD if every candidate starts with the same probability.

    Source: M. Zhang et al., "Toward a Better Understanding of Probabilistic Delta Debugging", ICSE 2025, section IV.
    """
    chance = _FIRST
    while kept:
        size = max(1, round(-1 / log(1 - chance))) if chance < 0.5 else 1
        members = sorted(kept, reverse=True)
        for at in range(0, len(members), size):
            rest = kept.difference(members[at : at + size])
            if rest != kept and (yield Question(rest)):
                kept = rest
        if size == 1:
            break
        chance *= _GROWTH
    return kept


@dataclass(frozen=True)
class Price:
    """With --dry-run: the maximum number of runs, if the check is monotone."""

    one: Count
    """If one op type is needed."""
    three: Count
    """If three op types are needed."""
    most: Count
    """In the worst case."""

    @property
    def between(self) -> str:
        """The least and the most, as text: ``9 to 14``."""
        return between(str(self.one), str(self.most))


def between(least: str, most: str) -> str:
    return most if least == most else f"{least} to {most}"


def price(candidates: int, runs: int, has_cost: bool = False, by_node: bool = False) -> Price:
    """Return the maximum runs of a search among so many candidates.

    :param runs: runs of the check for each set
    :param has_cost: whether cheaper sets are searched for
    :param by_node: whether it goes on among nodes: the base list was run before
    """
    ends = runs if by_node else 2 * max(END_RUNS, runs)
    deep = ceil(log2(max(2, candidates)))
    more = most_runs(max(1, candidates)) if has_cost else 0
    most = ends + (most_runs(max(1, candidates)) + candidates + more) * runs
    spare = 0 if by_node else 2
    one, three = (min(most, ends + (culprits * (deep + 2) + spare) * runs) for culprits in (1, 3))
    return Price(one, three, most)
