"""Moves that a vendor upgrade undid, put back into the new file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import OpsinfoError, Refused
from ..model.library import Library
from ..model.policy import Policy
from .interrupted import undone
from .replace import read_original
from .restore import Scope
from .vault import Vault, sha256_of


@dataclass(frozen=True)
class Lost:
    """Moves of one path that are not in effect any more because another file stands there now.

    :param gone: op types that the new file does not have
    """

    path: str
    changes: tuple[str, ...]
    wanted: dict[str, Policy]
    gone: tuple[str, ...]


def lost_edits(vault: Vault, scope: Scope, change: str | None = None) -> list[Lost]:
    """Per path: the last asked policy of each op type, where a content we do not know replaced ours.

    A path counts as it was given: where a link in it leads to another install by now, that one is meant.

    :param change: only the moves of this change
    """
    found = []
    for path, asked in _asked(vault, scope, change).items():
        with suppress(OpsinfoError):
            data = read_original(vault.fs, path).data
            current = vault.current_lineage(path, sha256_of(data))
            here = current.id if current and change is None else None
            lost = _missing(path, {name: each for name, each in asked.items() if each.lineage != here})
            if lost:
                found.append(lost)
    return found


class _Ask(NamedTuple):
    """The last word on one op type: which change said it, of which lineage, and what."""

    change: str
    lineage: str
    policy: Policy


def _asked(vault: Vault, scope: Scope, change: str | None) -> dict[str, dict[str, _Ask]]:
    """Path -> op type -> the last word, of changes that still stand."""
    found: dict[str, dict[str, _Ask]] = {}
    records = vault.records()
    taken_back = undone(vault, records)
    for record in records:
        for changed in record.files if record.id not in taken_back else ():
            path = os.path.realpath(changed.given or changed.path)
            if scope(path) and record.can_be_undone and change in (None, record.id):
                for name, (_, after) in changed.moves.items():
                    if after is not None:
                        found.setdefault(path, {})[name] = _Ask(record.id, changed.lineage, Policy(after))
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
