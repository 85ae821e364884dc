"""Backups for people and for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from ...change.chain import Damage
from ...change.record import Changed, Record
from ...typed import TYPE_CHECKING
from ..terminal.output import Output
from ..terminal.visible import row, visible

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Backup:
    """One file of one change, as it was before."""

    record: Record
    index: int
    pristine: bool
    lineage: str

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
    """`id, time, pristine, version, path, state, command`; a block for each on a terminal, where paths are long."""
    for backup in backups:
        record = backup.record
        pristine = "pristine" if backup.pristine else "-"
        version, command = backup.changed.version or "-", shlex.join(record.command)
        if not output.on_terminal:
            yield row(backup.id, record.time, pristine, version, backup.path, record.state, command)
            continue
        words = [record.time, *(["pristine"] if backup.pristine else []), f"CANN {version}", record.state]
        yield f"{output.paint(backup.id, 'note')}  {'  '.join(words)}"
        yield f"    {visible(backup.path)}"
        yield f"    before: {visible(command)}"


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
                "lineage": backup.lineage,
                "pristine": backup.pristine,
                "version": backup.changed.version,
                "reason": backup.record.kind,
                "command": backup.record.command,
                "state": backup.record.state,
                "user": backup.record.user,
                "machine": backup.record.machine,
            }
            for backup in backups
        ],
    }
    if damage:
        document["damaged"] = [{"path": each.path, "message": each.said} for each in damage]
    if pruned is not None:
        document["pruned"] = pruned
    return document
