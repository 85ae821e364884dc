"""Findings on opsinfo's own changes: damage in the vault, lost edits, and remains of killed runs."""

from __future__ import annotations

from collections.abc import Iterator

from ..change.chain import Scope
from ..change.interrupted import outcome, shut_left_open, unfinished
from ..change.reapply import lost_edits
from ..change.vault import Vault
from ..change.vault_check import damage_in
from .finding import Finding, whole_file


def check_vault(vault: Vault, scope: Scope) -> Iterator[Finding]:
    """Yield the findings, and restore the modes of folders that killed processes left writable.

    Damage is reported for every scope, because the path of a damaged record is unknown.
    """
    yield from damaged_backups(vault, contents=True)
    yield from forked_history(vault)
    for record, folders in shut_left_open(vault):
        for folder in folders:
            said = f"change {record.id} was killed and left this folder writable; its mode was restored"
            yield whole_file("modes-left-open", folder, said)
    yield from unfinished_change(vault, scope)
    yield from edits_lost(vault, scope)


def damaged_backups(vault: Vault, contents: bool) -> Iterator[Finding]:
    """:param contents: whether to compare every content with its checksum as well"""
    for damage in damage_in(vault, contents):
        paths = ", ".join(sorted({key.path for key in damage.keys}))
        about = f"; it is of {paths}" if paths else ""
        hint = f"`opsinfo restore` refuses unverified content; copy what you need from {vault.place('objects', '')}"
        yield whole_file("damaged-backup", damage.path, f"{damage.said}{about}", hint)


def forked_history(vault: Vault) -> Iterator[Finding]:
    for key, previous, names in vault.journal().forks():
        after = f"change {previous}" if previous else "the beginning"
        said = f"{' and '.join(names)} both follow {after} of {key.path}: two machines or copies of the vault wrote"
        hint = "`restore` uses the branch that was written last; --to ID selects a backup of the other one"
        yield whole_file("forked-history", vault.place("changes", names[-1]), said, hint)


def unfinished_change(vault: Vault, scope: Scope) -> Iterator[Finding]:
    for record in vault.pending():
        paths = [changed.path for changed in record.files if scope(changed.path)]
        state = outcome(vault, record) if paths and not vault.has_writer(record) else "done"
        if state in ("half", "torn"):
            error = unfinished(record, state, paths[0])
            yield whole_file("unfinished-change", paths[0], error.message, error.hint)


def edits_lost(vault: Vault, scope: Scope) -> Iterator[Finding]:
    for lost in lost_edits(vault, scope):
        names = ", ".join(f"`{name}` {policy}" for name, policy in lost.wanted.items())
        gone = f"; not in the new file: {', '.join(lost.gone)}" if lost.gone else ""
        said = f"your changes from {', '.join(lost.changes)} are gone: the file was replaced ({names or 'none'}{gone})"
        yield whole_file("edits-lost", lost.path, said, "`opsinfo reapply` applies them to the new file")
