"""`opsinfo backups`: list and prune the backups in the vault."""

from __future__ import annotations

from ...change.chain import Link
from ...change.prune import prune
from ...change.vault import Vault
from ...change.vault_check import damage_in
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
    dropped = prune(vault, scope, keep, writing.dry_run) if keep else []
    backups = [each for each in all_backups(vault) if scope(each.path) and each.id not in dropped]
    damage = damage_in(vault, contents=False)
    if output.format == "json":
        output.document(backups_document(vault.path, backups, damage, dropped if keep else None))
    else:
        show_backups(output, backups)
        if keep:
            output.tell(f"{len(dropped)} backups {'would be' if writing.dry_run else 'were'} dropped")
        elif not backups:
            output.tell(f"no backups in {vault.path}")
    for each in damage:
        output.say(f"damaged-backup: {each.path}: {each.said}", "error")
    return 1 if damage else 0


def all_backups(vault: Vault) -> list[Backup]:
    """Return every content in the vault, in the order of the changes."""
    held = set(vault.objects())
    journal = vault.journal()
    pristine = journal.first_copies()
    found = []
    for record in journal.records:
        for index, changed in enumerate(record.files):
            link = Link(record, index)
            if changed.before in held:
                lineage = journal.lineage_id(link)
                found.append(Backup(record, index, changed.before == pristine.get((link.key, lineage)), lineage))
    return found
