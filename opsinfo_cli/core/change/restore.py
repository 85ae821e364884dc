"""Restore files: undo the last change as a whole, or restore one content by its id."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from warnings import warn

from ...errors import Refused, UsageFault, counted, join_some
from ...opening import is_below
from ..cann.target import AnyTarget, target_text
from ..document import Schema, Sha256, headed, internal, optional
from .history import History
from .record import BackupEntry, file_state, outcome
from .replace_file import digest_at
from .revert import Left, RestoredFile, at_backup, other_lineage, without_change
from .scope import scope_of
from .vault import Scope, Vault
from .vault_place import CHANGE_ID
from .write_settings import WriteSettings
from .writer import Write, Writer, writer_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class FileAndBackup:
    """One file and the backup that it was restored from."""

    path: str
    """The file, as given or under the path given; its real path where TARGET is a change or the name of a chip."""
    id: Annotated[str, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup."""
    sha256: Sha256 | None
    """SHA-256 of the restored content; null if the file was removed because the undone change had created it."""


@dataclass(frozen=True, kw_only=True)
class Restored:
    """The files that were or would be restored. Later versions may add keys."""

    target: str = internal()
    files: list[RestoredFile] = internal()
    restored: list[FileAndBackup]
    """The files restored, or with dry_run the files that would be restored."""
    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change that restore made; null if nothing was written."""
    left: list[Left] | None = optional()
    """Op types that the undone change moved and that were moved again later; the exit status is 1 then."""
    dry_run: bool
    """Whether writing was skipped because of --dry-run."""

    @classmethod
    def of(cls, target: str, files: list[RestoredFile], change: str | None, dry_run: bool) -> Restored:
        """:param target: as given"""
        restored = [FileAndBackup(_shown(file.path, target), file.entry.id, file.sha256) for file in files]
        left = [each for file in files for each in file.left]
        return cls(target=target, files=files, restored=restored, change=change, left=left, dry_run=dry_run)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo restore``."""
        return headed("restore", self)


def _shown(path: str, target: str) -> str:
    """Return a real path as given or under the path given, which need not exist: an undo may have removed the file."""
    root = target.rpartition("@")[0]  # of PACKAGE@SOC
    for given in (target, root) if root else (target,):
        real = os.path.realpath(given)
        if path == real:
            return given
        if is_below(path, real):
            return os.path.join(given, os.path.relpath(path, real))
    return path


def restore(
    target: AnyTarget,
    to: str | None = None,
    *,
    only: bool = False,
    say: Callable[[str], None] = warn,
    **settings: Unpack[WriteSettings],
) -> Restored:
    """Undo the last change of a target as a whole, or restore one backup, as ``opsinfo restore``.

    :param target: a target, or the id of a change to undo
    :param only: leave the files of the last change that do not belong to the target
    :param to: the id of a backup or change, or ``pristine``; None to undo the last change
    :param say: called with what else is restored
    :param settings: :class:`.WriteSettings`; with ``force`` even if the file changed since, or is of another CANN
    :raises UsageFault: if there is nothing to undo, or no such backup
    :raises Refused: if the files changed since, unless ``force``
    """
    if only and to is not None:
        raise UsageFault("--only is about the last change; --to restores the files of TARGET alone")
    writer = writer_of(settings, say)
    text = target_text(target)
    match = CHANGE_ID.fullmatch(text)
    if match and match[1] and not os.path.lexists(text):
        if to is not None:
            raise UsageFault(f"`{text}` is a change, and --to names another one", hint="give one of them")
        if only:
            message = f"--only leaves what is not of TARGET; `{text}` is a change, or a file of one, not a target"
            raise UsageFault(message, hint="the id of a file of a change, as in 3f2a9c1d-12.1, undoes that file alone")
        change, files = restore_change(writer, match)
    elif to is None:
        change, files = restore_last(writer, scope_of(text), only)
    else:
        change, files = restore_to(writer, scope_of(text), to)
    return Restored.of(text, files, change, writer.is_dry)


def restore_last(writer: Writer, scope: Scope, only: bool = False) -> tuple[str | None, list[RestoredFile]]:
    """Undo the newest change whose result the files have now; one that was interrupted half way counts as such.

    The files of the change that are out of scope are named before they are restored, too.

    :param writer: with ``force`` the newest one is undone even if the files changed since
    :param only: whether to leave the files that are out of scope
    :returns: the id of the new change, None if nothing was written, and the restored files
    :raises UsageFault: if there is nothing left to undo
    :raises Refused: if no change matches the files, or damage to the vault makes that unknown
    """

    def chosen(history: History) -> list[BackupEntry]:
        return _newest(history, scope, writer.force, only)

    return _restore(writer, writer.vault.machine, chosen, without_change, scope=scope)


def restore_change(writer: Writer, match: re.Match[str]) -> tuple[str | None, list[RestoredFile]]:
    """Undo one change, and no other: op types that it moved, and that no later one did, get back what they had.

    :param match: of the id of a change, or of one of its files
    :returns: as :func:`restore_last`
    :raises UsageFault: if there is no such change
    :raises Refused: if it is not the newest, and no move
    """

    def chosen(history: History) -> list[BackupEntry]:
        entries = _by_id(history, lambda _: True, int(match[2]), match[3])
        if not entries:
            raise UsageFault(f"unknown change `{match[0]}`", name="no-backup", hint="`opsinfo backups` lists them")
        if not writer.force:
            history.require_known(since=int(match[2]))
        return entries

    return _restore(writer, match[1], chosen, without_change, kind="revert")


