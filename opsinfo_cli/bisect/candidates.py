"""The candidates of a search: op types of a model that a list can move."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .judged_sets import JudgedSets


class MovableType(NamedTuple):
    """Op types that a search moves together.

    :param name: the first of them
    :param same: the others, which move exactly the same nodes
    """

    name: str
    same: tuple[str, ...] = ()


class LeftOut(NamedTuple):
    """An op type that cannot be a candidate."""

    name: str
    why: str


class Pruned(NamedTuple):
    """Return the op types of a model, in the order of the graph."""

    candidates: list[MovableType]
    dropped: list[LeftOut]


def pruned(sets: JudgedSets, step: Callable[[int, int], None] = lambda *_: None) -> Pruned:
    """Return the op types of a model that a list can move; those with the same effect are one candidate.

    :param step: called with the number of types that were tried, and of all
    """
    concerned, dropped = _concerned(sets)
    names = []
    for at, name in enumerate(concerned):
        step(at, len(concerned))
        if _refuses(sets, name):
            what = "low-precision" if sets.white else "float32"
            dropped.append(LeftOut(name, f"the chip has no {what} kernel for a node of it"))
        else:
            names.append(name)
    every = frozenset(names)
    effects: dict[str, tuple[str, str]] = {}
    for name in names:
        effects[name] = sets.digest(frozenset({name})), sets.digest(every - {name})
    nothing = sets.digest(frozenset()), sets.digest(every)
    dropped += [LeftOut(name, "it changes no dtype") for name in names if effects[name] == nothing]
    return Pruned(_grouped(sets, [name for name in names if effects[name] != nothing], effects), dropped)


def doubts(sets: JudgedSets, names: Sequence[str]) -> list[LeftOut]:
    """Return why op types named by the user will probably not help."""
    found = pruned(sets)
    known = {each.name for each in found.candidates}.union(*(each.same for each in found.candidates))
    reasons = {each.name: each.why for each in found.dropped}
    types = set(sets.graph.types)
    return [
        LeftOut(name, reasons.get(name, _idle(sets) if name in types else "the model has no node of it"))
        for name in names
        if name not in known
    ]


def _idle(sets: JudgedSets) -> str:
    return "no node of it runs in high precision" if sets.white else "no node of it runs in low precision"


def _concerned(sets: JudgedSets) -> tuple[list[str], list[LeftOut]]:
    """Return types with a node that the base list leaves low, or for a white list, with one that it leaves high."""
    base = sets.answer(frozenset())
    choices = base.judged.choices
    types = sets.graph.types
    concerned: dict[str, None] = {}
    others: dict[str, None] = {}
    for node, op_type in enumerate(types):
        if choices[node].column >= 0:
            (concerned if base[node].low is not sets.white else others)[op_type] = None
    return list(concerned), [LeftOut(name, _idle(sets)) for name in others if name not in concerned]


def _refuses(sets: JudgedSets, name: str) -> bool:
    """Return whether the chip refuses a node of a moved type that it accepts with the base list."""
    return set(sets.refused(frozenset({name}), name)) - set(sets.refused(frozenset(), name)) != set()


def _grouped(sets: JudgedSets, names: Sequence[str], effects: dict[str, tuple[str, str]]) -> list[MovableType]:
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        groups.setdefault(effects[name], []).append(name)
    found = []
    for (alone, _), members in groups.items():
        if len(members) > 1 and sets.digest(frozenset(members)) == alone:
            found.append(MovableType(members[0], tuple(members[1:])))
        else:
            found += map(MovableType, members)
    position = {name: at for at, name in enumerate(names)}
    return sorted(found, key=lambda each: position[each.name])
