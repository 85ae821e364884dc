"""`opsinfo apply`: bake a mixlist into libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ...change.moves import Job, LibraryPlan, Result
from ...change.moving import require_writable, winning_files
from ...change.output_file import write_copies
from ...errors import UsageFault
from ...model.mixlist import Mixlist
from ...model.target import Target, TargetOptions
from ...report.answer import Answer
from ...report.console import Console
from ...report.views.changes import change_answer
from ..open import accepted_mixlist, open_target, report_doubts, report_unknown
from ..params import (
    FILE,
    TARGET,
    Command,
    OutputFile,
    WriteOptions,
    force_option,
    option,
    prints,
    store_option,
    target_options,
    write_options,
)
from ..write import changed, changed_answer, writer_of


@click.command("apply", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("mixlist", type=FILE, metavar="MIXLIST")
@option("-o", "--output", "copy", type=OutputFile("PATH"), help="Write a copy: a file, or a directory for a store.")
@option("--strict", is_flag=True, help="Exit 1, writing nothing, if the target lacks an op type.")
@store_option
@target_options
@write_options(force_option)
@prints()
def command(
    target: str,
    mixlist: str,
    copy: str | None,
    strict: bool,
    store: str | None,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
    """Write the policies that MIXLIST gives to operators into the libraries of TARGET.

    The result is what the engine computes from library and mixlist at every start. An operator that becomes
    gray gets an entry without a flag.

    \b
    Examples:
      opsinfo apply fixtures/opp@ascend910b fixtures/ops_info.json --dry-run
      opsinfo apply fixtures/custom/fastops/op_impl/ai_core/tbe/config/ascend910b fixtures/ops_info.json \
        --output baked
    """
    opened = open_target(target, console, options)
    if opened.kind == "mixlist":
        raise UsageFault(
            "TARGET is a mixlist; a mixlist is applied to libraries",
            name="wrong-kind",
            path=target,
            hint="are the arguments swapped? `opsinfo apply TARGET MIXLIST`",
        )
    require_writable(opened)
    chosen = accepted_mixlist(mixlist, console)
    report_doubts(opened, console)
    unknown = report_unknown(chosen, opened.operators, console)
    if strict and unknown:
        console.error(f"{len(unknown)} of {len(chosen.marks)} op types are not in the target; nothing was written")
        answer = change_answer(Result([]), target=target, undo="", dry_run=True, ignored=unknown)
        return answer._replace(status=1)
    jobs = _jobs(opened, chosen, store, writing.force, console)
    if copy is not None:
        return _copies(opened, jobs, copy, writing, console, unknown)
    return changed_answer(changed("apply", jobs, writing, console), target, writing, console, ignored=unknown)


def _jobs(target: Target, mixlist: Mixlist, chosen: str | None, force: bool, console: Console) -> list[Job]:
    """Return a job per file: entries that win or may win in their store, with the marks that change their policy."""
    names = [name for name in mixlist.marks if name in target.operators]
    if chosen is not None:
        stores = [store for store in target.operators.stores if store.label == chosen]
        names = [name for name in names if any(name in store.definitions for store in stores)] if stores else names
    files = winning_files(target, names, chosen, force, console.warn) if names else {}
    read = target.operators.libraries()
    return [
        Job(path, LibraryPlan({name: mixlist.marks[name] for name in own}, read[path]), read[path].source)
        for path, own in files.items()
    ]


def _copies(
    target: Target, jobs: Sequence[Job], copy: str, writing: WriteOptions, console: Console, ignored: Sequence[str]
) -> Answer:
    if len(target.operators.stores) > 1:
        raise UsageFault(
            "the target has several stores; --output can write only one",
            path=target.path,
            hint="give one store's directory as TARGET",
        )
    if os.path.lexists(copy):
        raise UsageFault("--output names a path that already exists", name="exists", path=copy)
    result = writer_of(writing, console).preview(jobs)
    for error in result.refused:
        raise error
    answer = change_answer(result, target=target.path, undo="", dry_run=writing.dry_run, ignored=ignored)
    if not writing.writes:
        return answer
    contents = {file.path: file.result.data for file in result.files}
    sources = [library.source for library in target.operators.stores[0].libraries]
    directory = target.operators.stores[0].directory is not None
    write_copies({each.path: contents.get(each.path, each.data) for each in sources}, copy, directory)
    return answer._replace(notes=[f"wrote {copy}; {target.path} was not changed"])
