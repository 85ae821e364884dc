"""Chains: the records of one path on one machine, each with the id of the one before it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import NamedTuple

from ..errors import Refused
from .record import Changed, Record

Scope = Callable[[str], bool]
"""Returns whether a real path belongs to the target."""


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
    """A fault of one file of the vault.

    :param path: the file in the vault
    :param said: the fault, as text
    :param kind: record, head, object or other
    :param keys: the chains that it belongs to, if known
    """

    path: str
    said: str
    kind: str
    keys: frozenset[Key] = frozenset()


class Walk(NamedTuple):
    """A chain from its last record back.

    :param links: newest first
    :param broken: the damage that ends the walk; None if the last of ``links`` is the first record
    """

    links: list[Link]
    broken: Damage | None


class Lineage(NamedTuple):
    """The backups of one path that begin with one vendor state.

    :param pristine: SHA-256 of the content first seen
    :param known: SHA-256 of every content of this lineage that opsinfo read or wrote
    """

    id: str
    pristine: str
    since: str
    version: str | None
    known: list[str]


def refusal(damage: Damage, by_hand: str | None = None) -> Refused:
    """Return the error of a restore that would have to guess.

    :param by_hand: text about a content that can be copied manually
    """
    objects = os.path.join(os.path.dirname(os.path.dirname(damage.path)), "objects")
    rest = by_hand or f"{objects} has the remaining contents, named by their SHA-256"
    return Refused(
        f"the vault is damaged, so the content is uncertain: {damage.said}",
        name="damaged-backup",
        path=damage.path,
        hint=f"`opsinfo backups` lists the known backups; {rest}",
    )
