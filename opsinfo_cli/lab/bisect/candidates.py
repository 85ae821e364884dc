"""What lists do to a model, which of its op types can be candidates of a search, and in which order they are suspected:
the user's evidence or a simulation first, then known risks; of equal ones what costs less, or comes first in the model.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.marks import ADD_BLACK, ADD_WHITE, Mark
from ...core.cann.option_files import KeepDtype
from ..graph.cost import Cost, Prices, cost_of, moved_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..graph.prepare import PreparedModel
    from ..graph.result import Answer

    Marks = Mapping[str, frozenset[Mark]]


def move_types(base: Marks, types: Iterable[str], white: bool) -> dict[str, frozenset[Mark]]:
    """Return the marks of a base list with op types moved to the black or the white list."""
    return {**base, **dict.fromkeys(types, frozenset({ADD_WHITE if white else ADD_BLACK}))}


class ListEffect(NamedTuple):
    """What a list does to a model.

    :param digest: SHA-256 of the dtypes of every input and output
    :param moved: indexes of the nodes that it moves from low to high
    """

    digest: str
    moved: frozenset[int]
    cost: Cost


class SetJudge:
    """Judges a graph with op types moved, or with nodes that keep their dtype.

    :param mode: a mixed mode
    :param base: the marks that every list has
    :param white: whether types are moved to the white list, instead of the black one
    """

    def __init__(
        self, prepared: PreparedModel, mode: str, base: Marks, white: bool = False, prices: Prices | None = None
    ) -> None:
        self.prepared = prepared
        self.mode = mode
        self.base = base
        self.white = white
        self._prices = prices
        self.base_answer = prepared.judge(mode, base)
        """The answer of the base list."""
        self.types: dict[str, list[int]] = {}
        """The nodes of each op type, in the order of the graph."""
        for node in self.base_answer.graph:
            self.types.setdefault(node.type, []).append(node.index)
        self._effects: dict[tuple[bool, frozenset[str]], ListEffect] = {}

    def answer(self, types: frozenset[str]) -> Answer:
        """Return the graph judged with these types moved."""
        return self.prepared.judge(self.mode, move_types(self.base, types, self.white)) if types else self.base_answer

    def keeping(self, nodes: Iterable[str]) -> PreparedModel:
        return self.prepared.with_files(KeepDtype(sorted(nodes)))

    def effect(self, names: frozenset[str], by_node: bool = False) -> ListEffect:
        """Return what moved types do, or nodes that keep their dtype with the base list."""
        if (by_node, names) not in self._effects:
            is_kept = by_node and bool(names)
            answer = self.keeping(names).judge(self.mode, self.base) if is_kept else self.answer(names)
            moved = moved_nodes(self.base_answer, answer)
            cost = cost_of(self.base_answer, answer, moved, self._prices)
            self._effects[by_node, names] = ListEffect(_digest(answer), frozenset(moved), cost)
        return self._effects[by_node, names]

    def judged_as(self, names: Sequence[str]) -> str:
        """SHA-256 of what the model and all options of judging lead to: the nodes, and both ends of a search.

        :param names: the op types that the largest list moves
        """
        modes, soc = self.base_answer.modes, self.prepared.graph_judge.kernels.soc
        nodes = [(node.name, node.type, node.sources) for node in self.base_answer.graph]
        ends = [self.effect(frozenset()).digest, self.effect(frozenset(names)).digest]
        facts = f"{soc}{nodes}{ends}{modes.types}{modes.nodes}{modes.has_hf32}"
        return sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()

    def moved(self, types: frozenset[str]) -> dict[str, int]:
        """Return the nodes that op types move from low to high, by name, with their indexes; the first of a name."""
        moved: dict[str, int] = {}
        for node in sorted(self.effect(types).moved):
            moved.setdefault(self.base_answer[node].name, node)
        return moved

    def refuses(self, name: str) -> bool:
        """Whether the chip has no kernel for a node of a moved type that it has with the base list."""
        return bool(
            _refusals(self.answer(frozenset({name})), self.types[name]) - _refusals(self.base_answer, self.types[name])
        )


def _digest(answer: Answer) -> str:
    return sha256(f"{answer.inputs}{answer.outputs}".encode()).hexdigest()


def _refusals(answer: Answer, nodes: Iterable[int]) -> set[int]:
    return {node for node in nodes if answer[node].code == "refused-dtype"}


def prune(sets: SetJudge) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the op types of a model that a list can move, in the order of the graph, each with those that move exactly
    the same nodes; and the others with the reason.
    """
    names: list[str] = []
    dropped: dict[str, str] = {}
    for name, nodes in sets.types.items():
        judged = [node for node in map(sets.base_answer.__getitem__, nodes) if node.judged]
        if any(node.low is not sets.white for node in judged):
            names.append(name)
        elif judged:
            dropped[name] = _idle(sets)
    for name in filter(sets.refuses, names):
        dropped[name] = f"the chip has no {'low-precision' if sets.white else 'float32'} kernel for a node of it"
    names = [name for name in names if name not in dropped]
    every = frozenset(names)
    nothing = sets.effect(frozenset()).digest, sets.effect(every).digest
    effects: dict[tuple[str, str], list[str]] = {}
    for name in names:
        effect = sets.effect(frozenset({name})).digest, sets.effect(every - {name}).digest
        if effect == nothing:
            dropped[name] = "it changes no dtype"
        else:
            effects.setdefault(effect, []).append(name)
    candidates: dict[str, tuple[str, ...]] = {}
    for (alone, _), members in effects.items():
        if len(members) > 1 and sets.effect(frozenset(members)).digest == alone:
            candidates[members[0]] = tuple(members[1:])
        else:
            candidates |= dict.fromkeys(members, ())
    return {name: candidates[name] for name in names if name in candidates}, dropped


