"""The result of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .search import both_ends, smallest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from .question import Kept, Question
    from .session import SearchSession

ENDED = ("found", "nothing-to-do", "cannot-cure", "budget", "interrupted")


class SearchEnd(NamedTuple):
    """How a search ended.

    :param ended: one of :data:`ENDED`
    :param kept: the smallest set that is known to pass; None: no set is
    :param minimal: whether it was shown that the check fails without any single member
    :param monotone: False if answers contradicted each other
    """

    ended: str
    kept: Kept | None
    minimal: bool = False
    monotone: bool = True


def protocol(weights: Sequence[float]) -> Generator[Question, bool, SearchEnd]:
    """The whole search: both ends, then the smallest set."""
    ends = yield from both_ends(len(weights))
    if ends.none:
        return SearchEnd("nothing-to-do", frozenset(), True)
    if not ends.all:
        return SearchEnd("cannot-cure", None)
    kept, minimal, monotone = yield from smallest(weights)
    return SearchEnd("found", kept, minimal, monotone)


def searched(session: SearchSession, weights: Sequence[float]) -> SearchEnd:
    """Search to the end; the final list is run itself, and more often if verdicts may be wrong.

    If the final list is refuted, the search continues another way from the run that was wrong.

    :raises OutOfBudget: if runs are needed and none is allowed
    :raises Unusable: if the check gives no verdict
    """
    while True:
        found = session.run(lambda: protocol(weights))
        if not found.kept or session.confirm(found.kept):
            return found


def so_far(session: SearchSession, ended: str) -> SearchEnd:
    """Return the result of a search that was stopped."""
    return SearchEnd(ended, session.knowledge.best(), False, session.knowledge.monotone)


def proof(session: SearchSession, kept: Kept, member: int) -> int | None:
    """Return the number of the trial that failed without a member; None: there was none."""
    key = session.knowledge.key_of(kept - {member})
    tally = session.knowledge.tallies.get(key)
    return None if tally is None else tally.last(passed=False)
