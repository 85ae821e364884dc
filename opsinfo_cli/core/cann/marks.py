"""Marks of a mixlist, and how they change a policy.

Source: hicann/ge at ffdcbc9f, compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, cast

from .policy import Policy, policy_of

MarkWord: TypeAlias = Literal[
    "black-list.to-add",
    "black-list.to-remove",
    "white-list.to-add",
    "white-list.to-remove",
    "gray-list.to-add",
    "gray-list.to-remove",
]
"""A mark in a JSON document."""
ACTIONS = ("to-add", "to-remove")
LISTS = {"black-list": Policy.BLACK, "white-list": Policy.WHITE, "gray-list": Policy.GRAY}


class Mark(NamedTuple):
    """One of the six marks: add to a list, or remove from it."""

    action: str
    policy: Policy

    def __str__(self) -> str:
        return f"{self.policy}-list.{self.action}"

    @property
    def engine_words(self) -> str:
        """As in the message of the engine: ``add black``."""
        return f"{self.action[3:]} {self.policy}"


def mark_words(marks: Iterable[Mark]) -> list[MarkWord]:
    """Return marks as in JSON documents."""
    return [cast("MarkWord", str(mark)) for mark in sorted(marks)]


ADD_BLACK, ADD_WHITE, ADD_GRAY = (Mark("to-add", Policy(each)) for each in ("black", "white", "gray"))
REMOVE_BLACK, REMOVE_WHITE, REMOVE_GRAY = (Mark("to-remove", Policy(each)) for each in ("black", "white", "gray"))

_ADDS, _REMOVALS = (ADD_GRAY, ADD_WHITE, ADD_BLACK), (REMOVE_GRAY, REMOVE_WHITE, REMOVE_BLACK)
LEGAL_COMBINATIONS: frozenset[frozenset[Mark]] = frozenset(
    [frozenset({mark}) for mark in (*_ADDS, REMOVE_WHITE, REMOVE_BLACK)]
    + [frozenset({add, removal}) for add in _ADDS for removal in _REMOVALS if add.policy is not removal.policy]
)
"""The eleven accepted sets of marks of an op type (modify_mixlist_config_parser.cc:46-60).

The other 52 are refused with E20003.
"""


def combination(marks: Iterable[Mark]) -> str:
    """Return marks as text, in a stable order: ``add black + remove white``."""
    return " + ".join(mark.engine_words for mark in sorted(set(marks)))


def is_legal(marks: frozenset[Mark]) -> bool:
    return not marks or marks in LEGAL_COMBINATIONS


def effective(library_policy: Policy | str, marks: frozenset[Mark]) -> Policy:
    """Return the policy of an op type after its marks (modify_mixlist_config_parser.cc:265-294).

    A ``to-remove`` has an effect only on the list that the op type is on; a gray ``to-add`` has none.

    :raises ValueError: if the engine refuses the combination
    :raises UsageFault: if a text is no policy

    >>> effective(Policy.WHITE, frozenset({ADD_GRAY}))
    <Policy.WHITE: 'white'>
    """
    library_policy = policy_of(library_policy)
    for mark in least(marks):  # at most one
        if mark.action == "to-add":
            return mark.policy
        if mark.policy is library_policy:
            return Policy.GRAY
    return library_policy


def decided(marks: frozenset[Mark]) -> Policy | None:
    """Return the policy that marks set in every library, by a black or white ``to-add``; else None."""
    return next((mark.policy for mark in (ADD_BLACK, ADD_WHITE) if mark in marks), None)


def marks_for(library_policy: Policy | str, wanted: Policy | str) -> frozenset[Mark]:
    """Return the fewest marks that turn ``library_policy`` into ``wanted``; ``gray-list`` is never used."""
    library_policy, wanted = policy_of(library_policy), policy_of(wanted)
    if wanted is library_policy:
        return frozenset()
    if wanted is Policy.GRAY:
        return frozenset({Mark("to-remove", library_policy)})
    return frozenset({Mark("to-add", wanted)})


def least(marks: frozenset[Mark]) -> frozenset[Mark]:
    """Return the fewest marks with the same effect in every library: one, or none for a gray to-add alone.

    A black or white to-add decides regardless of removals; a gray one has no effect
    (modify_mixlist_config_parser.cc:265-294).

    :raises ValueError: if the engine refuses the combination

    >>> combination(least(frozenset({ADD_BLACK, REMOVE_WHITE})))
    'add black'
    """
    if not is_legal(marks):
        raise ValueError(f"the engine refuses {combination(marks)}")
    adds = marks & {ADD_BLACK, ADD_WHITE}
    return adds or marks - {ADD_GRAY}
