"""Backups, as text and JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...change.vault import ChangedFile, Damage, Entry, Record
from ..escape import row, visible
from ..terminal.output import Output

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Backup:
    """One file of one change, with its content before the change.

    :param state: of the change: pending, done, abandoned or undone
    """

    entry: Entry
    pristine: bool
    state: str

    @property
    def record(self) -> Record:
        return self.entry.record

    @property
    def changed(self) -> ChangedFile:
        return self.entry.file

    @property
    def id(self) -> str:
        return self.entry.id

    @property
    def path(self) -> str:
        return self.entry.file.path


def show_backups(output: Output, backups: list[Backup]) -> None:
    """Print `id, time, pristine, version, path, state, command`; on a terminal a table, with -v a block for each."""
    if not output.on_terminal:
        output.lines(map(_fields, backups))
        return
    with output.paged():
        if output.verbose:
            output.lines(line for backup in backups for line in _block(output, backup))
        elif backups:
            _table(output, backups)


def _fields(backup: Backup) -> str:
    record = backup.record
    pristine, version = "pristine" if backup.pristine else "-", backup.changed.version or "-"
    return row(backup.id, record.time, pristine, version, backup.path, backup.state, shlex.join(record.command))


def _block(output: Output, backup: Backup) -> Iterator[str]:
    """Yield all details of a backup, with the whole path."""
    record = backup.record
    version = backup.changed.version or "unknown"
    words = [record.time, *(["pristine"] if backup.pristine else []), f"CANN {version}", backup.state]
    yield f"{output.paint(backup.id, 'note')}  {'  '.join(words)}"
    yield f"    {visible(backup.path)}"
    yield f"    before: {visible(shlex.join(record.command))}"


def _table(output: Output, backups: list[Backup]) -> None:
    from ..terminal.places import PlaceCell
    from ..terminal.table import Column, print_table

    cells: list[list[str | PlaceCell]] = []
    for backup in backups:
        state = "pristine" if backup.pristine else "" if backup.state == "done" else backup.state
        cells.append([backup.id, backup.record.kind, state or "-", PlaceCell(backup.path)])
    print_table(output, [Column("id"), Column("before"), Column("state"), Column("file", dim=True)], cells)


def backups_document(
    vault: str, backups: list[Backup], damage: list[Damage], pruned: list[str] | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "vault": vault,
        "backups": [
            {
                "id": backup.id,
                "change": backup.record.id,
                "path": backup.path,
                "time": backup.record.time,
                "sha256": backup.changed.before,
                "lineage": backup.changed.lineage,
                "pristine": backup.pristine,
                "version": backup.changed.version,
                "reason": backup.record.kind,
                "command": backup.record.command,
                "state": backup.state,
                "user": backup.record.user,
                "machine": backup.record.machine,
            }
            for backup in backups
        ],
    }
    if damage:
        document["damaged"] = [{"path": each.path, "message": each.message} for each in damage]
    if pruned is not None:
        document["pruned"] = pruned
    return document
