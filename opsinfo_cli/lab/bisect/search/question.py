"""What a search asks, and which questions it will probably ask next."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any, TypeAlias

Kept: TypeAlias = frozenset[int]
"""Numbers of the candidates that stay in high precision."""


class Question(NamedTuple):
    """Does the check pass if exactly these candidates are kept?

    :param exact: whether only a run may answer it, not a conclusion from other answers if the check is monotone
    :param own: whether only runs of this very set may answer it, not those of another one with the same dtypes
    :param likely: the probability that it passes, estimated by the search
    :param extra: how many more runs one verdict must lead by than for other questions
    :param left: maximum number of remaining questions, this one included, if the check is monotone
    :param found: a set that passes and was shown to be minimal, if the search looks for a cheaper one only
    """

    kept: Kept
    exact: bool = False
    own: bool = False
    likely: float = 0.5
    least: int = 1
    extra: int = 0
    left: int = 0
    found: Kept | None = None


def next_questions(
    start: Callable[[], Generator[Question, bool, Any]], known: Callable[[Question], bool | None], most: int
) -> Iterator[Question]:
    """Yield the probable next questions, each set once, the most probable first.

    A search is a function of the answers: it is run again with the answers known so far, and with both answers to what
    is not known, the more probable one first.

    :param start: creates the search again
    """
    order = count()
    waiting: list[tuple[float, int, dict[Kept, bool]]] = [(-1.0, next(order), {})]
    asked: set[Kept] = set()
    tried = 0
    while waiting and len(asked) < most and tried < 4 * most:
        chance, _, supposed = heappop(waiting)
        tried += 1
        question = _first_open(start(), known, supposed)
        if question is None:
            continue
        if question.kept not in asked:
            asked.add(question.kept)
            yield question
        for passed, likely in ((True, question.likely), (False, 1 - question.likely)):
            heappush(waiting, (chance * likely, next(order), {**supposed, question.kept: passed}))


def _first_open(
    search: Generator[Question, bool, Any], known: Callable[[Question], bool | None], supposed: dict[Kept, bool]
) -> Question | None:
    """Return the first question without an answer; None: the search ends without one."""
    try:
        question = next(search)
        while True:
            answer = known(question)
            if answer is None:
                answer = supposed.get(question.kept)
            if answer is None:
                return question
            question = search.send(answer)
    except StopIteration:
        return None
