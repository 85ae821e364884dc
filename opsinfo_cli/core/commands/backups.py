"""`opsinfo backups`: list and prune the backups in the vault."""

from __future__ import annotations

import shlex

import click

from ...errors import counted
from ..change.backups import Backup, Backups, backups
from ..terminal.answer import Block, Cell, Column, CommandAnswer, Either, Line, Lines, PathCell, Span, Table
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
from ..terminal.write import settings_of


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
def command(target: str | None, keep: int | None, writing: WriteOptions, console: Console) -> CommandAnswer:
    """List the backups of TARGET, or all backups, oldest first.

    The first content seen of a file is its pristine one, and so is the first one after an upgrade; pruning never drops
    these, nor the newest. `made` is a file that did not exist before the change. Damage in the vault is reported, with
    exit status 1.

    \b
    Examples:
      opsinfo backups
      opsinfo backups ascend910b
      opsinfo backups --prune 20 --dry-run
    """
    found = backups(target, prune=keep, **settings_of(writing))
    for each in found.damage:
        console.error(f"damaged-backup: {each.path}: {each.message}")
    return backups_answer(found, bool(console.verbose))


def backups_answer(found: Backups, verbose: bool) -> CommandAnswer:
    """:param verbose: whether a terminal shows a block for each backup instead of a row"""
    columns = [*map(Column, ("id", "date", "before", "state")), Column("file", dim=True)]
    table = Table(columns, map(_cells, found.backups), lambda: map(_fields, found.backups))

    def blocks() -> list[Block]:
        if not found.backups:
            return []
        lines = Lines([line for backup in found.backups for line in _block(backup)])
        return [Either(lambda: [lines if verbose else table], lambda: [table])]

    notes = []
    if found.pruned is not None:
        were = "would be" if found.dry_run else "was" if len(found.pruned) == 1 else "were"
        notes.append(f"{counted(len(found.pruned), 'backup')} {were} dropped")
    elif not found.backups:
        notes.append(f"no backups in {found.vault}")
    return CommandAnswer(found.to_dict, blocks, notes=notes, status=1 if found.damage else 0)


def _cells(backup: Backup) -> list[Cell]:
    record, state = backup.entry.record, "" if backup.state == "done" else backup.state
    place, time = PathCell(backup.entry.file.path), record.time[:16].replace("T", " ")
    return [backup.entry.id, time, record.kind, ", ".join(filter(None, (backup.mark, state))), place]


def _fields(backup: Backup) -> tuple[str, ...]:
    entry, record, file = backup.entry, backup.entry.record, backup.entry.file
    mark, version = backup.mark or "-", file.version or "-"
    command, why = shlex.join(record.command) or "-", record.why or "-"
    return entry.id, record.time, mark, version, file.path, backup.state, command, why


def _block(backup: Backup) -> list[Line]:
    """Return all details of a backup, with the whole path."""
    entry, record = backup.entry, backup.entry.record
    version = entry.file.version or "unknown"
    words = [record.time, *([backup.mark] if backup.mark else []), f"CANN {version}", backup.state]
    head = [Span(entry.id, "note"), Span(f"  {'  '.join(words)}")]
    lines: list[Line] = [head, f"    {entry.file.path}", f"    before: {shlex.join(record.command) or record.kind}"]
    return [*lines, f"    why: {record.why}"] if record.why else lines
