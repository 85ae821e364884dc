"""Chains: the records of one path on one machine, each naming the one before it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from ..errors import Refused
from ..typed import NamedTuple
from .record import Changed, Record

Scope = Callable[[str], bool]
"""Whether a real path belongs to the target in question."""


class Key(NamedTuple):
    """The machine and path that a chain belongs to."""

    machine: str
    path: str

    @property
    def name(self) -> str:
        """The name of its head."""
        return hashlib.sha256(f"{self.machine}\0{self.path}".encode("utf-8", "surrogateescape")).hexdigest()


class Head(NamedTuple):
    """The last record of a chain, by its id, and its order."""

    last: str | None
    order: int


class Link(NamedTuple):
    """One file of one record."""

    record: Record
    nth: int

    @property
    def changed(self) -> Changed:
        return self.record.files[self.nth]

    @property
    def key(self) -> Key:
        return Key(self.record.machine, self.changed.path)

    @property
    def backup(self) -> str:
        return self.record.backup_id(self.nth)


class Damage(NamedTuple):
    """What is wrong with one file of the vault.

    :param path: the file in the vault
    :param said: the problem, in words
    :param kind: record, head, object or other
    :param keys: the chains that it belongs to, as far as known
    """

    path: str
    said: str
    kind: str
    keys: frozenset[Key] = frozenset()


class Walk(NamedTuple):
    """A chain from its last record back.

    :param links: the newest first
    :param broken: why nothing more can be known; None if the last of ``links`` is the first record
    """

    links: list[Link]
    broken: Damage | None


class Lineage(NamedTuple):
    """The backups of one path from one vendor state on.

    :param pristine: SHA-256 of the content first seen
    :param known: every content of this lineage that we saw or wrote
    """

    id: str
    pristine: str
    since: str
    version: str | None
    known: list[str]


def refusal(damage: Damage, by_hand: str | None = None) -> Refused:
    """The error of a restore that would have to guess.

    :param by_hand: a content that can still be taken by hand
    """
    objects = os.path.join(os.path.dirname(os.path.dirname(damage.path)), "objects")
    rest = by_hand or f"{objects} holds the contents that are left, named by their SHA-256"
    return Refused(
        f"the vault cannot tell for sure: {damage.said}",
        name="damaged-backup",
        path=damage.path,
        hint=f"`opsinfo backups` lists what is known; {rest}",
    )
