"""What a kill left behind: changes that never said they were done, and folders left open."""

from __future__ import annotations

import os

from ..errors import Refused
from .folders import shut
from .liveness import process_lives
from .lock import locked
from .record import Record
from .replace import digest_at
from .vault import Vault


def outcome(vault: Vault, record: Record) -> str:
    """How an interrupted change ended, by its files: done, abandoned, or ``half`` where some are old and some new.

    A file that is neither was changed by another hand since and says nothing; ``other`` where all are.
    """
    states = set()
    for changed in record.files:
        digest = digest_at(vault.fs, changed.path)
        states.add({changed.before: "abandoned", changed.after: "done"}.get(digest, "other"))
    ours = states - {"other"}
    return "half" if len(ours) == 2 else next(iter(ours or states), "done")


def undone(vault: Vault, records: list[Record]) -> set[str]:
    """Ids of the changes that a restore took back, whether or not that could be noted on themselves."""
    found = {record.id for record in records if record.state == "undone"}
    for record in records:
        state = outcome(vault, record) if record.undoes and record.state == "pending" else record.state
        if record.undoes and state == "done":
            found.add(record.undoes)
    return found


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
        record.state = "pending" if record.folders else "abandoned" if state == "other" else state
        vault.save(record)
        said = "was complete" if state == "done" else "had changed nothing"
        notes.append(f"change {record.id} was interrupted; it {said}")
    return notes


def mend_modes(vault: Vault) -> list[tuple[Record, list[str]]]:
    """Shut the folders that dead processes left open.

    :returns: what was open
    """
    pending = [record for record in vault.pending() if is_dead(record)]
    return [(record, folders) for record in pending if (folders := _shut(vault, record))]


def is_dead(record: Record) -> bool:
    """Whether the process of a pending change is gone."""
    return record.pid != os.getpid() and not process_lives(record.pid)


def _mend(vault: Vault, record: Record) -> list[str]:
    return [f"put back the mode of {path}, left open by change {record.id}" for path in _shut(vault, record)]


def _shut(vault: Vault, record: Record) -> list[str]:
    """Shut what a change left open, unless somebody is at work in there: then the next run does."""
    try:
        with locked(vault.fs, [each.path for each in record.folders], 0):
            folders = shut(vault.fs, record)
    except Refused:
        return []
    if folders:
        vault.save(record)
    return folders
