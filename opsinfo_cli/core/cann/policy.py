"""Policies, marks, and their effect in the engine.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc
- compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, cast

from ...errors import UsageFault

if TYPE_CHECKING:
    from ..documents.shared import Mark as MarkWord

PRECISION, FLAG = "precision_reduce", "flag"
"""The section and the key of a policy."""

BLANKS = " \t\n\v\f\r"
"""The characters that the engine trims: C ``isspace`` in the C locale."""


def folded(text: str) -> str:
    """Return lower case as in the engine: byte by byte, so that only ASCII letters change."""
    return text.lower() if text.isascii() else text.translate(_ASCII_LOWER)


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class BadFlag(ValueError):
    """A ``precision_reduce.flag`` that fails the engine."""


class Policy(str, Enum):
    """Whether an op type may be reduced: white may, black stays, gray follows its producer."""

    WHITE = "white"
    BLACK = "black"
    GRAY = "gray"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def from_flag(cls, flag: str | None) -> Policy:
        """Read ``precision_reduce.flag`` as the engine does: trimmed and case folded; empty or missing means gray.

        :raises BadFlag: if it is any other text, which fails the whole store (op_kernel_info_constructor.cc:1383-1402)

        >>> Policy.from_flag(" TRUE "), Policy.from_flag(None)
        (<Policy.WHITE: 'white'>, <Policy.GRAY: 'gray'>)
        """
        if flag in _FLAGS:
            return _FLAGS[flag]
        word = folded((flag or "").strip(BLANKS))
        if word not in _FLAGS:
            raise BadFlag(f"`{flag}` is neither true nor false")
        return _FLAGS[word]

    @classmethod
    def of(cls, sections: Mapping[str, Mapping[str, str]]) -> Policy:
        """Return the policy in an entry's (trimmed) sections.

        :raises BadFlag: as :meth:`from_flag`
        """
        section = sections.get(PRECISION)
        return _FLAGS[None] if section is None else cls.from_flag(section.get(FLAG))

    @property
    def flag(self) -> str | None:
        """The flag for this policy; None for gray, for which the section is left out."""
        return {Policy.WHITE: "true", Policy.BLACK: "false", Policy.GRAY: None}[self]


_FLAGS = {"true": Policy.WHITE, "false": Policy.BLACK, "": Policy.GRAY, None: Policy.GRAY}

ACTIONS = ("to-add", "to-remove")
LISTS = {"black-list": Policy.BLACK, "white-list": Policy.WHITE, "gray-list": Policy.GRAY}

_MANUALS_WORDS = {
    **dict.fromkeys(("white", "trust", "allow", "白"), Policy.WHITE),
    **dict.fromkeys(("black", "block", "deny", "黑"), Policy.BLACK),
    **dict.fromkeys(("gray", "grey", "灰"), Policy.GRAY),
}


def policy_of(value: Policy | str | None) -> Policy:
    """Return a policy that is given as itself or by its word.

    :raises UsageFault: if there is no such policy
    """
    if isinstance(value, Policy):
        return value
    if value in [each.value for each in Policy]:
        return Policy(value)
    meant = policy_meant(value) if isinstance(value, str) else None
    hint = f"did you mean `{meant}`?" if meant else f"it is {', '.join(each.value for each in Policy)}"
    raise UsageFault(f"unknown policy `{value}`", name="unknown-policy", hint=hint)


def policy_meant(word: str) -> Policy | None:
    """Return the policy for a word of the manuals or other tools; for hints, never for input.

    >>> policy_meant("Trustlist"), policy_meant("black_list"), policy_meant("灰名单"), policy_meant("red")
    (<Policy.WHITE: 'white'>, <Policy.BLACK: 'black'>, <Policy.GRAY: 'gray'>, None)
    """
    stem = folded(word).removesuffix("名单").removesuffix("list").rstrip("-_ ")
    return _MANUALS_WORDS.get(stem)


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
