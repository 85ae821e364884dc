"""`opsinfo reapply`: repeat moves that an upgrade undid."""

from __future__ import annotations

import re

from ...change.moves import Job, LibraryPlan
from ...change.reapply import lost_edits
from ...errors import UsageFault, join_some
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.options import write_options
from ..shared.writing import WriteRun, scope_of, vault_of


@declare.command("reapply")
@declare.argument("what", required=False, metavar="[CHANGE|TARGET]")
@declare.option("--target", metavar="TARGET", hidden=True, help="As the argument TARGET.")
@write_options
@format_option()
def command(what: str | None, target: str | None, writing: WriteOptions, printing: OutputOptions) -> int:
    """Repeat moves that were lost because the file was replaced, for example by an upgrade.

    Without an argument: all lost moves; with TARGET: those in its files; with CHANGE: those of one change.

    \b
    Examples:
      opsinfo reapply --dry-run
      opsinfo reapply ascend910b
    """
    output = output_of("reapply", printing)
    vault = vault_of(writing)
    history = vault.history()
    known = {name for record in history.records for name in (record.id, str(record.number))}
    change = what if what is not None and (what in known or target or _is_id(what)) else None
    if change is not None and change not in known:
        raise UsageFault(f"unknown change `{change}`", name="no-change", hint="`opsinfo backups` lists the changes")
    target = what if change is None and target is None else target
    scope = scope_of(target)
    history.require_known()  # a damaged record may hold a later move of an op type
    lost = lost_edits(vault, scope, change)
    gone = sorted({name for each in lost for name in each.gone})
    for each in lost:
        if each.gone:
            output.say(f"{each.path} no longer has {join_some(each.gone, 10)}", "warning")
    run = WriteRun("reapply", output, writing, undo=lost[0].path if lost else "TARGET", ignored=gone)
    return run.files([Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted])


def _is_id(text: str) -> bool:
    """Return whether a text has the form of a change's id."""
    return re.fullmatch(r"([0-9a-f]{8}-|local-)?[0-9]+(\.[0-9]+)?", text) is not None