def restore_to(writer: Writer, scope: Scope, which: str) -> tuple[str | None, list[RestoredFile]]:
    """Restore one content: a backup or change by its id, or ``pristine``, the first one seen of the file's version.

    :returns: as :func:`restore_last`
    :raises UsageFault: if there is no such backup
    :raises Refused: if the file is of another version than the backup, unless ``force``
    """
    match = CHANGE_ID.fullmatch(which)

    def chosen(history: History) -> list[BackupEntry]:
        if which == "pristine":
            entries = _pristine(history, scope)
        else:
            entries = _by_id(history, scope, int(match[2]), match[3]) if match else []
        if not entries:
            raise UsageFault(
                f"no backup `{which}` of this target", name="no-backup", hint="`opsinfo backups` lists them"
            )
        return entries

    return _restore(writer, (match and match[1]) or writer.vault.machine, chosen, at_backup)


def _restore(
    writer: Writer,
    machine: str,
    choose: Callable[[History], list[BackupEntry]],
    restored: Callable[[Vault, History, BackupEntry, bool], RestoredFile],
    kind: str = "restore",
    scope: Scope = lambda _: True,
) -> tuple[str | None, list[RestoredFile]]:
    """Choose what to restore, lock it, choose again, and write it as a change.

    :param machine: that made the changes to choose from
    :param restored: what a file becomes
    """
    is_undo = restored is without_change
    while True:
        history = writer.vault.history(machine)
        chosen = choose(history)
        others = [entry.file.path for entry in chosen if not scope(entry.file.path)]
        if others:
            more = counted(len(others), "other file")
            undone = chosen[0].record.id
            writer.say(f"change {undone} has {more}, restored with it: {join_some(others)}; --only leaves them")
        if writer.is_dry:
            return None, [restored(writer.vault, history, entry, writer.force) for entry in chosen]
        with writer.locked([entry.file.path for entry in chosen], ends=is_undo) as (places, own):
            history = own if machine == own.machine else writer.vault.history(machine)
            entries = choose(history)
            if [entry.id for entry in entries] != [entry.id for entry in chosen]:
                continue  # another run came first, or an upgrade
            files = [restored(writer.vault, history, entry, writer.force) for entry in entries]
            writes = [
                Write(places[each.path], each.original, each.content, each.entry.file.given, each.moved)
                for each in files
                if each.current != each.content
            ]
            record = entries[0].record
            undoes: str | None = None
            # a change of another machine is not marked as undone: its history is not ours to write
            ends = is_undo and history is own
            if ends:
                is_whole = len(entries) == len(record.files)
                undoes = record.id if is_whole else ",".join(entry.id for entry in entries)
            change = writer.commit(kind, own, writes, undoes).id if writes else None
            if ends and record.state == "pending":
                # what it wrote in the other files stands, and can still be undone
                stand = [entry.file for entry in record.entries if entry not in entries]
                ended = outcome(replace(record, files=stand))
                if ended in ("done", "abandoned"):
                    with suppress(Refused):
                        writer.vault.save(replace(record, state=ended, folders=[]))
            return change, files


def _newest(history: History, scope: Scope, force: bool, only: bool) -> list[BackupEntry]:
    """Return the files of the change that a plain restore undoes, those that were not undone before."""
    newest, digest = list[BackupEntry](), cache(digest_at)
    for record in reversed(history.records):
        if (record.undoes and record.kind == "restore") or record.state == "abandoned":
            continue
        left = [entry for entry in record.entries if not history.is_undone(entry)]
        mine = [entry for entry in left if scope(entry.file.path)]
        if not mine:
            continue
        entries = mine if only else left
        states = {file_state(record, entry.file, digest(entry.file.path)) for entry in entries}
        if states == {"before"}:  # its old content is there again
            continue
        newest = newest or entries
        if force or "other" not in states:
            if not force:
                history.require_known(since=record.number)
            return entries
    history.require_known()
    if not newest:
        raise UsageFault(
            "no change of this target is left to undo",
            name="nothing-to-restore",
            hint="`opsinfo backups` lists changes",
        )
    record = newest[0].record
    file = next(each.file for each in newest if file_state(record, each.file, digest(each.file.path)) == "other")
    now = digest(file.path)
    if now is None:
        hint = "`opsinfo restore TARGET --to ID` creates it again"
        raise Refused("the file is missing", name="gone", path=file.path, hint=hint)
    if history.lineage_of(file.path, now) != file.lineage:
        raise other_lineage(file)
    message = f"the file was changed again since change {record.id}; undoing it would lose the later change"
    hint = "choose a backup with --to ID; --force undoes the change anyway, after a backup"
    raise Refused(message, name="changed-since", path=file.path, hint=hint)


def _pristine(history: History, scope: Scope) -> list[BackupEntry]:
    newest = {entry.file.path: entry.file.lineage for entry in history.entries if scope(entry.file.path)}
    found = []
    for path, lineage in newest.items():
        digest = digest_at(path)
        known = digest and history.lineage_of(path, digest)
        if not known:
            history.require_known()
        entry = history.pristine(path, known or lineage)
        found += [entry] if entry else []
    return found


def _by_id(history: History, scope: Scope, number: int, nth: str | None) -> list[BackupEntry]:
    """:param nth: which of its files; None for all of them
    :raises Refused: if the change cannot be read
    """
    if any(number in damage.numbers for damage in history.damage):
        history.require_known(since=number - 1)
    return [
        entry
        for entry in history.entries
        if entry.record.number == number and nth in (None, str(entry.nth + 1)) and scope(entry.file.path)
    ]
