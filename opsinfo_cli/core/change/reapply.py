"""Find moves that are no longer in effect because the file was replaced, for example by a vendor's upgrade."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ...errors import OpsinfoError, Refused
from ..cann.library import Library
from ..cann.policy import Policy
from .vault import History, Scope, Vault, outcome
from .whole_file import digest_at


class Lost(NamedTuple):
    """Lost moves of one path.

    :param changes: the ids of the changes that made them
    :param wanted: the last requested policy of each op type
    :param gone: op types that the new file does not have
    """

    path: str
    changes: tuple[str, ...]
    wanted: dict[str, Policy]
    gone: tuple[str, ...]


class _Request(NamedTuple):
    """The last requested policy of one op type."""

    change: str
    lineage: str
    policy: Policy


def lost_edits(vault: Vault, scope: Scope, change: str | None = None) -> list[Lost]:
    """Return lost moves by path: those of other lineages than the present file's that are not in effect.

    The path is used as given: if a link in it now leads to another install, that one is meant.

    :param change: only the moves of this change, those of the present lineage too
    """
    history = vault.history()
    found = []
    for path, requests in _requests(history, scope, change).items():
        with suppress(OpsinfoError):
            digest = digest_at(path)
            present = history.lineage_of(path, digest) if digest and change is None else None
            lost = _lost(path, {name: each for name, each in requests.items() if each.lineage != present})
            if lost:
                found.append(lost)
    return found


def _requests(history: History, scope: Scope, change: str | None) -> dict[str, dict[str, _Request]]:
    """Return path -> op type -> last request, for changes that were not undone."""
    found: dict[str, dict[str, _Request]] = {}
    for record in history.records:
        is_asked = change is None or change in (record.id, str(record.number))
        if not is_asked or record.id in history.undone or record.undoes or outcome(record) != "done":
            continue
        for file in record.files:
            path = os.path.realpath(file.given or file.path)
            if scope(path):
                for name, (_, after) in file.moves.items():
                    if after is not None:
                        found.setdefault(path, {})[name] = _Request(record.id, file.lineage, Policy(after))
    return found


def _lost(path: str, requests: Mapping[str, _Request]) -> Lost | None:
    try:
        entries = Library.read(path).entries
    except Refused:  # a mixlist, for instance
        return None
    if not entries:  # an emptied mixlist
        return None
    wanted = {
        name: request.policy
        for name, request in requests.items()
        if name in entries and entries[name].policy_or_none is not request.policy
    }
    gone = tuple(name for name in requests if name not in entries)
    changes = tuple(sorted({requests[name].change for name in (*wanted, *gone)}))
    return Lost(path, changes, wanted, gone) if wanted or gone else None
