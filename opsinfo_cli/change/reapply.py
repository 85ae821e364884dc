"""Apply moves that a vendor upgrade undid to the new file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import OpsinfoError, Refused
from ..model.library import Library
from ..model.policy import Policy
from .chain import Link, Scope
from .interrupted import undone
from .journal import Journal
from .record import machine_name
from .replace import read_original
from .vault import Vault, sha256_of


@dataclass(frozen=True)
class Lost:
    """Moves of one path that are no longer in effect because the file was replaced.

    :param gone: op types that the new file does not have
    """

    path: str
    changes: tuple[str, ...]
    wanted: dict[str, Policy]
    gone: tuple[str, ...]


def lost_edits(vault: Vault, scope: Scope, change: str | None = None) -> list[Lost]:
    """Return lost moves by path: the last requested policy of each op type, if an unknown content replaced the file.

    The path is used as given: if a link in it now leads to another install, that one is meant.

    :param change: only the moves of this change
    """
    found = []
    journal = vault.journal()
    for path, asked in _asked(vault, journal, scope, change).items():
        with suppress(OpsinfoError):
            data = read_original(vault.fs, path).data
            current = journal.current_lineage(path, sha256_of(data))
            here = current.id if current and change is None else None
            lost = _missing(path, {name: each for name, each in asked.items() if each.lineage != here})
            if lost:
                found.append(lost)
    return found


class _Ask(NamedTuple):
    """The last requested policy of one op type, with its change and lineage."""

    change: str
    lineage: str
    policy: Policy


def _asked(vault: Vault, journal: Journal, scope: Scope, change: str | None) -> dict[str, dict[str, _Ask]]:
    """Return path -> op type -> last request, for changes on this machine that were not undone."""
    found: dict[str, dict[str, _Ask]] = {}
    records = [record for record in journal.records if record.machine == machine_name()]
    taken_back = undone(vault, records)
    for record in records:
        if record.id in taken_back or not record.can_be_undone or change not in (None, record.id):
            continue
        for index, changed in enumerate(record.files):
            path = os.path.realpath(changed.given or changed.path)
            lineage = journal.lineage_id(Link(record, index))
            if scope(path) and lineage == changed.lineage:
                for name, (_, after) in changed.moves.items():
                    if after is not None:
                        found.setdefault(path, {})[name] = _Ask(record.id, lineage, Policy(after))
    return found


def _missing(path: str, asked: dict[str, _Ask]) -> Lost | None:
    try:
        library = Library.read(path)
    except Refused:
        return None
    wanted = {
        name: ask.policy
        for name, ask in asked.items()
        if name in library.entries and library.entries[name].policy_or_none is not ask.policy
    }
    gone = tuple(name for name in asked if name not in library.entries)
    changes = tuple(sorted({asked[name].change for name in (*wanted, *gone)}))
    return Lost(path, changes, wanted, gone) if wanted or gone else None
