"""Edits of opsinfo that stand: op types of a vendor's library whose policy was changed here.

What is proved with such a library may be wrong on another machine, so whoever rests on one says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...errors import OpsinfoError
from ..cann.library import Library
from ..document import EditedHere
from ..text.source import Source
from .history import History
from .vault import Vault


def standing_edits(vault: Vault, libraries: Iterable[Library]) -> list[EditedHere]:
    """Return the op types whose policy is another one than the vendor's, as this machine's vault knows the files.

    Nothing is returned of a file whose content opsinfo did not write, or of a vault that cannot be read.
    """
    if not os.path.isdir(vault.folder):
        return []
    found = []
    try:
        history = vault.history()
        for library in libraries:
            found += _edits_of(vault, history, library)
    except OpsinfoError:  # `doctor` says what is wrong with the vault
        pass
    return found


def _edits_of(vault: Vault, history: History, library: Library) -> list[EditedHere]:
    path = os.path.realpath(library.path)
    lineage = history.lineage_of(path, library.source.sha256) if path in history.known.contents else None
    pristine = history.pristine(path, lineage) if lineage else None
    if pristine is None or pristine.file.before == library.source.sha256:
        return []
    vendors = Library.of(Source(vault.content(pristine), path)).entries
    movers: dict[str, tuple[str, str | None]] = {
        name: (f"{history.machine}-{request.number}", None)
        for given, requests in history.pruned.requests.items()
        if os.path.realpath(given) == path
        for name, request in requests.items()
    }
    for change in history.entries_of(path):
        for name in history.moves_in_effect(change.record, change.file):
            movers[name] = change.record.id, change.record.time
    edits = []
    for name, entry in library.entries.items():
        before = vendors[name].policy_or_none if name in vendors else None
        now = entry.policy_or_none
        if before and now and before is not now:
            mover, time = movers.get(name, (None, None))
            edits.append(EditedHere(name, mover, library.path, before.value, now.value, time))
    return edits
