"""`opsinfo backups`: list and prune the backups in the vault."""

from __future__ import annotations

import os
import time

from ...change.vault import Scope, Vault
from ...report.views.backups import Backup, backups_document, show_backups
from ..line import declare
from ..shared.common_options import WRITE, OutputOptions, WriteOptions, format_option, output_of, wait_option
from ..shared.options import backup_option, pager_option
from ..shared.writing import scope_of, vault_of


@declare.command("backups")
@declare.argument("target", required=False)
@declare.option(
    "--prune",
    "keep",
    type=declare.IntRange(min=1),
    metavar="N",
    help="Keep the newest N backups of each file and every pristine one; drop the rest.",
)
@declare.option("-n", "--dry-run", is_flag=True, group=WRITE, help="Show what --prune would drop; drop nothing.")
@wait_option
@backup_option
@pager_option
@format_option()
def command(target: str | None, keep: int | None, writing: WriteOptions, printing: OutputOptions) -> int:
    """List the backups of TARGET, or all backups, oldest first.

    The first content seen of a file is its pristine one; pruning never drops it, nor the newest. Damage in the
    vault is reported, with exit status 1.

    \b
    Examples:
      opsinfo backups
      opsinfo backups ascend910b
      opsinfo backups --prune 20
    """
    output = output_of("backups", printing)
    vault, scope = vault_of(writing), scope_of(target)
    dropped = prune(vault, scope, keep, writing) if keep else []
    backups = [each for each in all_backups(vault) if scope(each.path) and each.id not in dropped]
    damage = vault.damage(contents=False)
    if output.format == "json":
        output.document(backups_document(vault.path, backups, damage, dropped if keep else None))
    else:
        show_backups(output, backups)
        if keep:
            output.tell(f"{len(dropped)} backups {'would be' if writing.dry_run else 'were'} dropped")
        elif not backups:
            output.tell(f"no backups in {vault.path}")
    for each in damage:
        output.say(f"damaged-backup: {each.path}: {each.message}", "error")
    return 1 if damage else 0


def prune(vault: Vault, scope: Scope, keep: int, writing: WriteOptions) -> list[str]:
    if writing.dry_run or not os.path.isdir(vault.folder):
        return vault.prune(scope, keep, dry_run=True)
    with vault.locked(time.monotonic() + writing.wait):
        return vault.prune(scope, keep, dry_run=False)


def all_backups(vault: Vault) -> list[Backup]:
    """Return every content in the vault, in the order of the changes of each machine."""
    return [
        Backup(entry, entry.id in pristine, "undone" if entry.record.id in history.undone else entry.record.state)
        for history in vault.histories()
        for pristine in [history.pristine_ids()]
        for entry in history.entries
        if not entry.record.pruned and vault.has(entry)
    ]
