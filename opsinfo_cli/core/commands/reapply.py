"""`opsinfo reapply`: repeat moves that an upgrade undid."""

from __future__ import annotations

import re
from dataclasses import replace

import click

from ...errors import UsageFault, join_some
from ..change.plan import Job, LibraryPlan
from ..change.reapply import lost_edits
from ..change.record import was_pruned
from ..change.scope import scope_of
from ..terminal import completion
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.params import Command, Word, WriteOptions, prints, write_options
from ..terminal.write import changed, changed_answer, vault_of


@click.command("reapply", cls=Command)
@click.argument("what", required=False, type=Word("[CHANGE|TARGET]", completion.changes, files=True))
@write_options()
@prints()
def command(what: str | None, writing: WriteOptions, console: Console) -> Answer:
    """Repeat moves that were lost because the file was replaced, for example by an upgrade.

    Without an argument: all lost moves; with TARGET: those in its files; with CHANGE: those of one change.

    \b
    Examples:
      opsinfo reapply --dry-run
      opsinfo reapply ascend910b
    """
    history = vault_of(writing).history()
    known = {name for record in history.records for name in (record.id, str(record.number))}
    change = what if what is not None and (what in known or _is_id(what)) else None
    if change is not None and change.rpartition("-")[2] in map(str, history.pruned.numbers):
        raise was_pruned()
    if change is not None and change not in known:
        raise UsageFault(f"unknown change `{change}`", name="no-change", hint="`opsinfo backups` lists the changes")
    target = what if change is None else None
    history.require_known()  # a damaged record may hold a later move of an op type
    lost = lost_edits(history, scope_of(target), change)
    for each in lost:
        if each.gone:
            console.warn(f"{each.path} no longer has {join_some(each.gone, 10)}")
    place = lost[0].path if lost else "TARGET"
    jobs = [Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted]
    reasons = sorted({reason for each in lost for reason in each.reasons})
    result = changed("reapply", jobs, replace(writing, reason="; ".join(reasons) or None), console)
    gone = sorted({name for each in lost for name in each.gone})
    return changed_answer(result, target or "", writing, console, undo=place, ignored=gone)


def _is_id(text: str) -> bool:
    """Return whether a text has the form of a change's id."""
    return re.fullmatch(r"([0-9a-f]{8}-|local-)?[0-9]+(\.[0-9]+)?", text) is not None