def doubts(sets: SetJudge, names: Sequence[str]) -> dict[str, str]:
    """Return why op types named by the user will probably not help."""
    candidates, dropped = prune(sets)
    known = {*candidates, *(name for others in candidates.values() for name in others)}
    return {
        name: dropped.get(name, _idle(sets) if name in sets.types else "the model has no node of it")
        for name in names
        if name not in known
    }


def _idle(sets: SetJudge) -> str:
    return "no node of it runs in high precision" if sets.white else "no node of it runs in low precision"


_RISKS = re.compile(
    r"Reduce|Sum|Mean|Prod|Pow|Exp(?!and)|Log(?!ical)|Square|[Ss]qrt|Div|Norm|BN|Softmax|Loss|CrossEntropy|Cum|AddN"
)
"""Reductions, powers, exponentials, logarithms, roots, divisions, normalisations, softmax, losses: their results leave
float16's range or lose digits first. Users keep these types in float32 most often."""

_RISK, _PLAIN = 4.0, 1.0
"""How strongly a type is suspected, by its name. Chosen; with 70 % of the culprits among the risks 2 takes 3 % more
runs, 8 and 16 change them by less than 1 % (``benchmarks/searches.py``)."""
_EVIDENCE, _LEAST_EVIDENCE = 24.0, 6.0
"""The same of the first suspect of evidence, divided by the place of each further one, and at least. Chosen for
evidence that may be about something else. If it has 80 % of the culprits, behind up to three others each, 24 for every
suspect takes 12 % fewer runs, and a least of 3 takes 6 % more; 12 to 48 of the first change them by 3 % at most."""


def order_by_suspicion(
    names: Sequence[str], evidence: Sequence[str] = (), cost: Callable[[str], Cost] | None = None
) -> tuple[list[str], list[float]]:
    """Return candidates, the most probably needed first, and how strongly each is suspected, relative to the others.

    Of equal ones, what costs more is released first.

    :param names: in the order of the graph, so that neighbours stay together
    :param evidence: op types, the most suspect first
    """
    weights = {name: _RISK if is_risky(name) else _PLAIN for name in names}
    for rank, name in enumerate(dict.fromkeys(evidence), 1):
        if name in weights:
            weights[name] = max(_LEAST_EVIDENCE, _EVIDENCE / rank)
    order = sorted(names, key=cost) if cost else names
    order = sorted(order, key=lambda name: -weights[name])
    return order, [weights[name] for name in order]


def is_risky(name: str) -> bool:
    """Whether op types with this name are known to lose accuracy in low precision."""
    return _RISKS.search(name.title() if name.islower() else name) is not None
