"""`opsinfo reapply`: put moves back that an upgrade undid."""

from __future__ import annotations

from typing import Any

from ...change.job import Job
from ...change.library_plan import LibraryPlan
from ...change.reapply import lost_edits
from ...errors import UsageFault, few
from ..line import declare
from ..shared.options import format_option, output_of, write_options
from ..shared.writing import Run, scope_of, vault_of


@declare.command("reapply")
@declare.argument("change", required=False)
@declare.option("--target", metavar="TARGET", help="Only files of this target.")
@write_options
@format_option()
def command(change: str | None, target: str | None, format_: str, **options: Any) -> int:
    """Put moves back into files that an upgrade, or somebody else, replaced: those of CHANGE, or all that are lost.

    \b
    Examples:
      opsinfo reapply --dry-run
      opsinfo reapply --target ascend910b
    """
    output = output_of("reapply", options, format_)
    vault = vault_of(options)
    if change is not None and vault.record(change) is None:
        raise UsageFault(f"no change is called `{change}`", name="no-change", hint="`opsinfo backups` lists them")
    scope = scope_of(target)
    vault.journal().require_known(scope, None)  # a damaged record may hold a later word on an op type
    lost = lost_edits(vault, scope, change)
    gone = sorted({name for each in lost for name in each.gone})
    for each in lost:
        if each.gone:
            output.say(f"{each.path} has no {few(each.gone, 10)} any more", "warning")
    run = Run("reapply", output, options, undo=lost[0].path if lost else "TARGET", ignored=gone)
    return run.files([Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted])
