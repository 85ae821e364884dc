"""What a file becomes without one change, as with `git revert`: its op types get back what they had before it.

The old bytes come back where nothing else has changed the file. Else the moves of the change are taken back one by one,
and an op type that was moved again later is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import Refused, join_some
from ..cann.file_kind import kind_of
from ..cann.install import version_at
from ..cann.library import Library
from ..cann.marks import Mark
from ..cann.mixlist import Mixlist
from ..cann.policy import Policy
from ..text.scanner import scan
from ..text.source import Source
from .history import History
from .plan import EntriesPlan, Job, MarksPlan, Move, planned
from .record import BackupEntry, ChangedFile
from .replace_file import Original, sha256_of
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


class Reverted(NamedTuple):
    """
    :param content: the file without the change; None if there is none then
    :param moved: the moves back; empty if the old bytes are back
    """

    content: bytes | None
    moved: tuple[Move, ...] = ()
    left: tuple[Left, ...] = ()


def reverted(vault: Vault, history: History, entry: BackupEntry, original: Original | None, force: bool) -> Reverted:
    """Return a file without one change.

    :param history: of the machine that made the change
    :param original: the file now; None if there is none
    :param force: whether the old bytes come back where the moves cannot be taken back
    :raises Refused: if the change is no move, and others followed; or if something else replaced the file
    """
    file = entry.file
    now, after = original and sha256_of(original.data), history.later(entry)
    later = [each.record.id for each in after if history.stands(each)]
    movers = history.last_moves(after)
    old = None if file.before is None else vault.content(entry)
    if entry.record.state == "pending" or (not later and now in (file.before, file.after)):
        return Reverted(old)
    is_ours = now is not None and (
        now in (file.before, file.after) or history.lineage_of(file.path, now) == file.lineage
    )
    if original is None:
        if not force and old is not None:
            hint = "`opsinfo restore TARGET --to ID` creates it again"
            raise Refused("the file is missing", name="gone", path=file.path, hint=hint)
        return Reverted(old)
    if (force and not (file.moves and is_ours)) or (now == file.before and not file.moves):
        return Reverted(old)
    if not file.moves:
        raise Refused(
            f"change {entry.record.id} ({entry.record.kind}) has no moves to take back, and the file was changed since"
            + (f": {join_some(later)}" if later else ""),
            name="changed-since",
            path=file.path,
            hint=f"`opsinfo restore TARGET --to {entry.id}` returns to the content before it, without what followed",
        )
    moves = history.standing_moves(entry)
    source = Source(original.data, file.path)
    if kind_of(source) == "mixlist":
        return _without_marks(source, moves, old, _written_by(vault, history, entry), movers)
    if not is_ours:
        raise other_lineage(file)
    return _without_flags(source, moves, old or b"{}", movers)


def _written_by(vault: Vault, history: History, entry: BackupEntry) -> bytes | None:
    """Return the content that a change wrote, if a later change backed it up."""
    copies = (other for other in history.by_path[entry.file.path] if other.file.before == entry.file.after)
    return next((vault.content(copy) for copy in copies if not copy.record.pruned and vault.has(copy)), None)


def _without_marks(
    source: Source,
    moves: Iterable[str],
    old: bytes | None,
    written: bytes | None,
    movers: Mapping[str, BackupEntry],
) -> Reverted:
    """:param written: what the change wrote; None if that is not known"""
    path = source.path
    now, before = Mixlist(scan(source)), Mixlist(scan(Source(old or b"{}", path)))
    after = None if written is None else Mixlist(scan(Source(written, path)))
    wanted: dict[str, frozenset[Mark]] = {}
    left = []
    for name in moves:
        marks = now.marks_of(name)
        if name in movers:
            left.append(Left(name, path, movers[name].record.id))
        elif marks != before.marks_of(name):
            if after is not None and marks != after.marks_of(name):
                left.append(Left(name, path, None))
            else:
                wanted[name] = before.marks_of(name)
    file = planned(Job(path, MarksPlan(wanted)), source)
    return Reverted(file.result.data, tuple(file.moved), tuple(left))


def _without_flags(
    source: Source, moves: Mapping[str, Sequence[str | None]], old: bytes, movers: Mapping[str, BackupEntry]
) -> Reverted:
    path, now = source.path, Library.of(source)
    wanted: dict[str, Policy] = {}
    left = []
    for name, (before, after) in moves.items():
        policy = str(now.entries[name].policy) if name in now.entries else None
        if name in movers:
            left.append(Left(name, path, movers[name].record.id))
        elif policy != before:
            if policy != after or before is None:
                left.append(Left(name, path, None))
            else:
                wanted[name] = Policy(before)
    file = planned(Job(path, EntriesPlan(wanted, Library.of(Source(old, path)))), source)
    return Reverted(file.result.data, tuple(file.moved), tuple(left))


def other_lineage(file: ChangedFile) -> Refused:
    """Return the error for a file that something other than opsinfo has replaced since."""
    before, now = file.version or "unknown", version_at(file.path) or "unknown"
    differs = f"CANN of the backup: {before}, of the file: {now}" if before != now else "opsinfo wrote other content"
    message = f"something other than opsinfo, such as an upgrade, has replaced the file since the backup ({differs})"
    hint = "`opsinfo reapply` applies lost moves to the new file; --force restores the old one anyway"
    return Refused(message, name="other-lineage", path=file.path, hint=hint)
