"""The backups in the vault: listed, and pruned."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from ...errors import UsageFault
from ..cann.target import AnyTarget, target_text
from ..document import Schema, Sha256, headed, internal, optional
from .history import Damage
from .lock import DEFAULT_WAIT
from .record import BackupEntry
from .scope import scope_of
from .vault import vault_in
from .write_settings import WriteSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack


StateNow: TypeAlias = Literal["pending", "done", "undone", "abandoned"]
"""The state of a change, and whether it is undone."""


@dataclass(frozen=True, kw_only=True)
class Backup:
    """The content of one file before a change."""

    entry: BackupEntry = internal()
    id: Annotated[str, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup, for opsinfo restore --to."""
    change: Annotated[str, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change that made the backup."""
    path: str
    """The real path of the file."""
    time: Annotated[
        str,
        Schema(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", examples=["2026-11-21T00:39:00Z"]),
    ]
    """The time of the change: UTC, ISO 8601, whole seconds."""
    sha256: Sha256 | None
    """SHA-256 of the content; null if the change made the file."""
    lineage: str
    """The lineage of the backup. A lineage is the sequence of backups of one path since one state of
    the vendor's file.
    """
    pristine: bool
    """Whether this is the first content seen in its lineage; it is never pruned."""
    version: str | None
    """The CANN version of the install that the file was in; null if unknown."""
    reason: Annotated[str, Schema(examples=["move", "edit", "apply", "fmt", "validate", "restore", "reapply"])]
    """The kind of change."""
    command: Annotated[list[str], Schema(examples=[["opsinfo", "move", "ops_info.json", "Add", "--to", "black"]])]
    """The command line of the change, as a list of arguments; empty if the Python API made it."""
    why: str | None
    """The reason that --reason gave; null without one."""
    state: StateNow
    """The state of the change."""
    user: str
    """The user who made the change."""
    machine: str | None = optional()
    """The machine of the file: a hash of its machine-id, `local` if it has none."""

    @classmethod
    def of(cls, entry: BackupEntry, pristine: bool, state: StateNow) -> Backup:
        record, file = entry.record, entry.file
        return cls(
            entry=entry,
            id=entry.id,
            change=record.id,
            path=file.path,
            time=record.time,
            sha256=file.before,
            lineage=file.lineage,
            pristine=pristine,
            version=file.version,
            reason=record.kind,
            command=record.command,
            why=record.why,
            state=state,
            user=record.user,
            machine=record.machine,
        )

    @property
    def mark(self) -> str:
        """What to say of it beside its state: a file that the change made has no content before."""
        return "made" if self.sha256 is None else "pristine" if self.pristine else ""


@dataclass(frozen=True, repr=False)
class Backups:
    """The backups in the vault. Later versions may add keys."""

    backups: list[Backup]
    """The backups."""
    vault: str
    """The directory of the backups."""
    damaged: list[Damage] | None = optional()
    """Damaged or missing files of the vault, if there are any."""
    pruned: list[str] | None = optional()
    """With --prune: the backups that were removed."""
    dry_run: bool = internal(False)

    def __repr__(self) -> str:
        return f"<Backups in {self.vault}: {len(self.backups)}>"

    @property
    def damage(self) -> list[Damage]:
        return self.damaged or []

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo backups``."""
        return headed("backups", self)


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
        Backup.of(entry, entry.id in pristine, "undone" if history.is_undone(entry) else entry.record.state)
        for history in histories
        for pristine in [history.pristine_ids()]
        for entry in history.entries
        if scope(entry.file.path)
        and entry.id not in dropped
        and not entry.record.pruned
        and (vault.has(entry) or entry.file.before is None)
    ]
    return Backups(kept, vault.path, vault.damage(False, histories) or None, dropped if prune else None, is_dry)
