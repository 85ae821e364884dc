"""`opsinfo move`: put op types on a list, by the flag in a library or by marks in a mixlist."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...change.moves import Job, LibraryPlan, Result, planned
from ...errors import Refused, UsageFault
from ...model.policy import Policy
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ...text.source import Source
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.doubts import report_doubts
from ..shared.options import LIST, EntryOptions, entry_options, given_names, target_options, write_options
from ..shared.targets import open_against, open_target, require_not_snapshot
from ..shared.winning_files import winning_files
from ..shared.writing import WriteRun, writer_of

if TYPE_CHECKING:
    from ...change.moves import MixlistPlan


@declare.command("move")
@declare.argument("target")
@declare.argument("ops", nargs=-1, required=True, metavar="OP...")
@declare.option("--to", required=True, type=LIST, help="The list to put the operators on.")
@declare.option("--against", metavar="TARGET", help="For a mixlist: the target with the names and policies.")
@declare.option("--pin", is_flag=True, help="For a mixlist: write the mark even if the target already agrees.")
@declare.option("--create", is_flag=True, help="For a mixlist: create the file if it does not exist.")
@entry_options
@target_options
@write_options
@format_option()
def command(
    target: str,
    ops: tuple[str, ...],
    to: str,
    against: str | None,
    pin: bool,
    create: bool,
    entries: EntryOptions,
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Put operators on a list.

    In a library, the precision_reduce flag is set, added or removed; no other byte changes.
    In a mixlist, the operators get the marks they need; with --against, only marks that change the target.

    \b
    Examples:
      opsinfo move ops_info.json SoftmaxV2 Add --to black --against ascend910b --create
      opsinfo move ascend910b Add --to black --dry-run
      opsinfo move aic-ascend910b-ops-info.json MatMulV2 --to gray
    """
    output = output_of("move", printing)
    names = given_names(ops)
    run = WriteRun("move", output, writing, undo=target)
    policy = Policy(to)
    if pin and not against:
        raise UsageFault("--pin requires a mixlist and --against")
    if create and not os.path.lexists(target):
        result = _create(target, _mixlist_plan(names, policy, against, pin, options, output), run)
    else:
        found = _opened(target, options, output)
        if found.kind == "mixlist":
            jobs = [Job(found.path, _mixlist_plan(names, policy, against, pin, options, output), found.source)]
        elif against or create:
            raise UsageFault("--against, --pin and --create require a mixlist", path=found.path)
        else:
            jobs = _library_jobs(found, names, policy, entries, output)
        del found  # only the files to change stay in memory
        result = run.changed(jobs)
    run.report(result)
    _tell_unchanged(result, to, output)
    return run.status(result)


def _tell_unchanged(result: Result, to: str, output: Output) -> None:
    moved = {move.name for file in result.files for move in file.moved}
    stayed = sorted({name for file in result.files for name in file.stayed} - moved)
    if stayed and output.format == "text":
        output.tell(f"already {to}: {', '.join(stayed)}", prose=True)


def _opened(text: str, options: TargetOptions, output: Output) -> Target:
    try:
        return open_target(text, output, options)
    except Refused as refused:
        if not os.path.lexists(text):
            refused.hint = "--create creates a new mixlist"
        raise


def _library_jobs(
    target: Target, names: tuple[str, ...], to: Policy, entries: EntryOptions, output: Output
) -> list[Job]:
    """Return a job for each file whose entries change."""
    require_not_snapshot(target)
    report_doubts(target, output)
    wanted = [operator.name for operator in target.operators.require(names)]
    files = winning_files(target, wanted, entries, output)
    read = target.operators.libraries()
    return [
        Job(path, LibraryPlan(dict.fromkeys(mine, to), read[path]), read[path].source) for path, mine in files.items()
    ]


def _mixlist_plan(
    names: tuple[str, ...], to: Policy, against: str | None, pin: bool, options: TargetOptions, output: Output
) -> MixlistPlan:
    from ...change.moves import MixlistPlan

    if against is None:
        output.say("op names were not checked; --against TARGET checks them", "warning")
        return MixlistPlan(names, to)
    operators = open_against(against, output, options).operators.require(names)
    return MixlistPlan(names, to, {operator.name: operator.entry.policy for operator in operators}, pin)


def _create(path: str, plan: MixlistPlan, run: WriteRun) -> Result:
    """Create a new mixlist; no file is written if no mark is needed."""
    file = planned(Job(path, plan), Source(b"{}\n", path))._replace(is_new=True)
    change = None
    if run.writes and file.patch:
        change = writer_of(run.writing, run.output).create({path: file.result.data}, run.kind, file.moved).id
    return Result([file], change)
