"""Faults of an entry of a library when the engine loads it."""

from __future__ import annotations

from collections.abc import Mapping

from ..typed import NamedTuple
from .policy import BLANKS

Sections = Mapping[str, Mapping[str, str]]


class LoadFault(NamedTuple):
    """A fault of an entry.

    :param name: the finding's name
    :param section: the section as written; None for the entry itself
    :param key: the key in the section as written; None for the section itself
    :param token: which part of a comma list, from 0; None for the whole value
    :param near: words the value may have meant
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

        The counts of columns are the one rule that a library shipped with an older CANN breaks: such a store is read,
        with a warning.
        """
        return self.refuses and self.name != "column-mismatch"


def case_variants(word: str | None, words: frozenset[str]) -> tuple[str, ...]:
    """Words that differ from ``word`` in case alone."""
    return tuple(each for each in sorted(words) if word is not None and each.lower() == word.strip(BLANKS).lower())
