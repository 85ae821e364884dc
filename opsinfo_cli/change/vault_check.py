"""Find damaged, missing and foreign files in a vault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chain import Damage, Key
from .journal import Journal
from .journal_reading import read_record
from .vault import Vault
from .vault_folders import FOLDERS

_HASH = re.compile("[0-9a-f]{64}")


def damage_in(vault: Vault, contents: bool) -> list[Damage]:
    """Return the damage in the vault.

    :param contents: whether to compare every content with its name as well
    """
    objects = vault.objects()  # before the records: a writer makes its object first, a prune marks its record first
    journal = vault.journal()
    found = [*journal.damage, *_strange(vault), *_missing(vault, journal, set(objects))]
    for name in objects:
        path = vault.place("objects", name)
        if not _HASH.fullmatch(name):
            found.append(Damage(path, "not a file of a vault", "other"))
        elif contents and vault.find(name) is None and name in vault.objects():
            said = "the content is damaged: its checksum does not match its name"
            found.append(Damage(path, said, "object", _needing(journal, name)))
    return found


def _missing(vault: Vault, journal: Journal, objects: set[str]) -> Iterator[Damage]:
    wanted: dict[str, list[str]] = {}
    for record in journal.records:
        for changed in record.files:
            if changed.before and not changed.pruned and changed.before not in objects:
                wanted.setdefault(changed.before, []).append(record.id)
    now = set(vault.objects()) if wanted else set()
    for digest, names in wanted.items():
        again = [read_record(vault, name) for name in names]
        pruned = all(each.pruned for record in again if record for each in record.files if each.before == digest)
        if digest not in now and not pruned:
            said = f"the content before change {names[0]} is missing"
            yield Damage(vault.place("objects", digest), said, "object", _needing(journal, digest))


def _needing(journal: Journal, digest: str) -> frozenset[Key]:
    return frozenset(
        key
        for key, links in journal.links.items()
        if any(link.changed.before == digest and not link.changed.pruned for link in links.values())
    )


def _strange(vault: Vault) -> Iterator[Damage]:
    for name in vault.names(""):
        if name not in FOLDERS:
            yield Damage(vault.place(name, "").rstrip("/"), "not a file of a vault", "other")
