"""Read a vault's records and heads, and record the damage."""

from __future__ import annotations

import errno
import os
import re
from typing import Protocol

from ..errors import Refused
from .chain import Damage, Head, Key
from .filesystem import FileSystem
from .journal import Journal
from .migration import link
from .record import Record
from .replace import read_plain
from .sealed import OldForm, unsealed

_TRIES = 50
_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)


class VaultFiles(Protocol):
    """The files of a vault, for reading."""

    fs: FileSystem

    def place(self, folder: str, name: str) -> str:
        """Return the path of a file of the vault."""

    def names(self, folder: str) -> list[str]:
        """Return the names in one of the vault's folders."""

    def require_owned(self) -> None:
        """:raises Refused: if the vault belongs to another user"""


def read_journal(vault: VaultFiles) -> Journal:
    """Return the content of a vault, read without blocking writers.

    If a record is missing and heads changed during reading, everything is read again.

    :raises Refused: if the vault belongs to another user, or a file in it cannot be read
    """
    vault.require_owned()
    for _ in range(_TRIES):
        heads, damage = _heads(vault)
        journal = _with_records(vault, heads, damage)
        if not journal.damage or _heads(vault) == (heads, damage):
            break
    return journal


def read_record(vault: VaultFiles, name: str) -> Record | None:
    """Return one record as it is now; None if it is missing or damaged."""
    try:
        data = _bytes(vault, "changes", name)
        return _record(name, unsealed(data)) if data is not None else None
    except ValueError:
        return None


def _with_records(vault: VaultFiles, heads: dict[Key, Head] | None, damage: list[Damage]) -> Journal:
    """:param heads: None if there is no folder of heads, as in an older or a new vault"""
    records, old, bad = [], [], list(damage)
    for name in vault.names("changes"):
        try:
            data = _bytes(vault, "changes", name)
            if data is not None:
                records.append(_record(name, unsealed(data)))
        except OldForm as form:
            try:
                old.append(_record(name, form.content))
            except ValueError as error:
                bad.append(_damaged(vault, "record", "changes", name, error))
        except ValueError as error:
            bad.append(_damaged(vault, "record", "changes", name, error))
    if heads is None and all(record.migrated for record in records):
        records += old
        heads = link(records) if records else {}
    else:
        bad += [_damaged(vault, "record", "changes", each.id, ValueError("the checksum is missing")) for each in old]
    return Journal(records, heads or {}, bad, vault.place)


def _heads(vault: VaultFiles) -> tuple[dict[Key, Head] | None, list[Damage]]:
    if not os.path.isdir(vault.place("heads", "")):
        return None, []
    found, damage = {}, []
    for name in vault.names("heads"):
        try:
            data = _bytes(vault, "heads", name)
            if data is not None:
                key, head = _head(name, unsealed(data))
                found[key] = head
        except ValueError as error:
            damage.append(_damaged(vault, "head", "heads", name, error))
    return found, damage


def _record(name: str, content: dict[str, object]) -> Record:
    """:raises ValueError: if opsinfo did not write it, or the name is that of another record"""
    try:
        record = Record.from_json(content)
    except (TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("not a record of a change") from None
    if record.id != name:
        raise ValueError("it is the record of another change")
    return record


def _head(name: str, content: dict[str, object]) -> tuple[Key, Head]:
    """:raises ValueError: as :func:`_record`"""
    machine, path, last, order = (content.get(word) for word in ("machine", "path", "last", "order"))
    if not (isinstance(machine, str) and isinstance(path, str) and isinstance(last, str) and isinstance(order, int)):
        raise ValueError("not the head of a chain")
    key = Key(machine, os.fsdecode(path.encode("utf-8", "surrogateescape")))
    if key.name != name:
        raise ValueError("it is the head of another chain")
    return key, Head(last, order)


def _bytes(vault: VaultFiles, folder: str, name: str) -> bytes | None:
    """Return the bytes of a file of the vault; None if it no longer exists.

    :raises ValueError: if it is not a regular file
    :raises Refused: if it exists and cannot be read
    """
    path = vault.place(folder, name)
    try:
        return read_plain(vault.fs, path, os.O_NOFOLLOW)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _NO_FILE:
            raise ValueError("it is not a file") from None
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None


def _damaged(vault: VaultFiles, kind: str, folder: str, name: str, error: ValueError) -> Damage:
    said = re.sub(r": line .*", "", str(error)) or "it cannot be read"
    return Damage(vault.place(folder, name), f"the {kind} is damaged ({said})", kind)
