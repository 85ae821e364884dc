"""The answers of `backups` and `restore`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import counted
from ..change.restore import Restored
from ..change.vault import Damage, Entry, Vault
from ..terminal.answer import Answer, Block, Cell, Column, Diff, Either, Line, Lines, Place, Span, Table, members
from ..terminal.unified_diff import diff_of_bytes


class Backup(NamedTuple):
    """One file of one change, with its content before the change.

    :param state: of the change: pending, done, abandoned or undone
    """

    entry: Entry
    pristine: bool
    state: str


def backups_answer(
    vault: Vault,
    backups: Sequence[Backup],
    damage: Sequence[Damage],
    pruned: list[str] | None,
    dry_run: bool,
    verbose: bool,
) -> Answer:
    """:param pruned: the ids of the backups that ``--prune`` removed; None without it
    :param dry_run: whether they only would be removed
    :param verbose: whether a terminal shows a block for each backup instead of a row
    """
    columns = [*map(Column, ("id", "date", "before", "state")), Column("file", dim=True)]
    table = Table(columns, map(_cells, backups), lambda: map(_fields, backups))

    def blocks() -> list[Block]:
        if not backups:
            return []
        lines = Lines([line for backup in backups for line in _block(backup)])
        return [Either(lambda: [lines if verbose else table], lambda: [table])]

    notes = []
    if pruned is not None:
        notes.append(f"{len(pruned)} backups {'would be' if dry_run else 'were'} dropped")
    elif not backups:
        notes.append(f"no backups in {vault.path}")
    return Answer(lambda: _document(vault, backups, damage, pruned), blocks, notes=notes, status=1 if damage else 0)


def _cells(backup: Backup) -> list[Cell]:
    record, state = backup.entry.record, "" if backup.state == "done" else backup.state
    place, time = Place(backup.entry.file.path), record.time[:16].replace("T", " ")
    return [backup.entry.id, time, record.kind, "pristine" if backup.pristine else state, place]


def _fields(backup: Backup) -> tuple[str, ...]:
    entry, record, file = backup.entry, backup.entry.record, backup.entry.file
    pristine, version = "pristine" if backup.pristine else "-", file.version or "-"
    return entry.id, record.time, pristine, version, file.path, backup.state, shlex.join(record.command)


def _block(backup: Backup) -> list[Line]:
    """Return all details of a backup, with the whole path."""
    entry, record = backup.entry, backup.entry.record
    version = entry.file.version or "unknown"
    words = [record.time, *(["pristine"] if backup.pristine else []), f"CANN {version}", backup.state]
    head = [Span(entry.id, "note"), Span(f"  {'  '.join(words)}")]
    return [head, f"    {entry.file.path}", f"    before: {shlex.join(record.command)}"]


def _document(
    vault: Vault, backups: Sequence[Backup], damage: Sequence[Damage], pruned: list[str] | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "vault": vault.path,
        "backups": [
            {
                **members(backup, "pristine", "state"),
                **members(backup.entry.file, "path", "lineage", "version"),
                **members(backup.entry.record, "time", "command", "user", "machine"),
                "id": backup.entry.id,
                "change": backup.entry.record.id,
                "sha256": backup.entry.file.before,
                "reason": backup.entry.record.kind,
            }
            for backup in backups
        ],
    }
    if damage:
        document["damaged"] = [members(each, "path", "message") for each in damage]
    if pruned is not None:
        document["pruned"] = pruned
    return document


def restore_answer(target: str, change: str | None, restored: Sequence[Restored], dry_run: bool) -> Answer:
    """:param change: the id of the restore; None if nothing was written"""
    paths = {each.path: _as_given(target, each.path) for each in restored}

    def document() -> Mapping[str, Any]:
        files = [{"path": paths[each.path], "id": each.entry.id, "sha256": each.sha256} for each in restored]
        return {"restored": files, "change": change, "dry_run": dry_run}

    def lines() -> list[Block]:
        return [
            Lines(
                f"{paths[each.path]} as it was before {each.entry.id}" if each.sha256 else f"{paths[each.path]} removed"
                for each in restored
            )
        ]

    def rows() -> list[Block]:
        columns = [Column("file"), Column("id"), Column("SHA-256")]
        return [Table(columns, [(paths[each.path], each.entry.id, each.sha256 or "-") for each in restored])]

    def blocks() -> list[Block]:
        if dry_run:
            texts = (diff_of_bytes(paths[each.path], each.current, each.content) for each in restored)
            return [Diff(text) for text in texts if text]
        return [Either(lines, rows)]

    different = [each for each in restored if each.current != each.content]
    words = counted(len(different), "file")
    note = f"{words} {'would be restored' if dry_run else 'restored'}" if different else "nothing to change"
    return Answer(document, blocks, notes=[note], paged=False)


def _as_given(target: str, real: str) -> str:
    """Return a real path relative to the TARGET as given."""
    if not os.path.lexists(target):
        return real
    inside = os.path.relpath(real, os.path.realpath(target))
    return target if inside == "." else real if inside.startswith("..") else os.path.join(target, inside)
