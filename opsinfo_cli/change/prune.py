"""Dropping old backups: never the first of a lineage, never the newest of a file."""

from __future__ import annotations

from .restore import Scope
from .vault import Vault, lineages_in


def prune(vault: Vault, scope: Scope, keep: int, dry_run: bool) -> list[str]:
    """Drop all but the newest ``keep`` backups of each path in scope.

    :returns: ids of what was dropped; the journal keeps the changes themselves
    """
    records = vault.records()
    backups = [
        (changed.path, record.backup_id(index), changed.before, record.state)
        for record in records
        for index, changed in enumerate(record.files)
        if changed.before
    ]
    pristine = {lineage.pristine for lineages in lineages_in(records).values() for lineage in lineages}
    held = set(vault.objects())
    dropped: list[str] = []
    kept: set[str] = set(pristine)
    seen: dict[str, int] = {}
    for path, backup, digest, state in reversed(backups):
        seen[path] = seen.get(path, 0) + 1
        if not scope(path) or seen[path] <= keep or digest in pristine or state == "pending":
            kept.add(digest)
        elif digest in held:
            dropped.append(backup)
    digests = {digest for _, backup, digest, _ in backups if backup in dropped}
    dropped = [backup for _, backup, digest, _ in backups if backup in dropped and digest not in kept]
    if not dry_run:
        for digest in digests - kept:
            vault.forget(digest)
    return dropped
