"""`opsinfo move`: put op types on a list, by the flag in a library or by marks in a mixlist."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ...change.moves import Job, MixlistPlan
from ...change.moving import library_jobs, mixlist_plan, new_mixlist, not_a_mixlist, require_not_snapshot
from ...errors import Refused, UsageFault
from ...model.policy import Policy
from ...model.target import Target, TargetOptions
from ...report.answer import Answer
from ...report.console import Console
from ...report.views.changes import change_answer
from ..open import open_against, open_target, report_doubts
from ..params import (
    LIST,
    OP,
    TARGET,
    Command,
    WriteOptions,
    force_option,
    given_names,
    option,
    prints,
    store_option,
    target_options,
    write_options,
)
from ..write import changed, undoing


@click.command("move", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("ops", nargs=-1, required=True, type=OP)
@option("--to", type=LIST, required=True, help="The list to put the operators on.")
@option("--against", type=TARGET, help="For a mixlist: the target with the names and policies.")
@option("--pin", is_flag=True, help="For a mixlist: write the mark even if the target already agrees.")
@option("--create", is_flag=True, help="For a mixlist: create the file if it does not exist.")
@store_option
@target_options
@write_options(force_option)
@prints()
def command(
    target: str,
    ops: tuple[str, ...],
    to: str,
    against: str | None,
    pin: bool,
    create: bool,
    store: str | None,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
    """Put operators on a list.

    In a library, the precision_reduce flag is set, added or removed; no other byte changes.
    In a mixlist, the operators get the marks they need; with --against, only marks that change the target.

    \b
    Examples:
      opsinfo move ops_info.json SoftmaxV2 --to black --against fixtures/opp@ascend910b --create
      opsinfo move fixtures/opp@ascend910b SwiGlu --to black --dry-run
      opsinfo move aic-ascend910b-ops-info.json MatMulV2 --to gray
    """
    names = given_names(ops)
    policy = Policy(to)
    if pin and not against:
        raise UsageFault("--pin requires a mixlist and --against")
    if create and not os.path.lexists(target):
        jobs = [new_mixlist(target, _mixlist_plan(names, policy, against, pin, options, console))]
    else:
        opened = _opened(target, options, console)
        if opened.kind == "mixlist":
            plan = _mixlist_plan(names, policy, against, pin, options, console)
            jobs = [Job(opened.path, plan, opened.source)]
        elif against or create:
            raise not_a_mixlist(opened)
        else:
            jobs = _library_jobs(opened, names, policy, store, writing.force, console)
        del opened  # only the files to change stay in memory
    result = changed("move", jobs, writing, console)
    moved = {move.name for file in result.files for move in file.moved}
    stayed = sorted({name for file in result.files for name in file.stayed} - moved)
    return change_answer(
        result,
        target=target,
        undo=undoing(writing, target),
        dry_run=writing.dry_run,
        notes=[f"already {to}: {', '.join(stayed)}"] if stayed else [],
        verbose=bool(console.verbose),
    )


def _opened(text: str, options: TargetOptions, console: Console) -> Target:
    try:
        return open_target(text, console, options)
    except Refused as refused:
        if not os.path.lexists(text):
            refused.hint = "--create creates a new mixlist"
        raise


def _library_jobs(
    target: Target, names: Sequence[str], to: Policy, store: str | None, force: bool, console: Console
) -> list[Job]:
    """Return a job for each file whose entries change."""
    require_not_snapshot(target)
    report_doubts(target, console)
    wanted = {operator.name: to for operator in target.operators.require(names)}
    return library_jobs(target, wanted, store, force, console.warn)


def _mixlist_plan(
    names: tuple[str, ...], to: Policy, against: str | None, pin: bool, options: TargetOptions, console: Console
) -> MixlistPlan:
    if against is None:
        console.warn("names not checked; add --against TARGET")
        return mixlist_plan(names, to, None)
    return mixlist_plan(names, to, open_against(against, console, options), pin)
