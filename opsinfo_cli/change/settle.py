"""What a kill left behind: changes that never said they were done, and folders left open."""

from __future__ import annotations

import os
from contextlib import suppress

from ..errors import Refused
from .folders import shut
from .record import Record
from .replace import read_original
from .vault import Vault, sha256_of

__all__ = ["is_dead", "mend_modes", "outcome", "settle"]


def outcome(vault: Vault, record: Record) -> str:
    """``done`` or ``abandoned``, where every file is wholly new or wholly old; else ``half``."""
    states = set()
    for changed in record.files:
        digest = None
        with suppress(Refused):
            digest = sha256_of(read_original(vault.fs, changed.path).data)
        states.add({changed.before: "abandoned", changed.after: "done"}.get(digest, "half"))
    return states.pop() if len(states) == 1 else "half"


def settle(vault: Vault, locked_paths: list[str]) -> list[str]:
    """End unfinished changes of files we hold the lock of, so that their makers are gone.

    :returns: what was mended, for people
    :raises Refused: where a change stopped between two files
    """
    notes = []
    for record in vault.pending():
        if not any(changed.path in locked_paths for changed in record.files):
            if is_dead(record):
                notes += _mend(vault, record)
            continue
        notes += _mend(vault, record)
        state = outcome(vault, record)
        if state == "half":
            raise Refused(
                f"change {record.id} of {record.time} was interrupted between its files",
                name="unfinished-change",
                path=next(changed.path for changed in record.files if changed.path in locked_paths),
                hint="`opsinfo restore` on the same target puts its files back",
            )
        record.state = "pending" if record.folders else state
        vault.save(record)
        said = "was complete" if state == "done" else "had changed nothing"
        notes.append(f"change {record.id} was interrupted; it {said}")
    return notes


def mend_modes(vault: Vault) -> list[tuple[Record, list[str]]]:
    """Shut the folders that dead processes left open.

    :returns: what was open
    """
    mended = []
    for record in vault.pending():
        folders = shut(vault.fs, record) if is_dead(record) else []
        if folders:
            vault.save(record)
            mended.append((record, folders))
    return mended


def is_dead(record: Record) -> bool:
    """Whether the process of a pending change is gone."""
    if record.pid == os.getpid():
        return False
    try:
        os.kill(record.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _mend(vault: Vault, record: Record) -> list[str]:
    folders = shut(vault.fs, record)
    if folders:
        vault.save(record)
    return [f"put back the mode of {path}, left open by change {record.id}" for path in folders]
