"""Restore files: undo the last change as a whole, or restore one content by its id."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from warnings import warn

from ...errors import OpsinfoError, Refused, UsageFault, counted, join_some
from ..cann.file_kind import kind_of
from ..cann.install import version_at
from ..cann.library import Library
from ..cann.mixlist import Mixlist
from ..cann.policy import Policy
from ..cann.target import AnyTarget, target_text
from ..document import Schema, Sha256, headed, optional
from ..text.scanner import scan
from ..text.source import Source
from .file_place import FilePlace, place_of
from .history import History
from .plan import Move
from .record import BackupEntry, Record, file_state, outcome, was_pruned
from .replace_file import Original, digest_at, read_original, sha256_of
from .revert import Left, other_lineage, reverted
from .scope import scope_of
from .vault import Scope
from .vault_place import CHANGE_ID
from .write_settings import WriteSettings
from .writer import Write, Writer, writer_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


REVERT = "revert"
"""The kind of a change that undoes one change by its id."""


class RestoredFile(NamedTuple):
    """One restored file.

    :param entry: the backup
    :param original: the file before; None if there was none
    :param content: its content after; None if it was removed
    :param moved: op types that got back what they had
    :param left: op types of the undone change that were left alone
    """

    entry: BackupEntry
    original: Original | None
    content: bytes | None
    moved: tuple[Move, ...] = ()
    left: tuple[Left, ...] = ()

    @property
    def path(self) -> str:
        return self.entry.file.path

    @property
    def is_whole(self) -> bool:
        """Whether it has the bytes of the backup."""
        return self.sha256 == self.entry.file.before

    @property
    def sha256(self) -> str | None:
        return None if self.content is None else sha256_of(self.content)

    @property
    def current(self) -> bytes | None:
        return self.original and self.original.data


@dataclass(frozen=True)
class FileAndBackup:
    """One file and the backup that it was restored from."""

    path: str
    """The file, as given or under the path given."""
    id: Annotated[str, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup."""
    sha256: Sha256 | None
    """SHA-256 of the restored content; null if the file was removed because the undone change had created it."""


@dataclass(frozen=True, kw_only=True)
class RestoreDocument:
    """The files that were or would be restored. Later versions may add keys."""

    restored: list[FileAndBackup]
    """The files restored, or with dry_run the files that would be restored."""
    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change that restore made; null if nothing was written."""
    left: list[Left] | None = optional()
    """Op types that the undone change moved and that were moved again later; the exit status is 1 then."""
    dry_run: bool
    """Whether writing was skipped because of --dry-run."""


class Restored(NamedTuple):
    """What was or would be restored.

    :param target: as given
    :param change: the id of the change that restored it; None if nothing was written
    """

    target: str
    files: list[RestoredFile]
    change: str | None
    dry_run: bool

    def path_of(self, file: RestoredFile) -> str:
        """Return the path of a file relative to the target as given."""
        if not os.path.lexists(self.target):
            return file.path
        inside = os.path.relpath(file.path, os.path.realpath(self.target))
        if inside == ".":
            return self.target
        return file.path if inside.startswith("..") else os.path.join(self.target, inside)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo restore``."""
        document = RestoreDocument(
            restored=[FileAndBackup(self.path_of(file), file.entry.id, file.sha256) for file in self.files],
            change=self.change,
            left=[each for file in self.files for each in file.left],
            dry_run=self.dry_run,
        )
        return headed("restore", document)


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
    return Restored(text, files, change, writer.is_dry)


def restore_last(writer: Writer, scope: Scope, only: bool = False) -> tuple[str | None, list[RestoredFile]]:
    """Undo the newest change whose result the files have now; one that was interrupted half way counts as such.

    The files of the change that are out of scope are named before they are restored, too.

    :param writer: with ``force`` the newest one is undone even if the files changed since
    :param only: whether to leave the files that are out of scope
    :returns: the id of the new change, None if nothing was written, and the restored files
    :raises UsageFault: if there is nothing left to undo
    :raises Refused: if no change matches the files, or damage to the vault makes that unknown
    """
    while True:
        record, chosen = _to_undo(writer.vault.history(), scope, writer.force, only)
        others = [entry.file.path for entry in chosen if not scope(entry.file.path)]
        if others:
            more = counted(len(others), "other file")
            writer.say(f"change {record.id} has {more}, restored with it: {join_some(others)}; --only leaves them")
        if writer.is_dry:
            return None, _without(writer, writer.vault.history(), chosen)
        with writer.locked([entry.file.path for entry in chosen], ends=True) as (places, history):
            now, entries = _to_undo(history, scope, writer.force, only)
            if [each.id for each in entries] == [each.id for each in chosen]:  # else another process came first
                return _undo("restore", writer, history, history, places, now, entries)


