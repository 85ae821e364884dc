"""Policies, and the flag of a library that gives one.

Source: hicann/ge at ffdcbc9f, compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ...errors import UsageFault

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
