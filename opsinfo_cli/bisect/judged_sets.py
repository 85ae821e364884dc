"""What sets of op types do to a model's graph: the dtypes that they lead to, the nodes and Casts that they move."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from ..graph.judge.again import JudgedAgain, fits
from ..model.policy import ADD_BLACK, ADD_WHITE, Mark
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..graph.answer import Answer
    from ..graph.judging import Ready

    Marks = Mapping[str, frozenset[Mark]]


def moved(base: Marks, types: Iterable[str], white: bool) -> dict[str, frozenset[Mark]]:
    """The marks of a base list with op types moved to the black list, or to the white one."""
    mark = frozenset({ADD_WHITE if white else ADD_BLACK})
    return {**base, **dict.fromkeys(types, mark)}


LARGE = 5000
"""Nodes of a graph above which only what a set changes is judged anew."""


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
        """The graph judged with these types moved."""
        return self.ready.judge(self.mode, moved(self.base, types, self.white))

    def digest(self, types: frozenset[str]) -> str:
        """SHA-256 of the dtypes of every input and output."""
        found = self._digests.get(types)
        if found is None:
            found = self._digests[types] = self._digest(types)
        return found

    def _digest(self, types: frozenset[str]) -> str:
        """Of a large graph only what the types change is judged."""
        if self._again is None:
            return self.digest_of(self.answer(types))
        changed = self._again.changed(moved(self.base, types, self.white))
        if changed is None:
            return self.digest_of(self.answer(types))
        lines = [f"{node} {choice.inputs}{choice.outputs}\n" for node, choice in sorted(changed.items())]
        return sha256("".join([self._base_digest, *lines]).encode("utf-8")).hexdigest()

    @cached_property
    def _again(self) -> JudgedAgain | None:
        """None: the graph is small, or must be judged as a whole."""
        prepared = self.ready.prepared
        is_large = len(self.graph) > LARGE and "Cast" not in self.base
        return JudgedAgain(prepared, self.mode, self.base) if is_large and fits(prepared) else None

    @cached_property
    def _base_digest(self) -> str:
        return self.digest_of(self.answer(frozenset()))

    def digest_of(self, answer: Answer) -> str:
        """As :meth:`digest`, of an answer. Equal nodes share a choice, whose words are made once."""
        words, choices = self._words, answer.judged.choices
        for choice in choices:
            if id(choice) not in words:
                self._choices.append(choice)  # its id stays its own
                words[id(choice)] = f"{choice.inputs}{choice.outputs}\n"
        return sha256("".join([words[id(choice)] for choice in choices]).encode("utf-8")).hexdigest()

    def changed_nodes(self, a: frozenset[str], b: frozenset[str]) -> list[str]:
        """Names of the nodes whose dtypes differ between two sets."""
        names = self.graph.columns.names
        return [names[node] for node in self.answer(a).changed(self.answer(b))]

    def casts(self, types: frozenset[str]) -> int:
        """Casts that run."""
        return self.answer(types).counts.casts.run

    def refused(self, types: frozenset[str], of: str) -> Iterator[int]:
        """Nodes of an op type for which the chip has no kernel."""
        answer = self.answer(types)
        for index, op_type in enumerate(self.graph.columns.types):
            if op_type == of and answer[index].reason.code == "refused-dtype":
                yield index
