"""The probable next questions of a search: runs for places that would be idle.

A search is a function of the answers. It is run again with the answers known so far, and with both answers to what is
not known, the more probable one first.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from typing import Any

    from .question import Kept, Question

    Known = Callable[[Question], "bool | None"]


def next_questions(start: Callable[[], Generator[Question, bool, Any]], known: Known, most: int) -> Iterator[Question]:
    """Yield the probable next questions, each set once, the most probable first.

    :param start: creates the search again
    :param most: maximum number of questions
    """
    order = count()
    waiting: list[tuple[float, int, dict[Kept, bool]]] = [(-1.0, next(order), {})]
    seen: set[Kept] = set()
    tried = 0
    while waiting and len(seen) < most and tried < 4 * most:
        chance, _, supposed = heappop(waiting)
        tried += 1
        question = _first_open(start(), known, supposed)
        if question is None:
            continue
        if question.kept not in seen:
            seen.add(question.kept)
            yield question
        for passed, likely in ((True, question.likely), (False, 1 - question.likely)):
            heappush(waiting, (chance * likely, next(order), {**supposed, question.kept: passed}))


def _first_open(asking: Generator[Question, bool, Any], known: Known, supposed: Mapping[Kept, bool]) -> Question | None:
    """Return the first question without an answer; None: the search ends without one."""
    try:
        question = next(asking)
        while True:
            answer = known(question)
            if answer is None:
                answer = supposed.get(question.kept)
            if answer is None:
                return question
            question = asking.send(answer)
    except StopIteration:
        return None
