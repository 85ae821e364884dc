"""The backups in the vault: listed, and pruned."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...errors import UsageFault
from ..cann.target import AnyTarget, target_text
from .history import Damage
from .lock import DEFAULT_WAIT
from .record import Entry, State
from .scope import scope_of
from .vault import vault_in
from .write_settings import WriteSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..documents.backups import BackupsDocument


class Backup(NamedTuple):
    """One file of one change, with its content before the change.

    :param pristine: whether it is the first content seen since a state of the vendor's file
    :param state: of the change
    """

    entry: Entry
    pristine: bool
    state: State | Literal["undone"]

    @property
    def sha256(self) -> str:
        assert self.entry.file.before is not None  # a file that the change created has no backup
        return self.entry.file.before


@dataclass(frozen=True)
class Backups:
    """
    :param vault: the folder
    :param backups: the oldest first
    :param pruned: the ids of the backups that were removed, or would be; None if none were to be
    """

    vault: str
    backups: list[Backup]
    damage: list[Damage]
    pruned: list[str] | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        return f"<Backups in {self.vault}: {len(self.backups)}>"

    def to_dict(self) -> BackupsDocument:
        """Return the JSON document of ``opsinfo backups``."""
        document: BackupsDocument = {
            "schema_version": 1,
            "command": "backups",
            "vault": self.vault,
            "backups": [
                {
                    "pristine": backup.pristine,
                    "state": backup.state,
                    "path": backup.entry.file.path,
                    "lineage": backup.entry.file.lineage,
                    "version": backup.entry.file.version,
                    "time": backup.entry.record.time,
                    "command": list(backup.entry.record.command),
                    "user": backup.entry.record.user,
                    "machine": backup.entry.record.machine,
                    "why": backup.entry.record.why,
                    "id": backup.entry.id,
                    "change": backup.entry.record.id,
                    "sha256": backup.sha256,
                    "reason": backup.entry.record.kind,
                }
                for backup in self.backups
            ],
        }
        if self.damage:
            document["damaged"] = [{"path": each.path, "message": each.message} for each in self.damage]
        if self.pruned is not None:
            document["pruned"] = self.pruned
        return document


def backups(target: AnyTarget | None = None, *, prune: int | None = None, **settings: Unpack[WriteSettings]) -> Backups:
    """Return the backups of a target, or all, as ``opsinfo backups``.

    :param prune: keep this many of the newest backups of each file, and every pristine one; drop the rest
    :param settings: :class:`.WriteSettings`: ``dry_run``, ``wait`` and ``backup_dir`` matter
    :raises UsageFault: if no backup is to be kept
    """
    if prune is not None and prune < 1:
        raise UsageFault("prune must be at least 1: the newest backup of a file is kept")
    scope = scope_of(None if target is None else target_text(target))
    vault, is_dry = vault_in(settings), settings.get("dry_run", False)
    dropped: list[str] = []
    if prune and (is_dry or not os.path.isdir(vault.folder)):
        dropped = vault.prune(scope, prune, dry_run=True)
    elif prune:
        with vault.locked(time.monotonic() + settings.get("wait", DEFAULT_WAIT)):
            dropped = vault.prune(scope, prune, dry_run=False)
    histories = vault.histories()
    kept = [
        Backup(entry, entry.id in pristine, "undone" if entry.record.id in history.undone else entry.record.state)
        for history in histories
        for pristine in [history.pristine_ids()]
        for entry in history.entries
        if scope(entry.file.path) and entry.id not in dropped and not entry.record.pruned and vault.has(entry)
    ]
    return Backups(vault.path, kept, vault.damage(False, histories), dropped if prune else None, is_dry)
