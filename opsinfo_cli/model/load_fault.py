"""Faults of a library entry on loading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .policy import BLANKS

Sections = Mapping[str, Mapping[str, str]]


class LoadFault(NamedTuple):
    """A fault of an entry.

    :param name: the finding's name
    :param section: the section as written; None for the entry itself
    :param key: the key in the section as written; None for the section itself
    :param token: index of the part of a comma list, from 0; None for the whole value
    :param near: similar known words
    """

    name: str
    section: str | None
    key: str | None
    message: str
    token: int | None = None
    near: tuple[str, ...] = ()

    @property
    def refuses(self) -> bool:
        return not self.name.startswith("unknown-")

    @property
    def hides_policies(self) -> bool:
        """Whether the policies of a store with this fault are unknown.

        Libraries of older CANN versions break only the rule on counts of columns; such a store is read with a warning.
        """
        return self.refuses and self.name != "column-mismatch"


def case_variants(word: str | None, words: frozenset[str]) -> tuple[str, ...]:
    """Return words that differ from ``word`` only in case."""
    return tuple(each for each in sorted(words) if word is not None and each.lower() == word.strip(BLANKS).lower())
