"""Backups for people and for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..change.record import Changed, Record
from .output import Output
from .visible import row

__all__ = ["Backup", "backup_lines", "backups_document"]


@dataclass(frozen=True)
class Backup:
    """One file of one change, as it was before."""

    record: Record
    index: int
    pristine: bool

    @property
    def changed(self) -> Changed:
        return self.record.files[self.index]

    @property
    def id(self) -> str:
        return self.record.backup_id(self.index)

    @property
    def path(self) -> str:
        return self.changed.path


def backup_lines(output: Output, backups: list[Backup]) -> Iterator[str]:
    """`id, time, pristine, version, path, state, command`."""
    if output.on_terminal and backups:
        from .table import Column, print_table

        titles = ("id", "time", "", "CANN", "file", "state", "before")
        cells = [list(_fields(backup)) for backup in backups]
        print_table(output, [Column(title, dim=title in ("time", "before")) for title in titles], cells)
        return
    for backup in backups:
        yield row(*_fields(backup))


def _fields(backup: Backup) -> tuple[str, ...]:
    record = backup.record
    pristine = "pristine" if backup.pristine else "-"
    version = backup.changed.version or "-"
    return backup.id, record.time, pristine, version, backup.path, record.state, shlex.join(record.command)


def backups_document(vault: str, backups: list[Backup], pruned: list[str] | None) -> dict[str, Any]:
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
                "reason": shlex.join(backup.record.command),
                "state": backup.record.state,
                "user": backup.record.user,
            }
            for backup in backups
        ],
    }
    if pruned is not None:
        document["pruned"] = pruned
    return document