def restore_change(writer: Writer, match: re.Match[str]) -> tuple[str | None, list[RestoredFile]]:
    """Undo one change, and no other: op types that it moved, and that no later one did, get back what they had.

    :param match: of the id of a change, or of one of its files
    :returns: as :func:`restore_last`
    :raises UsageFault: if there is no such change
    :raises Refused: if it is not the newest, and no move
    """
    machine, number, nth = match[1], int(match[2]), match[3]

    def chosen(history: History) -> list[BackupEntry]:
        entries = _by_id(history, lambda _: True, number, nth)
        if not entries:
            raise UsageFault(f"unknown change `{match[0]}`", name="no-backup", hint="`opsinfo backups` lists them")
        if not writer.force:
            history.require_known(since=number)
        return entries

    def of_machine(own: History | None) -> History:
        return own if own and own.machine == machine else writer.vault.history(machine)

    history = of_machine(None)
    entries = chosen(history)
    if writer.is_dry:
        return None, _without(writer, history, entries)
    with writer.locked([entry.file.path for entry in entries], ends=True) as (places, own):
        history = of_machine(own)
        entries = chosen(history)
        return _undo(REVERT, writer, own, history, places, entries[0].record, entries)


def _without(writer: Writer, history: History, entries: Sequence[BackupEntry]) -> list[RestoredFile]:
    """Return the files of a change as they are without it; none if it changed nothing."""
    files = []
    for entry in entries:
        original = _present(entry)
        content, moved, left = reverted(writer.vault, history, entry, original, writer.force)
        file = RestoredFile(entry, original, content, moved, left)
        if file.is_whole and not moved:
            back = (
                Move(name, Policy(after) if after else None, Policy(before) if before else None)
                for name, (before, after) in entry.file.moves.items()
            )
            file = file._replace(moved=tuple(back))
        files.append(file)
    return files


def _undo(
    kind: str,
    writer: Writer,
    own: History,
    history: History,
    places: dict[str, FilePlace],
    record: Record,
    entries: Sequence[BackupEntry],
) -> tuple[str | None, list[RestoredFile]]:
    """:param history: of the machine that made the change; ``own``, or that of another one"""
    files = _without(writer, history, entries)
    is_whole = len(entries) == len(record.files)
    undoes: str | None = record.id if is_whole else ",".join(entry.id for entry in entries)
    if history is not own:  # that machine does not learn of it, so that it is a change of this one
        undoes = None
    change = _write(writer, own, places, files, kind, undoes)
    if record.state == "pending" and history is own:
        undone = [entry.file for entry in entries]
        # what it wrote in the other files stands, and can still be undone
        ended = outcome(replace(record, files=[file for file in record.files if file not in undone]))
        if ended in ("done", "abandoned"):
            with suppress(Refused):
                writer.vault.save(replace(record, state=ended, folders=[]))
    return change, files


def _to_undo(history: History, scope: Scope, force: bool, only: bool) -> tuple[Record, list[BackupEntry]]:
    """Return the change to undo, and its files that were not undone before."""
    newest, chosen, digest = None, list[BackupEntry](), cache(digest_at)
    for record in reversed(history.records):
        # a return to one content by `--to`, and the undo of one change by its id, count as changes of their own
        if (record.undoes and record.kind != REVERT) or record.state == "abandoned":
            continue
        left = [entry for entry in record.entries if not history.is_undone(entry)]
        mine = [entry for entry in left if scope(entry.file.path)]
        if not mine:
            continue
        entries = mine if only else left
        states = {file_state(record, entry.file, digest(entry.file.path)) for entry in entries}
        if states == {"before"}:  # its old content is there again
            continue
        if newest is None:
            newest, chosen = record, entries
        if force or "other" not in states:
            if not force:
                history.require_known(since=record.number)
            if record.pruned:
                raise was_pruned(mine[0].file.path)
            return record, entries
    history.require_known()
    if newest is None:
        raise UsageFault(
            "no change of this target is left to undo",
            name="nothing-to-restore",
            hint="`opsinfo backups` lists changes",
        )
    files = [entry.file for entry in chosen]
    file = next(each for each in files if file_state(newest, each, digest(each.path)) == "other")
    now = digest(file.path)
    if now is None:
        hint = "`opsinfo restore TARGET --to ID` creates it again"
        raise Refused("the file is missing", name="gone", path=file.path, hint=hint)
    if history.lineage_of(file.path, now) != file.lineage:
        raise other_lineage(file)
    message = f"the file was changed again since change {newest.id}; undoing it would lose the later change"
    hint = "choose a backup with --to ID; --force undoes the change anyway, after a backup"
    raise Refused(message, name="changed-since", path=file.path, hint=hint)


