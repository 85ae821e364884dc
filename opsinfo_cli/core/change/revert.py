"""What a file becomes by a restore: without one change, as by `git revert`, or with the content of a backup.

Without a change, the old bytes come back where nothing else has changed the file. Else the moves of the change that
stand are taken back one by one, and an op type that was moved again is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import OpsinfoError, Refused, join_some
from ..cann.file_kind import kind_of
from ..cann.install import version_at
from ..cann.library import Library
from ..cann.mixlist import Mixlist
from ..cann.policy import Policy
from ..text.scanner import scan
from ..text.source import Source
from .file_place import place_of
from .history import History
from .plan import Job, LibraryPlan, MixlistPlan, Move, planned
from .record import BackupEntry, ChangedFile
from .replace_file import Original, read_original, sha256_of
from .vault import Vault


@dataclass(frozen=True)
class Left:
    """An op type of the undone change that was left as it is."""

    name: str
    """The op type."""
    path: str
    """The file."""
    change: str | None
    """The id of the later change that moved it; null if something other than opsinfo did."""


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


def without_change(vault: Vault, history: History, entry: BackupEntry, force: bool) -> RestoredFile:
    """Return a file without one change.

    :param history: of the machine that made the change
    :param force: whether the old bytes come back where the moves cannot be taken back
    :raises Refused: if the change is no move, and others followed; or if something else replaced the file
    """
    record, file = entry.record, entry.file
    original, old = _present(file.path), _old_content(vault, entry)
    now = original and sha256_of(original.data)
    later = [each for each in history.by_path[file.path] if each.record.number > record.number]
    followed = [each.record.id for each in later if history.stands(each)]
    back = (
        Move(name, Policy(after) if after else None, Policy(before) if before else None)
        for name, (before, after) in file.moves.items()
    )
    whole = RestoredFile(entry, original, old, tuple(back))
    if record.state == "pending" or (not followed and now in (file.before, file.after)):
        return whole
    if original is None:
        if not force and old is not None:
            hint = "`opsinfo restore TARGET --to ID` creates it again"
            raise Refused("the file is missing", name="gone", path=file.path, hint=hint)
        return whole
    is_ours = now in (file.before, file.after) or history.lineage_of(file.path, str(now)) == file.lineage
    if (force and not (file.moves and is_ours)) or (now == file.before and not file.moves):
        return whole
    if not file.moves:
        raise Refused(
            f"change {record.id} ({record.kind}) has no moves to take back, and the file was changed since"
            + (f": {join_some(followed)}" if followed else ""),
            name="changed-since",
            path=file.path,
            hint=f"`opsinfo restore TARGET --to {entry.id}` returns to the content before it, without what followed",
        )
    if kind_of(Source(original.data, file.path)) != "mixlist" and not is_ours:
        raise other_lineage(file)
    return _without_moves(vault, history, whole, history.last_moves(later))


def _without_moves(
    vault: Vault, history: History, whole: RestoredFile, movers: Mapping[str, BackupEntry]
) -> RestoredFile:
    """Give each op type that the change moved what it had before: its policy in a library, its marks in a mixlist.

    :param whole: the file with its old bytes
    :param movers: later changes, by the op types that they moved
    """
    entry, path = whole.entry, whole.path
    source, old = Source(whole.current or b"", path), Source(whole.content or b"{}", path)
    # op type -> what the file said of it before the change, after it, and says now; after it: None if that is not known
    values: dict[str, tuple[Any, Any, Any]] = {}
    if is_mixlist := kind_of(source) == "mixlist":
        written = _written_by(vault, history, entry)
        after = None if written is None else Mixlist(scan(Source(written, path)))
        before, now = Mixlist(scan(old)), Mixlist(scan(source))
        for name in history.standing_moves(entry):
            values[name] = before.marks_of(name), after.marks_of(name) if after else None, now.marks_of(name)
    else:
        earlier, library = Library.of(old), Library.of(source)
        for name, (_, policy) in history.standing_moves(entry).items():
            was, here = earlier.entries.get(name), library.entries.get(name)
            values[name] = was and was.policy_or_none, policy and Policy(policy), here and here.policy_or_none
    wanted: dict[str, Any] = {}
    left = []
    for name, (was, made, value) in values.items():
        if name in movers:
            left.append(Left(name, path, movers[name].record.id))
        elif value != was:
            if was is None or made not in (None, value):
                left.append(Left(name, path, None))
            else:
                wanted[name] = was
    file = planned(Job(path, MixlistPlan(wanted) if is_mixlist else LibraryPlan(wanted, before=earlier)), source)
    return whole._replace(content=file.result.data, moved=tuple(file.moved), left=tuple(left))


def _written_by(vault: Vault, history: History, entry: BackupEntry) -> bytes | None:
    """Return the content that a change wrote, if a later change backed it up."""
    copies = (other for other in history.by_path[entry.file.path] if other.file.before == entry.file.after)
    return next((vault.content(copy) for copy in copies if not copy.record.pruned and vault.has(copy)), None)


def at_backup(vault: Vault, history: History, entry: BackupEntry, force: bool) -> RestoredFile:
    """Return a file with the content of a backup.

    :param force: whether it may be of another vendor state than the backup
    :raises Refused: if it is, or that is unknown
    """
    file, original = entry.file, _present(entry.file.path)
    restored = RestoredFile(entry, original, _old_content(vault, entry))
    now = original and history.lineage_of(file.path, sha256_of(original.data))
    is_same = now == file.lineage if original else version_at(file.path) == file.version
    if not is_same and not force:
        history.require_known()
        raise other_lineage(file)
    return restored._replace(moved=tuple(_moves_of_return(history, restored, is_same and original is not None)))


def _moves_of_return(history: History, restored: RestoredFile, is_same: bool) -> Iterator[Move]:
    """Yield the moves that a return to an old content makes, of op types that some change named.

    In a file of another vendor state the policies are the vendor's: those that are asked for are compared instead.

    :param is_same: whether the file is of the same vendor state
    """
    path = restored.path
    with suppress(OpsinfoError):  # a file that was damaged, or a mixlist that the engine refuses
        old, new = (Source(data or b"{}", path, strict=False) for data in (restored.current, restored.content))
        if "mixlist" in (kind_of(old), kind_of(new)):
            marks, back = Mixlist(scan(old)), Mixlist(scan(new))
            for name in {**marks.marks, **back.marks}:
                if marks.marks_of(name) != back.marks_of(name):
                    yield Move(name, marks.alone(name), back.alone(name))
            return
        asked = {name: entry.file.moves[name][1] for name, entry in history.asked().get(path, {}).items()}
        before = {name: Policy(policy) if policy else None for name, policy in asked.items()}
        if is_same:
            known = {name for entry in history.by_path[path] for name in entry.file.moves}.union(before)
            before = {each.name: each.policy_or_none for each in Library.of(old).entries.values() if each.name in known}
        for name, entry in Library.of(new).entries.items():
            if name in before and entry.policy_or_none is not before[name]:
                yield Move(name, before[name], entry.policy_or_none)


def _present(path: str) -> Original | None:
    if not os.path.lexists(path):
        return None
    with place_of(path) as place:
        return read_original(place)


def _old_content(vault: Vault, entry: BackupEntry) -> bytes | None:
    return None if entry.file.before is None else vault.content(entry)


def other_lineage(file: ChangedFile) -> Refused:
    """Return the error for a file that something other than opsinfo has replaced since."""
    before, now = file.version or "unknown", version_at(file.path) or "unknown"
    differs = f"CANN of the backup: {before}, of the file: {now}" if before != now else "opsinfo wrote other content"
    message = f"something other than opsinfo, such as an upgrade, has replaced the file since the backup ({differs})"
    hint = "`opsinfo reapply` applies lost moves to the new file; --force restores the old one anyway"
    return Refused(message, name="other-lineage", path=file.path, hint=hint)
