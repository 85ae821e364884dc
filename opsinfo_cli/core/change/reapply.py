"""Find moves that are no longer in effect because the file was replaced, for example by a vendor's upgrade."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ...errors import OpsinfoError, Refused
from ..cann.library import Library
from ..cann.policy import Policy
from .history import History, Known, Request
from .vault import Scope
from .whole_file import digest_at


class Lost(NamedTuple):
    """Lost moves of one path.

    :param changes: the ids of the changes that made them
    :param wanted: the last requested policy of each op type
    :param gone: op types that the new file does not have
    :param reasons: that the user gave
    """

    path: str
    changes: tuple[str, ...]
    wanted: dict[str, Policy]
    gone: tuple[str, ...]
    reasons: frozenset[str]


def lost_edits(history: History, scope: Scope, change: str | None = None) -> list[Lost]:
    """Return lost moves by path: those of other lineages than the present file's that are not in effect.

    The path is used as given: if a link in it now leads to another install, that one is meant.

    :param change: only the moves of this change, those of the present lineage too
    """
    asked = history.known
    if change is not None:
        asked = Known().with_records(
            [each for each in history.records if change in (each.id, str(each.number))], history
        )
    requests: dict[str, dict[str, Request]] = {}
    for given, own in asked.requests.items():
        path = os.path.realpath(given)
        if scope(path):
            wanted = requests.setdefault(path, {})
            for name, request in own.items():  # two paths may lead to one file
                wanted[name] = max(wanted.get(name, request), request)
    found = []
    for path, own in requests.items():
        with suppress(OpsinfoError):
            digest = digest_at(path)
            present = history.lineage_of(path, digest) if digest and change is None else None
            lost = _lost(path, {name: each for name, each in own.items() if each.lineage != present}, history.machine)
            if lost:
                found.append(lost)
    return found


def _lost(path: str, requests: Mapping[str, Request], machine: str) -> Lost | None:
    try:
        entries = Library.read(path).entries
    except Refused:  # a mixlist, for instance
        return None
    if not entries:  # an emptied mixlist
        return None
    policies = {name: Policy(request.policy) for name, request in requests.items() if name in entries}
    wanted = {name: policy for name, policy in policies.items() if entries[name].policy_or_none is not policy}
    gone = tuple(name for name in requests if name not in entries)
    changes = tuple(sorted({f"{machine}-{requests[name].number}" for name in (*wanted, *gone)}))
    reasons = frozenset(why for name in wanted if (why := requests[name].why))
    return Lost(path, changes, wanted, gone, reasons) if wanted or gone else None
