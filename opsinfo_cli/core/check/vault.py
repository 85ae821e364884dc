"""Rules on opsinfo's own changes: damage in the vault, lost edits, and remains of killed runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...errors import OpsinfoError, counted, join_some
from ..cann.file_kind import is_library_name
from ..change.container import HINT, LOST, is_lost_with_container
from ..change.history import History
from ..change.reapply import lost_edits
from ..change.record import outcome, unfinished
from ..change.standing import edits_in
from ..change.vault import Scope, Vault
from ..change.writer import shut_left_open
from ..text.source import Source
from .finding import Finding, whole_file


def check_vault(vault: Vault, scope: Scope, libraries: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the findings, and restore the modes of folders that killed processes left writable.

    Damage is reported for every scope, because the path of a damaged record is unknown.

    :param libraries: files that may be copies of those of the vault
    """
    histories = vault.histories()
    own = histories[-1]  # the files of other machines that share the vault are not here
    yield from damaged_backups(vault, histories)
    yield from older_vault(vault)
    yield from vault_in_container(vault)
    yield from modes_left_open(vault, own)
    yield from unfinished_change(vault, own, scope)
    yield from edits_lost(own, scope)
    yield from edited_here(vault, own, [*filter(scope, own.by_path), *libraries])


def edited_here(vault: Vault, history: History, paths: Sequence[str]) -> Iterator[Finding]:
    for path in {os.path.realpath(path): path for path in paths}.values():
        if is_library_name(path) and os.path.isfile(path):
            with suppress(OpsinfoError):  # other rules say what is wrong with the file
                edits = list(edits_in(vault, history, Source.read(path)))
                changes = ", ".join(sorted({edit.change for edit in edits if edit.change})) or "an earlier change"
                names = join_some([f"`{edit.name}` {edit.before} -> {edit.now}" for edit in edits], 10)
                if edits:
                    message = f"{counted(len(edits), 'op type')} of this library changed here ({changes}): {names}"
                    yield whole_file("edited-here", path, message, "`opsinfo restore CHANGE` undoes one of the changes")


def edits_lost(history: History, scope: Scope) -> Iterator[Finding]:
    for lost in lost_edits(history, scope):
        names = ", ".join(f"`{name}` {policy}" for name, policy in lost.wanted.items()) or "none"
        gone = f"; not in the new file: {', '.join(lost.gone)}" if lost.gone else ""
        message = f"your changes from {', '.join(lost.changes)} are gone: the file was replaced ({names}{gone})"
        yield whole_file("edits-lost", lost.path, message, "`opsinfo reapply` applies them to the new file")


def modes_left_open(vault: Vault, history: History) -> Iterator[Finding]:
    for record, folders in shut_left_open(vault, history):
        for folder in folders:
            message = f"change {record.id} was killed and left this folder writable; its mode was restored"
            yield whole_file("modes-left-open", folder, message)


def unfinished_change(vault: Vault, history: History, scope: Scope) -> Iterator[Finding]:
    for record in history.records:
        paths = [file.path for file in record.files if scope(file.path)]
        if record.state == "pending" and paths and outcome(record) in ("half", "torn") and not vault.is_in_use():
            error = unfinished(record, paths[0])
            yield whole_file("unfinished-change", paths[0], error.message, error.hint)


def damaged_backups(vault: Vault, histories: Sequence[History]) -> Iterator[Finding]:
    for damage in vault.damage(True, histories):
        hint = f"`opsinfo restore` refuses unverified content; the backups in {vault.folder} are plain files"
        yield whole_file("damaged-backup", damage.path, damage.message, hint)


def older_vault(vault: Vault) -> Iterator[Finding]:
    if folder := vault.older():
        message = "this folder also holds backups of an earlier version of opsinfo, which are left alone"
        hint = f"copy what you need from {folder}/objects (files named by their SHA-256), then remove the folders"
        yield whole_file("older-vault", folder, message, hint)


def vault_in_container(vault: Vault) -> Iterator[Finding]:
    if is_lost_with_container(vault.path, os.environ):
        yield whole_file("vault-in-container", vault.path, f"the vault is {LOST}", HINT)
