"""Edits of opsinfo that stand: op types of a vendor's library whose policy was changed here.

What is proved with such a library may be wrong on another machine, so whoever rests on one says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...errors import OpsinfoError
from ..cann.library import Library
from ..document import EditedHere
from ..text.source import Source
from .history import History
from .record import BackupEntry
from .replace_file import sha256_of
from .vault import Vault


def standing_edits(vault: Vault, libraries: Iterable[Library]) -> list[EditedHere]:
    """Return the op types whose policy is another one than the vendor's, as this machine's vault knows the files.

    Nothing is returned of a file whose content opsinfo did not write, or of a vault that cannot be read.
    """
    if not os.path.isdir(vault.folder):
        return []
    found: list[EditedHere] = []
    try:
        history = vault.history()
        for library in libraries:
            found += _edits_of(vault, history, library)
    except OpsinfoError:  # `doctor` says what is wrong with the vault
        pass
    return found


def is_edited(history: History, path: str, data: bytes) -> bool:
    """Return whether a file has a content that opsinfo made of another one."""
    return any(_first_copies(history, os.path.realpath(path), sha256_of(data)))


def _first_copies(history: History, path: str, digest: str, seen: tuple[str, ...] = ()) -> Iterator[BackupEntry]:
    """Yield the backups with which the changes began that led to a content, the newest first.

    A file may be a copy of one that was changed elsewhere, or that file by another name.
    """
    for place in (path, *history.by_path):
        lineage = None if place in seen else history.lineage_of(place, digest)
        first = history.pristine(place, lineage) if lineage else None
        if first and first.file.before != digest:
            yield first
            yield from _first_copies(history, place, first.file.before or "", (*seen, place))
            return


def _edits_of(vault: Vault, history: History, library: Library) -> Iterator[EditedHere]:
    firsts = list(_first_copies(history, os.path.realpath(library.path), library.source.sha256))
    if not firsts:
        return
    vendors = Library.of(Source(vault.content(firsts[-1]), library.path)).entries
    movers: dict[str, BackupEntry] = {}
    for first in reversed(firsts):
        movers.update(history.last_moves(history.by_path[first.file.path]))
    for name, entry in library.entries.items():
        before = vendors[name].policy_or_none if name in vendors else None
        now = entry.policy_or_none
        if before and now and before is not now:
            record = movers[name].record if name in movers else None
            change, time = (record.id, record.time) if record else (None, None)
            yield EditedHere(name, change, library.path, before.value, now.value, time)
