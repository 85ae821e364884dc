"""What a search ends with."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .search import both_ends, smallest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from .question import Kept, Question
    from .session import Session

ENDED = ("found", "nothing-to-do", "cannot-cure", "budget", "interrupted")


class Found(NamedTuple):
    """How a search ended.

    :param ended: one of :data:`ENDED`
    :param kept: the smallest set that is known to pass; None: none is
    :param minimal: whether it was shown that the check fails without any one of its members
    :param monotone: False if answers contradicted each other
    """

    ended: str
    kept: Kept | None
    minimal: bool = False
    monotone: bool = True


def protocol(weights: Sequence[float]) -> Generator[Question, bool, Found]:
    """The whole search: both ends, then the smallest set."""
    ends = yield from both_ends(len(weights))
    if ends.none:
        return Found("nothing-to-do", frozenset(), True)
    if not ends.all:
        return Found("cannot-cure", None)
    kept, minimal, monotone = yield from smallest(weights)
    return Found("found", kept, minimal, monotone)


def so_far(session: Session, ended: str) -> Found:
    """What is known of a search that did not end by itself."""
    return Found(ended, session.knowledge.best(), False, session.knowledge.monotone)


def proof(session: Session, kept: Kept, member: int) -> int | None:
    """The number of the trial that failed without a member; None: there was none."""
    key = session.knowledge.key_of(kept - {member})
    tally = session.knowledge.tallies.get(key)
    return None if tally is None else tally.last(passed=False)
