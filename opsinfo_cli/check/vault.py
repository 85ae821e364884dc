"""Rules on opsinfo's own changes: damage in the vault, lost edits, and remains of killed runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .finding import Finding, Rule, whole_file

if TYPE_CHECKING:
    from ..change.vault import Scope, Vault

_SOURCE = "opsinfo, docs/architecture.md, Changing"


def check_vault(vault: Vault, scope: Scope) -> Iterator[Finding]:
    """Yield the findings, and restore the modes of folders that killed processes left writable.

    Damage is reported for every scope, because the path of a damaged record is unknown.
    """
    yield from damaged_backups(vault)
    yield from older_vault(vault)
    yield from modes_left_open(vault)
    yield from unfinished_change(vault, scope)
    yield from edits_lost(vault, scope)


EDITS_LOST = Rule(
    code="V001",
    name="edits-lost",
    about="vault",
    severity="warning",
    engine="accepts",
    why=(
        "opsinfo moved operators in this file, and the file was replaced since, for example by a vendor upgrade or by "
        "an old copy. The moves are no longer in effect."
    ),
    fails="opsinfo move OPP Add --to black, then an upgrade of CANN",
    passes="opsinfo reapply",
    source=_SOURCE,
)


def edits_lost(vault: Vault, scope: Scope) -> Iterator[Finding]:
    from ..change.reapply import lost_edits

    for lost in lost_edits(vault, scope):
        names = ", ".join(f"`{name}` {policy}" for name, policy in lost.wanted.items()) or "none"
        gone = f"; not in the new file: {', '.join(lost.gone)}" if lost.gone else ""
        message = f"your changes from {', '.join(lost.changes)} are gone: the file was replaced ({names}{gone})"
        yield whole_file(EDITS_LOST, lost.path, message, "`opsinfo reapply` applies them to the new file")


MODES_LEFT_OPEN = Rule(
    code="V002",
    name="modes-left-open",
    about="vault",
    severity="warning",
    engine="accepts",
    why="A run was killed while a folder of the install was writable. Its mode has been restored.",
    fails="kill -9 in the middle of `opsinfo move`",
    passes="nothing to do: the mode is restored when this is found",
    source=_SOURCE,
)


def modes_left_open(vault: Vault) -> Iterator[Finding]:
    from ..change.writer import shut_left_open

    for record, folders in shut_left_open(vault):
        for folder in folders:
            message = f"change {record.id} was killed and left this folder writable; its mode was restored"
            yield whole_file(MODES_LEFT_OPEN, folder, message)


UNFINISHED_CHANGE = Rule(
    code="V003",
    name="unfinished-change",
    about="vault",
    severity="warning",
    engine="accepts",
    why=(
        "A run that writes several files was killed between two of them: some are new, some are old. Or a run with "
        "--in-place was killed while it overwrote a file, which is half written."
    ),
    fails="kill -9 in the middle of `opsinfo apply`",
    passes="opsinfo restore TARGET",
    source=_SOURCE,
)


def unfinished_change(vault: Vault, scope: Scope) -> Iterator[Finding]:
    from ..change.vault import outcome, unfinished

    for record in vault.history().records:
        paths = [file.path for file in record.files if scope(file.path)]
        if record.state == "pending" and paths and outcome(record) in ("half", "torn") and not vault.is_in_use():
            error = unfinished(record, paths[0])
            yield whole_file(UNFINISHED_CHANGE, paths[0], error.message, error.hint)


DAMAGED_BACKUP = Rule(
    code="V004",
    name="damaged-backup",
    about="vault",
    severity="error",
    engine="accepts",
    why=(
        "A record or a backup of the vault is damaged or missing, or a file is there that opsinfo did not write. Every "
        "record holds its own checksum and those of its backups. `restore` refuses content that it cannot verify."
    ),
    fails="a disk that loses a block, or rm in the vault",
    passes="copy what is needed from the folders of the vault, then use a new one: --backup-dir DIR",
    source=_SOURCE,
)


def damaged_backups(vault: Vault) -> Iterator[Finding]:
    for damage in vault.damage(contents=True):
        hint = f"`opsinfo restore` refuses unverified content; the backups in {vault.folder} are plain files"
        yield whole_file(DAMAGED_BACKUP, damage.path, damage.message, hint)


OLDER_VAULT = Rule(
    code="V005",
    name="older-vault",
    about="vault",
    severity="note",
    engine="accepts",
    why=(
        "The vault's folder also holds backups of an earlier version of opsinfo, which kept them in `objects` and "
        "`changes`. They are left alone: `backups` and `restore` do not know them."
    ),
    fails="an upgrade of opsinfo",
    passes="copy what is needed from `objects`, where contents are named by their SHA-256, then remove the folders",
    source=_SOURCE,
)


def older_vault(vault: Vault) -> Iterator[Finding]:
    if folder := vault.older():
        message = "this folder also holds backups of an earlier version of opsinfo, which are left alone"
        hint = f"copy what you need from {folder}/objects (files named by their SHA-256), then remove the folders"
        yield whole_file(OLDER_VAULT, folder, message, hint)
