"""The effect of sets of op types on a model's graph: the resulting dtypes, and the nodes and Casts that change."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from ..model.policy import ADD_BLACK, ADD_WHITE, Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..graph.answer import Answer
    from ..graph.judge.facts import DtypeChoice
    from ..graph.judging import Ready

    Marks = Mapping[str, frozenset[Mark]]


def moved(base: Marks, types: Iterable[str], white: bool) -> dict[str, frozenset[Mark]]:
    """Return the marks of a base list with op types moved to the black or the white list."""
    mark = frozenset({ADD_WHITE if white else ADD_BLACK})
    return {**base, **dict.fromkeys(types, mark)}


LARGE = 5000
"""In graphs with more nodes, only the changes of a set are digested."""


class JudgedSets:
    """Judges a graph with op types moved.

    :param ready: the graph with its target
    :param mode: a mixed mode
    :param base: the marks that every list has
    :param white: whether types are moved to the white list, instead of the black one
    """

    def __init__(self, ready: Ready, mode: str, base: Marks, white: bool = False) -> None:
        self.ready = ready
        self.mode = mode
        self.base = base
        self.white = white
        self.graph = ready.prepared.graph
        self._digests: dict[frozenset[str], str] = {}
        self._words: dict[int, str] = {}
        self._choices: list[object] = []

    def answer(self, types: frozenset[str]) -> Answer:
        """Return the graph judged with these types moved."""
        return self._base_answer if not types else self._judged(types)

    @cached_property
    def _base_answer(self) -> Answer:
        return self._judged(frozenset())

    def _judged(self, types: frozenset[str]) -> Answer:
        return self.ready.judge(self.mode, moved(self.base, types, self.white))

    def digest(self, types: frozenset[str]) -> str:
        """SHA-256 of the dtypes of every input and output."""
        found = self._digests.get(types)
        if found is None:
            found = self._digests[types] = self._digest(types)
        return found

    def _digest(self, types: frozenset[str]) -> str:
        """Of a large graph, digest the changes to the base list."""
        if len(self.graph) <= LARGE:
            return self.digest_of(self.answer(types))
        answer = self.answer(types)
        changed = {node: answer.judged.choices[node] for node in answer.changed(self.answer(frozenset()))}
        lines = [f"{node} {self._word(changed[node])}" for node in sorted(changed)]
        return sha256("".join([self._base_digest, *lines]).encode("utf-8")).hexdigest()

    @cached_property
    def _base_digest(self) -> str:
        return self.digest_of(self.answer(frozenset()))

    def digest_of(self, answer: Answer) -> str:
        """As :meth:`digest`, for an answer. Equal nodes share a choice, which is encoded once."""
        words = [self._word(choice) for choice in answer.judged.choices]
        return sha256("".join(words).encode("utf-8")).hexdigest()

    def _word(self, choice: DtypeChoice) -> str:
        found = self._words.get(id(choice))
        if found is None:
            self._choices.append(choice)  # its id stays its own
            found = self._words[id(choice)] = f"{choice.inputs}{choice.outputs}\n"
        return found

    def changed_nodes(self, a: frozenset[str], b: frozenset[str]) -> list[str]:
        """Return the names of the nodes whose dtypes differ between two sets."""
        names = self.graph.names
        return [names[node] for node in self.answer(a).changed(self.answer(b))]

    def casts(self, types: frozenset[str]) -> int:
        """Return the number of Casts that run."""
        return self.answer(types).counts.casts.run

    def refused(self, types: frozenset[str], of: str) -> Iterator[int]:
        """Yield the nodes of an op type for which the chip has no kernel."""
        answer = self.answer(types)
        for index, op_type in enumerate(self.graph.types):
            if op_type == of and answer[index].code == "refused-dtype":
                yield index
