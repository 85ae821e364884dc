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
            found += edits_in(vault, history, library.source, library)
    except OpsinfoError:  # `doctor` says what is wrong with the vault
        pass
    return found


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


def edits_in(vault: Vault, history: History, source: Source, library: Library | None = None) -> Iterator[EditedHere]:
    """Yield the op types of one library, which is parsed if opsinfo made its content of another one.

    :param library: that of the text, if it is parsed already
    """
    firsts = list(_first_copies(history, os.path.realpath(source.path), source.sha256))
    if not firsts:
        return
    library = library or Library.of(source)
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