def restore_to(writer: Writer, scope: Scope, which: str) -> tuple[str | None, list[RestoredFile]]:
    """Restore one content: a backup or change by its id, or ``pristine``, the first one seen of the file's version.

    :returns: as :func:`restore_last`
    :raises UsageFault: if there is no such backup
    :raises Refused: if the file is of another version than the backup, unless ``force``
    """
    match = CHANGE_ID.fullmatch(which)
    machine = (match and match[1]) or writer.vault.machine

    def wanted(history: History) -> list[BackupEntry]:
        if which == "pristine":
            entries = _pristine(history, scope)
        else:
            entries = _by_id(history, scope, int(match[2]), match[3]) if match else []
        if not entries:
            raise UsageFault(
                f"no backup `{which}` of this target", name="no-backup", hint="`opsinfo backups` lists them"
            )
        return entries

    def contents(history: History) -> list[RestoredFile]:
        restored = [_return_of(writer, history, entry) for entry in wanted(history)]
        for each in restored if not writer.force else []:
            _require_lineage(history, each)
        return restored

    history = writer.vault.history(machine)
    if writer.is_dry:
        return None, contents(history)
    with writer.locked([entry.file.path for entry in wanted(history)]) as (places, own):
        # again: an upgrade may have come during the wait
        restored = contents(own if machine == own.machine else writer.vault.history(machine))
        return _write(writer, own, places, [each for each in restored if each.path in places]), restored


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
    :raises Refused: if the change cannot be read, or was pruned
    """
    if any(number in damage.numbers for damage in history.damage):
        history.require_known(since=number - 1)
    entries = [
        entry
        for entry in history.entries
        if entry.record.number == number
        and nth in (None, str(entry.nth + 1))
        and (entry.file.backup or entry.file.before is None)  # None: the change created the file
        and scope(entry.file.path)
    ]
    if any(entry.record.pruned for entry in entries):
        raise was_pruned()
    return entries


def _require_lineage(history: History, restored: RestoredFile) -> None:
    """:raises Refused: if the file is of another vendor state than the backup, or that is unknown"""
    file = restored.entry.file
    if restored.current is None:
        same = version_at(file.path) == file.version
    else:
        same = history.lineage_of(file.path, sha256_of(restored.current)) == file.lineage
    if not same:
        history.require_known()
        raise other_lineage(file)


def _return_of(writer: Writer, history: History, entry: BackupEntry) -> RestoredFile:
    """Read the present file, and the backup that replaces it."""
    file = RestoredFile(entry, _present(entry), None if entry.file.before is None else writer.vault.content(entry))
    return file._replace(moved=tuple(_moved_by_return(history, file)))


def _moved_by_return(history: History, restored: RestoredFile) -> Iterator[Move]:
    """Yield the moves that a return to an old content makes, of op types that some change named.

    A file of the same vendor version is compared as it is. In one of another version the policies are the vendor's, so
    that the last requests are compared instead.
    """
    path, now = restored.path, restored.current
    with suppress(OpsinfoError):  # a file that was damaged, or a mixlist that the engine refuses
        old, new = (Source(data or b"{}", path, strict=False) for data in (now, restored.content))
        if "mixlist" in (kind_of(old), kind_of(new)):
            marks, back = Mixlist(scan(old)), Mixlist(scan(new))
            for name in {**marks.marks, **back.marks}:
                if marks.marks_of(name) != back.marks_of(name):
                    yield Move(name, marks.alone(name), back.alone(name))
            return
        asked = history.asked().get(path, {})
        policies = {name: entry.file.moves[name][1] for name, entry in asked.items()}
        before = {name: Policy(policy) if policy else None for name, policy in policies.items()}
        if now is not None and history.lineage_of(path, sha256_of(now)) == restored.entry.file.lineage:
            known = {name for entry in history.by_path[path] for name in entry.file.moves}.union(before)
            before = {each.name: each.policy_or_none for each in Library.of(old).entries.values() if each.name in known}
        for name, entry in Library.of(new).entries.items():
            if name in before and entry.policy_or_none is not before[name]:
                yield Move(name, before[name], entry.policy_or_none)


def _present(entry: BackupEntry) -> Original | None:
    if not os.path.lexists(entry.file.path):
        return None
    with place_of(entry.file.path) as place:
        return read_original(place)


def _write(
    writer: Writer,
    history: History,
    places: dict[str, FilePlace],
    restored: Sequence[RestoredFile],
    kind: str = "restore",
    undoes: str | None = None,
) -> str | None:
    """:returns: the id of the change; None if every file has the content already"""
    writes = [
        Write(places[each.path], each.original, each.content, each.entry.file.given, each.moved)
        for each in restored
        if each.current != each.content
    ]
    return writer.commit(kind, history, writes, undoes).id if writes else None
