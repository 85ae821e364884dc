"""Find moves that are no longer in effect because the file was replaced, for example by a vendor's upgrade."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from warnings import warn

from ...errors import OpsinfoError, Refused, UsageFault, join_some
from ..cann.library import Library
from ..cann.policy import Policy
from ..cann.target import AnyTarget, target_text
from .history import History
from .plan import Job, LibraryPlan, Result
from .record import BackupEntry
from .replace_file import digest_at
from .scope import scope_of
from .vault import Scope, vault_in
from .vault_place import CHANGE_ID
from .write_settings import WriteSettings
from .writer import write_files

if TYPE_CHECKING:
    from typing_extensions import Unpack


def reapply(
    what: AnyTarget | None = None,
    *,
    say: Callable[[str], None] = warn,
    **settings: Unpack[WriteSettings],
) -> Result:
    """Repeat moves that were lost because the file was replaced, as ``opsinfo reapply``.

    :param what: a target, or the id of a change or of one of its files; None for all lost moves
    :param say: called with op types that a file no longer has
    :param settings: :class:`.WriteSettings`; without ``reason`` the reasons of the lost moves are kept
    :raises UsageFault: if there is no such change
    """
    text = None if what is None else target_text(what)
    history = vault_in(settings).history()
    match = None if text is None else CHANGE_ID.fullmatch(text)
    change, nth = (match[0].partition(".")[0], match[3]) if match else (None, None)
    files = {
        os.path.realpath(file.given)
        for record in history.records
        for number, file in enumerate(record.files, 1)
        if change in (record.id, str(record.number)) and nth in (None, str(number))
    }
    if change is not None and not files:
        raise UsageFault(f"unknown change `{text}`", name="no-change", hint="`opsinfo backups` lists the changes")
    history.require_known()  # a damaged record may hold a later move of an op type
    lost = lost_edits(history, scope_of(text) if change is None else files.__contains__, change)
    for each in lost:
        if each.gone:
            say(f"{each.path} no longer has {join_some(each.gone, 10)}")
    jobs = [Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted]
    gone = tuple(sorted({name for each in lost for name in each.gone}))
    reasons = "; ".join(sorted({reason for each in lost for reason in each.reasons}))
    settings["reason"] = settings.get("reason") or reasons or None
    return write_files("reapply", jobs, settings, say)._replace(ignored=gone)


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

    :param change: only the moves of this change, those of the present lineage too
    """
    found = []
    for path, asked in history.asked(change).items():
        if scope(path):
            with suppress(OpsinfoError):
                digest = digest_at(path)
                present = history.lineage_of(path, digest) if digest and change is None else None
                lost = _lost(path, {name: each for name, each in asked.items() if each.file.lineage != present})
                if lost:
                    found.append(lost)
    return found


def _lost(path: str, asked: Mapping[str, BackupEntry]) -> Lost | None:
    try:
        entries = Library.read(path).entries
    except Refused:  # a mixlist, for instance
        return None
    if not entries:  # an emptied mixlist
        return None
    policies = {name: entry.file.moves[name][1] for name, entry in asked.items()}
    wanted = {
        name: Policy(policy)
        for name, policy in policies.items()
        if policy and name in entries and str(entries[name].policy_or_none) != policy
    }
    gone = tuple(name for name, policy in policies.items() if policy and name not in entries)
    changes = tuple(sorted({asked[name].record.id for name in (*wanted, *gone)}))
    reasons = frozenset(why for name in wanted if (why := asked[name].record.why))
    return Lost(path, changes, wanted, gone, reasons) if wanted or gone else None
