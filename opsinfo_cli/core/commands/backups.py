"""`opsinfo backups`: list and prune the backups in the vault."""

from __future__ import annotations

import os
import time

import click

from ..change.scope import scope_of
from ..change.vault import Scope, Vault
from ..terminal.answer import Answer
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
from .backups_view import Backup, backups_answer


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
    dropped = _pruned(vault, scope, keep, writing) if keep else []
    backups = [each for each in _all_backups(vault) if scope(each.entry.file.path) and each.entry.id not in dropped]
    damage = vault.damage(contents=False)
    for each in damage:
        console.error(f"damaged-backup: {each.path}: {each.message}")
    return backups_answer(vault, backups, damage, dropped if keep else None, writing.dry_run, bool(console.verbose))


def _pruned(vault: Vault, scope: Scope, keep: int, writing: WriteOptions) -> list[str]:
    if writing.dry_run or not os.path.isdir(vault.folder):
        return vault.prune(scope, keep, dry_run=True)
    with vault.locked(time.monotonic() + writing.wait):
        return vault.prune(scope, keep, dry_run=False)


def _all_backups(vault: Vault) -> list[Backup]:
    """Return every content in the vault, in the order of the changes of each machine."""
    return [
        Backup(entry, entry.id in pristine, "undone" if entry.record.id in history.undone else entry.record.state)
        for history in vault.histories()
        for pristine in [history.pristine_ids()]
        for entry in history.entries
        if not entry.record.pruned and vault.has(entry)
    ]
