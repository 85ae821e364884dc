"""`opsinfo backups`: list and prune the backups in the vault."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from ..change.history import Damage
from ..change.record import Entry
from ..change.scope import scope_of
from ..change.vault import Vault
from ..terminal.answer import Answer, Block, Cell, Column, Either, Line, Lines, Place, Span, Table, members
from ..terminal.console import Console
from ..terminal.params import (
    TARGET,
    Command,
    WriteOptions,
    backup_dir_option,
    bundle,
    dry_run_option,
    option,
    prints,
    wait_option,
)
from ..terminal.write import vault_of


@click.command("backups", cls=Command)
@click.argument("target", required=False, type=TARGET)
@option(
    "--prune",
    "keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the newest N backups of each file and every pristine one; drop the rest.",
)
@bundle("writing", WriteOptions, dry_run_option, wait_option, backup_dir_option)
@prints()
def command(target: str | None, keep: int | None, writing: WriteOptions, console: Console) -> Answer:
    """List the backups of TARGET, or all backups, oldest first.

    The first content seen of a file is its pristine one, and so is the first one after an upgrade; pruning never drops
    these, nor the newest. Damage in the vault is reported, with exit status 1.

    \b
    Examples:
      opsinfo backups
      opsinfo backups ascend910b
      opsinfo backups --prune 20 --dry-run
    """
    vault, scope = vault_of(writing), scope_of(target)
    dropped: list[str] = []
    if keep and (writing.dry_run or not os.path.isdir(vault.folder)):
        dropped = vault.prune(scope, keep, dry_run=True)
    elif keep:
        with vault.locked(time.monotonic() + writing.wait):
            dropped = vault.prune(scope, keep, dry_run=False)
    histories = vault.histories()
    backups = [
        Backup(entry, entry.id in pristine, "undone" if entry.record.id in history.undone else entry.record.state)
        for history in histories
        for pristine in [history.pristine_ids()]
        for entry in history.entries
        if scope(entry.file.path) and entry.id not in dropped and not entry.record.pruned and vault.has(entry)
    ]
    damage = vault.damage(False, histories)
    for each in damage:
        console.error(f"damaged-backup: {each.path}: {each.message}")
    return backups_answer(vault, backups, damage, dropped if keep else None, writing.dry_run, bool(console.verbose))


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
    command, why = shlex.join(record.command), record.why or "-"
    return entry.id, record.time, pristine, version, file.path, backup.state, command, why


def _block(backup: Backup) -> list[Line]:
    """Return all details of a backup, with the whole path."""
    entry, record = backup.entry, backup.entry.record
    version = entry.file.version or "unknown"
    words = [record.time, *(["pristine"] if backup.pristine else []), f"CANN {version}", backup.state]
    head = [Span(entry.id, "note"), Span(f"  {'  '.join(words)}")]
    lines: list[Line] = [head, f"    {entry.file.path}", f"    before: {shlex.join(record.command)}"]
    return [*lines, f"    why: {record.why}"] if record.why else lines


def _document(
    vault: Vault, backups: Sequence[Backup], damage: Sequence[Damage], pruned: list[str] | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "vault": vault.path,
        "backups": [
            {
                **members(backup, "pristine", "state"),
                **members(backup.entry.file, "path", "lineage", "version"),
                **members(backup.entry.record, "time", "command", "user", "machine", "why"),
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
