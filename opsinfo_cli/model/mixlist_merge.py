"""Merge mixlists, and drop entries that change nothing. Pure.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/optimizer/ops_kernel_store/fe_ops_kernel_info_store.cc
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .mixlist import Mixlist
from .policy import Mark, Policy, effective, least
from .store import Operators


class Given(NamedTuple):
    """The marks of an op type in one mixlist."""

    path: str
    marks: frozenset[Mark]


class Conflict(NamedTuple):
    """An op type with different marks in several mixlists, in order. The last one wins."""

    name: str
    given: tuple[Given, ...]


class Dropped(NamedTuple):
    """A dropped entry. ``reason``: ``no-effect``, ``unknown-operator`` if no target has the op type,
    ``no-effect-in-model`` if it changes no dtype in the models.
    """

    name: str
    marks: frozenset[Mark]
    reason: str


@dataclass
class Minimal:
    """Fewer marks with the same effect.

    :param marks: the remaining marks, in the given order
    :param shortened: op types with fewer marks: before, after
    """

    marks: dict[str, frozenset[Mark]] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    shortened: dict[str, tuple[frozenset[Mark], frozenset[Mark]]] = field(default_factory=dict)

    @property
    def unknown(self) -> list[str]:
        """Op types that no target has."""
        return [each.name for each in self.dropped if each.reason == "unknown-operator"]


def merged(mixlists: Sequence[Mixlist]) -> dict[str, frozenset[Mark]]:
    """Return the marks of every op type, sorted by name: those of the last mixlist that has it."""
    found: dict[str, frozenset[Mark]] = {}
    for mixlist in mixlists:
        found.update(mixlist.marks)
    return dict(sorted(found.items()))


def conflicts(mixlists: Sequence[Mixlist]) -> list[Conflict]:
    """Return op types to which several mixlists give different policies in some library, sorted by name."""
    given: dict[str, list[Given]] = {}
    for mixlist in mixlists:
        for name, marks in mixlist.marks.items():
            given.setdefault(name, []).append(Given(mixlist.path, marks))
    differing = {name: tuple(said) for name, said in given.items() if len({least(each.marks) for each in said}) > 1}
    return [Conflict(name, differing[name]) for name in sorted(differing)]


def minimal(marks: Mapping[str, frozenset[Mark]], targets: Sequence[Operators] = ()) -> Minimal:
    """Return the fewest marks with the same effect as ``marks`` on every op type of every target.

    Without a target: in any library. An entry that one target needs is kept.
    """
    found = Minimal()
    for name, mine in marks.items():
        fewest = least(mine)
        policies = {policy for operators in targets for policy in _policies(name, operators)}
        if targets and not policies:
            found.dropped.append(Dropped(name, mine, "unknown-operator"))
        elif not fewest or (targets and all(effective(policy, fewest) is policy for policy in policies)):
            found.dropped.append(Dropped(name, mine, "no-effect"))
        else:
            found.marks[name] = fewest
            if fewest != mine:
                found.shortened[name] = (mine, fewest)
    return found


def narrowed(found: Minimal, gone: Collection[str]) -> Minimal:
    """Return ``found`` without op types that change nothing in the models."""
    return Minimal(
        {name: marks for name, marks in found.marks.items() if name not in gone},
        found.dropped
        + [Dropped(name, found.marks[name], "no-effect-in-model") for name in found.marks if name in gone],
        {name: both for name, both in found.shortened.items() if name not in gone},
    )


def _policies(name: str, operators: Operators) -> set[Policy]:
    """Return the policy in each store: the engine falls through to a later one if the first refuses a node.

    Source: fe_ops_kernel_info_store.cc:371-439
    """
    return {entry.policy for _, entry in operators[name].winners} if name in operators else set()
