"""Rules on opsinfo's own changes: damage in the vault, lost edits, and remains of killed runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .finding import Finding, Rule, whole_file

if TYPE_CHECKING:
    from ..change.chain import Scope
    from ..change.vault import Vault

_SOURCE = "opsinfo, docs/architecture.md, Changing"


def check_vault(vault: Vault, scope: Scope) -> Iterator[Finding]:
    """Yield the findings, and restore the modes of folders that killed processes left writable.

    Damage is reported for every scope, because the path of a damaged record is unknown.
    """
    yield from damaged_backups(vault, contents=True)
    yield from forked_history(vault)
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
    from ..change.interrupted import shut_left_open

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
    from ..change.interrupted import outcome, unfinished

    for record in vault.pending():
        paths = [changed.path for changed in record.files if scope(changed.path)]
        state = outcome(vault, record) if paths and not vault.has_writer(record) else "done"
        if state in ("half", "torn"):
            error = unfinished(record, state, paths[0])
            yield whole_file(UNFINISHED_CHANGE, paths[0], error.message, error.hint)


DAMAGED_BACKUP = Rule(
    code="V004",
    name="damaged-backup",
    about="vault",
    severity="error",
    engine="accepts",
    why=(
        "A record, head or content of the vault is damaged or missing, or a file is there that opsinfo did not write. "
        "Every record and head carries a checksum and every content is named by its own. `restore` refuses "
        "content that it cannot verify."
    ),
    fails="a disk that loses a block, or rm in the vault",
    passes="keep what is needed from the vault's `objects`, then use a new vault: --backup-dir DIR",
    source=_SOURCE,
)


def damaged_backups(vault: Vault, contents: bool) -> Iterator[Finding]:
    """:param contents: whether to compare every content with its checksum as well"""
    from ..change.vault_check import damage_in

    for damage in damage_in(vault, contents):
        paths = ", ".join(sorted({key.path for key in damage.keys}))
        about = f"; it is of {paths}" if paths else ""
        hint = f"`opsinfo restore` refuses unverified content; copy what you need from {vault.place('objects', '')}"
        yield whole_file(DAMAGED_BACKUP, damage.path, f"{damage.said}{about}", hint)


FORKED_HISTORY = Rule(
    code="V005",
    name="forked-history",
    about="vault",
    severity="warning",
    engine="accepts",
    why=(
        "Two changes of one file follow the same change: two machines with one machine-id, or two copies of the vault, "
        "wrote into it. Both branches are kept; `restore` follows the one that was written last."
    ),
    fails="one vault shared by two machines that were cloned with their /etc/machine-id",
    passes="one vault or one machine-id per machine",
    source=_SOURCE,
)


def forked_history(vault: Vault) -> Iterator[Finding]:
    for key, previous, names in vault.journal().forks():
        after = f"change {previous}" if previous else "the beginning"
        message = f"{' and '.join(names)} both follow {after} of {key.path}: two machines or copies of the vault wrote"
        hint = "`restore` uses the branch that was written last; --to ID selects a backup of the other one"
        yield whole_file(FORKED_HISTORY, vault.place("changes", names[-1]), message, hint)
