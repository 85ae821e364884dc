"""The cheapest set, from a minimal one: two ways, by what is known of the candidates.

Of op types any may cure, whatever others do, so that members are replaced by cheaper candidates (:func:`cheapen`).

A node that stays high takes others with it, so that several nodes cure one culprit: on a residual stream each addition
before it does. What such a check needs is that some nodes are high, which are not known. Every run says something of
them: all are among the nodes that a set which passed makes high, and a set that failed misses one. The cheapest set
that agrees with all runs is asked next; if no cheaper one agrees, the last that passed is the cheapest
(:func:`find_cheapest`).

That is an implicit hitting set: J. Davies, F. Bacchus, "Solving MAXSAT by Solving a Sequence of Simpler SAT Instances",
2011. If a check needs something else, the answer passes and is minimal nevertheless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .halving import halve, most_runs
from .question import Kept, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeAlias

    from ...graph.cost import Cost

    FindCheaper: TypeAlias = Callable[[Kept, int], Generator[Question, bool, Kept]]
    """Asks for cheaper sets than one that passes and fails without any one of its members, and returns the cheapest
    that was shown to be so, too; called with the number of candidates."""

_TRIED = 500
"""Sets whose cost is computed for one question; beyond them the cheapest so far is asked. Chosen: a cost is a judging,
of milliseconds, and a run of the check takes seconds."""


def find_cheapest(
    kept: Kept, count: int, *, rank: Callable[[Kept], tuple[Any, ...]], reach: Callable[[Kept], frozenset[int]]
) -> Generator[Question, bool, Kept]:
    """Ask for cheaper sets of nodes until none is left that could pass.

    :param rank: sorts sets, the cheapest first; no set comes before one of its parts
    :param reach: the nodes that a set makes high
    """
    proved = kept
    needed = reach(kept)
    alone = [reach(frozenset({number})) for number in range(count)]
    failed = [kept - {member} for member in kept]
    run = {*failed}  # a failure that was only concluded proves nothing
    for left in range(most_runs(count), -1, -1):
        found = _cheapest(kept, [needed - reach(missing) for missing in failed], alone, rank)
        unproved = [part for part in (kept - {member} for member in sorted(kept)) if part not in run]
        proved = proved if unproved else kept
        wanted = found or next(iter(unproved), None)
        if wanted is None or not left:
            break
        if (yield Question(wanted, exact=not found, likely=0.3 if found else 0.02, left=left, found=proved)):
            kept, needed = wanted, needed & reach(wanted)
        else:
            failed.append(wanted)
            run |= set() if found else {wanted}
    return proved


def _cheapest(
    kept: Kept,
    missed: Sequence[frozenset[int]],
    alone: Sequence[frozenset[int]],
    rank: Callable[[Kept], tuple[Any, ...]],
) -> Kept | None:
    """Return the cheapest set that comes before ``kept`` and has a node of each group of missed ones.

    :param alone: what each candidate makes high
    """
    found: Kept | None = None
    limit = rank(kept)
    tried = 0

    def extend(part: Kept, left: Sequence[frozenset[int]]) -> None:
        nonlocal found, limit, tried
        tried += 1
        if tried > _TRIED or (part and rank(part) >= limit):
            return
        if not left:
            found, limit = part, rank(part)
            return
        choices = [[number for number, nodes in enumerate(alone) if nodes & group] for group in left]
        for number in min(choices, key=len):
            extend(part | {number}, [group for group in left if not group & alone[number]])

    extend(frozenset(), missed)
    return found


def cheapen(kept: Kept, count: int, *, cost: Callable[[Kept], Cost]) -> Generator[Question, bool, Kept]:
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
