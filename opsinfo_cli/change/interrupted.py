"""Remains of killed runs: changes not marked as done, and folders left writable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..errors import Refused
from .chain import Key
from .folders import shut
from .held_folders import held
from .journal import Journal
from .lock import locked
from .record import Changed, Record
from .replace import digest_at
from .vault import Vault


def outcome(vault: Vault, record: Record) -> str:
    """How an interrupted change ended, by its files: done, abandoned, ``half`` if some are old and some new, or
    ``torn`` if one was overwritten in place and is neither.

    Files that were changed by something else since are ignored; ``other`` if all were.
    """
    states = {state_of(vault, record, changed) for changed in record.files}
    ours = states - {"other"}
    if "torn" in ours:
        return "torn"
    return "half" if len(ours) == 2 else next(iter(ours or states), "done")


def state_of(vault: Vault, record: Record, changed: Changed) -> str:
    """Return the state of one file of an interrupted change: done, abandoned, torn, or other."""
    digest = digest_at(vault.fs, changed.path)
    state = {changed.before: "abandoned", changed.after: "done"}.get(digest, "other")
    if state == "other" and record.in_place and digest is not None:
        with suppress(OSError):
            if vault.fs.stat(changed.path).st_ino == changed.inode:
                return "torn"
    return state


def undone(vault: Vault, records: Iterable[Record]) -> set[str]:
    """Return ids of the changes that a restore undid, even if their own records could not be updated."""
    records = list(records)
    found = {record.id for record in records if record.state == "undone"}
    for record in records:
        state = outcome(vault, record) if record.undoes and record.state == "pending" else record.state
        if record.undoes and state == "done":
            found.add(record.undoes)
    return found


def settle(vault: Vault, journal: Journal, locked_paths: Sequence[str], ends: str | None = None) -> list[str]:
    """End unfinished changes of files whose locks are held. The caller has checked that their processes are gone.

    :param ends: the id of the change that the caller ends
    :returns: messages about the ended changes
    :raises Refused: if a change stopped between two files, or in the middle of one
    """
    notes = []
    for record in journal.pending():
        mine = [changed.path for changed in record.files if changed.path in locked_paths]
        if not mine:
            if not vault.has_writer(record):
                notes += _shut_again(vault, record)
            continue
        notes += _shut_again(vault, record)
        if record.id == ends:
            continue
        state = _ended(vault, journal, record)
        if state in ("half", "torn"):
            if ends:  # a restore was killed while it ended another change: the caller ends both
                continue
            raise unfinished(record, state, mine[0])
        record.state = "pending" if record.folders else "abandoned" if state == "other" else state
        vault.save(record)
        said = "was complete" if state == "done" else "had changed nothing"
        notes.append(f"change {record.id} was interrupted; it {said}")
    return notes


def _ended(vault: Vault, journal: Journal, record: Record) -> str:
    """As :func:`outcome`. Heads are written before the first file: without them nothing was changed."""
    heads = (journal.heads.get(Key(record.machine, changed.path)) for changed in record.files)
    if not all(head and head.order >= record.order for head in heads):
        return "abandoned"
    return outcome(vault, record)


def unfinished(record: Record, state: str, path: str) -> Refused:
    """Return the error for a change that only ``restore`` can end."""
    said = f"change {record.id} of {record.time} was interrupted between its files"
    hint = "`opsinfo restore` on the same target restores its files"
    if state == "torn":
        said = f"change {record.id} of {record.time} was killed while it overwrote the file: it is half written"
        hint = "`opsinfo restore --in-place` on the same target restores the backup"
    name = "half-written" if state == "torn" else "unfinished-change"
    return Refused(said, name=name, path=path, hint=hint)


def shut_left_open(vault: Vault) -> list[tuple[Record, list[str]]]:
    """Restore the modes of folders that killed processes left writable.

    :returns: messages, one for each folder
    """
    pending = [record for record in vault.pending() if record.folders and not vault.has_writer(record)]
    return [(record, folders) for record in pending if (folders := _shut(vault, record))]


def _shut_again(vault: Vault, record: Record) -> list[str]:
    return [f"restored the mode of {path}, left writable by change {record.id}" for path in _shut(vault, record)]


def _shut(vault: Vault, record: Record) -> list[str]:
    """Restore the folder modes of a change, unless another process works in them; then the next run does."""
    if not record.folders:
        return []
    inside = [changed.path for changed in record.files]
    try:
        with held(vault.fs, inside, trusts=True), locked(vault.fs, [each.path for each in record.folders], 0):
            folders = shut(vault.fs, record)
    except Refused:
        return []
    if folders:
        vault.save(record)
    return folders
