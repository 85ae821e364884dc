"""The cheapest set of nodes, from a minimal one.

A node that stays high takes others with it, so that several nodes cure one culprit: on a residual stream each addition
before it does. What such a check needs is that some nodes are high, which are not known. Every run says something of
them: all are among the nodes that a set which passed makes high, and a set that failed misses one. The cheapest set
that agrees with all runs is asked next; if no cheaper one agrees, the last that passed is the cheapest.

That is an implicit hitting set: J. Davies, F. Bacchus, "Solving MAXSAT by Solving a Sequence of Simpler SAT Instances",
2011. If a check needs something else, the answer passes and is minimal nevertheless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .question import Kept, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeAlias

    Reach: TypeAlias = Callable[[Kept], frozenset[int]]
    """The nodes that a set makes high."""
    Rank: TypeAlias = Callable[[Kept], tuple[Any, ...]]
    """Sorts sets, the cheapest first; no set comes before one of its parts."""

_TRIED = 500
"""Sets whose cost is computed for one question; beyond them the cheapest so far is asked. Chosen: a cost is a judging,
of milliseconds, and a run of the check takes seconds."""


def find_cheaper(kept: Kept, count: int, rank: Rank, reach: Reach, most: int) -> Generator[Question, bool, Kept]:
    """Ask for cheaper sets until none is left that could pass.

    :param kept: a set that passes, and was shown to fail without any one of its members
    :returns: the cheapest that passed and was shown to fail without any one of its members
    """
    proved = kept
    needed = reach(kept)
    alone = [reach(frozenset({number})) for number in range(count)]
    failed = [kept - {member} for member in kept]
    run = {*failed}  # a failure that was only concluded proves nothing
    for left in range(most, -1, -1):
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


def _cheapest(kept: Kept, missed: Sequence[frozenset[int]], alone: Sequence[frozenset[int]], rank: Rank) -> Kept | None:
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
