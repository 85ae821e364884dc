"""Remove old contents, but never the first of a lineage, the newest of a file, or one that a change needs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import nullcontext

from .chain import Link, Scope, refusal
from .vault import Vault
from .whole_file import sync_folder


def prune(vault: Vault, scope: Scope, keep: int, dry_run: bool) -> list[str]:
    """Remove all but the newest ``keep`` backups of each path in scope. Their records stay, marked as pruned.

    :returns: ids of the backups whose contents are removed
    :raises Refused: if a record or head is damaged, because the contents that it needs are unknown
    """
    if not os.path.isdir(vault.path):
        return []
    if not dry_run:
        vault.prepare()
    with nullcontext() if dry_run else vault.exclusive():
        journal = vault.journal()
        for damage in journal.damage:
            raise refusal(damage)
        links = [link for chain in journal.links.values() for link in chain.values() if link.changed.before]
        held = set(vault.objects())
        newest = {id(link) for chain in journal.links.values() for link in _newest(chain.values(), keep)}
        kept = {
            str(link.changed.before)
            for link in links
            if not scope(link.key.path) or link.record.state == "pending" or id(link) in newest
        }
        kept |= set(journal.first_copies().values())
        dropped = [link for link in links if link.changed.before in held - kept and not link.changed.pruned]
        if not dry_run:
            _mark(vault, dropped)
            gone = {str(link.changed.before) for link in links if link.changed.pruned} - {
                str(link.changed.before) for link in links if not link.changed.pruned
            }
            for digest in gone & held:
                vault.forget(digest)
            sync_folder(vault.fs, vault.place("objects", ""))
    return [link.backup for link in sorted(dropped, key=lambda each: (each.record.order, each.record.id, each.nth))]


def _newest(chain: Iterable[Link], keep: int) -> list[Link]:
    return [link for link in chain if link.changed.before][-keep:]


def _mark(vault: Vault, links: list[Link]) -> None:
    """Mark records before removal: a missing content without a mark is damage."""
    for link in links:
        link.changed.pruned = True
    for record in {link.record.id: link.record for link in links}.values():
        vault.save(record)
