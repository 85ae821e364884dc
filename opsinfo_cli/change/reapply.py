"""Moves that a vendor upgrade undid, put back into the new file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from ..errors import OpsinfoError, Refused
from ..model.library import Library
from ..model.policy import Policy
from .replace import read_original
from .restore import Scope
from .vault import Vault, sha256_of

__all__ = ["Lost", "lost_edits"]


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

    :param change: only the moves of this change
    """
    found = []
    moves = _moves(vault, scope, change)
    for path, (lineage, asked) in moves.items():
        with suppress(OpsinfoError):
            data = read_original(vault.fs, path).data
            current = vault.current_lineage(path, sha256_of(data))
            if current and current.id == lineage and change is None:
                continue
            lost = _missing(path, asked)
            if lost:
                found.append(lost)
    return found


_Asked = dict[str, tuple[str, Policy]]


def _moves(vault: Vault, scope: Scope, change: str | None) -> dict[str, tuple[str, _Asked]]:
    """Path -> (newest lineage, op type -> (change, policy asked last)), of changes that still stand."""
    found: dict[str, tuple[str, _Asked]] = {}
    for record in vault.records():
        for changed in record.files:
            if scope(changed.path) and record.can_be_undone and change in (None, record.id):
                _, asked = found.get(changed.path, ("", {}))
                for name, (_, after) in changed.moves.items():
                    if after is not None:
                        asked[name] = (record.id, Policy(after))
                found[changed.path] = (changed.lineage, asked)
    return {path: each for path, each in found.items() if each[1]}


def _missing(path: str, asked: _Asked) -> Lost | None:
    try:
        library = Library.read(path)
    except Refused:
        return None
    wanted = {
        name: policy
        for name, (_, policy) in asked.items()
        if name in library.entries and library.entries[name].policy is not policy
    }
    gone = tuple(name for name in asked if name not in library.entries)
    changes = tuple(sorted({asked[name][0] for name in (*wanted, *gone)}))
    return Lost(path, changes, wanted, gone) if wanted or gone else None
