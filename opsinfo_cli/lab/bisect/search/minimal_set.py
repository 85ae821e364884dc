"""A set of candidates that passes, and fails without any one of its members.

Both ends are asked, then halves; then come the proof of minimality, and the method for checks that are not monotone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, e, log, log2
from typing import TYPE_CHECKING, Literal, NamedTuple

from ....core.document import Count
from .cheapest_set import find_cheaper
from .halving import halve, most_runs
from .question import Kept, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeAlias

    from ...graph.cost import Cost
    from .cheapest_set import Rank, Reach

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
    weights: Sequence[float],
    cost: Callable[[Kept], Cost] | None = None,
    singles: Sequence[int] = (),
    effect: tuple[Rank, Reach] | None = None,
) -> Generator[Question, bool, SearchEnd]:
    """Search for a set that passes and fails without any one of its members.

    :param weights: how strongly each candidate is suspected, in descending order
    :param cost: of a set; of the sets that are found the cheapest is taken
    :param singles: candidates that may be enough alone, in the order in which they are tried
    :param effect: of sets of nodes, instead of their cost: the cheapest set is searched for
    """
    count = len(weights)
    ends = END_RUNS if effect is None else 1  # the search among op types has shown whether the check is noisy
    more = 0 if cost is None and effect is None else most_runs(max(1, count))
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
    if cost is not None:
        kept = yield from _cheapen(kept, count, cost)
    if effect is not None:
        kept = yield from find_cheaper(kept, count, *effect, most_runs(count))
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


def _cheapen(kept: Kept, count: int, cost: Callable[[Kept], Cost]) -> Generator[Question, bool, Kept]:
    """Replace members by cheaper candidates, the most expensive one first, as long as the bound of runs allows it."""
    alone = [cost(frozenset({number})) for number in range(count)]
    best = [kept]
    search = _replace_members(best, alone, cost)
    asked: set[Kept] = set()
    try:
        question = next(search)
        while len(asked | {question.kept}) <= most_runs(count):
            asked.add(question.kept)
            left = most_runs(count) - len(asked) + 1
            question = search.send((yield question._replace(left=left, found=best[0])))
    except StopIteration:
        pass
    return best[0]


def _replace_members(
    best: list[Kept], alone: Sequence[Cost], cost: Callable[[Kept], Cost]
) -> Generator[Question, bool, None]:
    """:param best: its item is replaced whenever a cheaper set was shown to pass and to be minimal"""
    tried: set[int] = set()
    while left := best[0] - tried:
        member = max(sorted(left), key=alone.__getitem__)
        tried.add(member)
        rest = best[0] - {member}
        pool = [number for number, amount in enumerate(alone) if number not in best[0] and amount < alone[member]]
        pool.sort(key=alone.__getitem__)
        if not pool or not (yield Question(rest.union(pool), likely=0.1)):
            continue
        search = halve([1.0] * len(pool))
        try:
            question = next(search)
            while True:
                kept = rest.union(pool[at] for at in question.kept)
                question = search.send((yield question._replace(kept=kept)))
        except StopIteration as stop:
            found = rest.union(pool[at] for at in stop.value[0])
        found = yield from _release_spare(found, alone)
        if cost(found) < cost(best[0]):
            best[0] = found


def _release_spare(kept: Kept, alone: Sequence[Cost]) -> Generator[Question, bool, Kept]:
    """Release single members, the most expensive first, until the check fails without any one of them."""
    before: Kept | None = None
    while kept != before:
        before = kept
        for member in sorted(kept, key=alone.__getitem__, reverse=True):
            if (yield Question(kept - {member}, exact=True, likely=0.02)):
                kept = kept - {member}
    return kept


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
