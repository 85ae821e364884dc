"""`opsinfo apply`: bake a mixlist into libraries."""

from __future__ import annotations

import os

from ...change.moves import BakePlan, Job, Result
from ...change.output_file import write_copies
from ...errors import UsageFault
from ...model.mixlist import Mixlist
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ...report.views.changes import change_lines
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.doubts import report_doubts, report_unknown
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import EntryOptions, entry_options, target_options, write_options
from ..shared.targets import open_target, require_not_snapshot
from ..shared.winning_files import winning_files
from ..shared.writing import WriteRun, writer_of


@declare.command("apply")
@declare.argument("target")
@declare.argument("mixlist")
@declare.option(
    "-o",
    "--output",
    "copy",
    metavar="PATH",
    help="Write a copy instead: a file, or a new directory for a store.",
    writes=(),
)
@declare.option("--strict", is_flag=True, help="Exit 1, writing nothing, if the target lacks an op type.")
@entry_options
@target_options
@write_options
@format_option()
def command(
    target: str,
    mixlist: str,
    copy: str | None,
    strict: bool,
    entries: EntryOptions,
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Write the policies that MIXLIST gives to operators into the libraries of TARGET.

    The result is what the engine computes from library and mixlist at every start. An operator that becomes
    gray gets an entry without a flag.

    \b
    Examples:
      opsinfo apply ascend910b ops_info.json --dry-run
      opsinfo apply aic-ascend910b-ops-info.json ops_info.json --output baked.json
    """
    output = output_of("apply", printing)
    found = open_target(target, output, options)
    if found.kind == "mixlist":
        raise UsageFault(
            "TARGET is a mixlist; a mixlist is applied to libraries",
            name="wrong-kind",
            path=target,
            hint="are the arguments swapped? `opsinfo apply TARGET MIXLIST`",
        )
    require_not_snapshot(found)
    chosen = accepted_mixlist(mixlist, output)
    report_doubts(found, output)
    unknown = report_unknown(chosen, found.operators, output)
    run = WriteRun("apply", output, writing, undo=target, ignored=unknown)
    if strict and unknown:
        output.say(
            f"{len(unknown)} of {len(chosen.marks)} op types are not in the target; nothing was written", "error"
        )
        run.writing = writing._replace(dry_run=False, check=True)
        run.report(Result([]))
        return 1
    jobs = _jobs(found, chosen, entries, output)
    if copy is not None:
        return _copies(found, jobs, copy, run)
    return run.files(jobs)


def _jobs(target: Target, mixlist: Mixlist, options: EntryOptions, output: Output) -> list[Job]:
    """Return a job per file: entries that win or may win in their store, with the marks that change their policy."""
    names = [name for name in mixlist.marks if name in target.operators]
    if options.store is not None:
        stores = [each for each in target.operators.stores if each.label == options.store]
        names = [name for name in names if any(name in each.definitions for each in stores)] if stores else names
    files = winning_files(target, names, options, output) if names else {}
    read = target.operators.libraries()
    return [
        Job(path, BakePlan({name: mixlist.marks[name] for name in mine}, read[path]), read[path].source)
        for path, mine in files.items()
    ]


def _copies(target: Target, jobs: list[Job], copy: str, run: WriteRun) -> int:
    if len(target.operators.stores) > 1:
        raise UsageFault(
            "the target has several stores; --output can write only one",
            path=target.path,
            hint="give one store's directory as TARGET",
        )
    if os.path.lexists(copy):
        raise UsageFault("--output names a path that already exists", name="exists", path=copy)
    writer = writer_of(run.writing, run.output)
    result = writer.preview(jobs)
    if run.writes:
        changed = {file.path: file.result.data for file in result.files}
        sources = [library.source for library in target.operators.stores[0].libraries]
        directory = target.operators.stores[0].directory is not None
        write_copies({each.path: changed.get(each.path, each.data) for each in sources}, copy, directory)
        if run.output.format == "text":
            run.output.lines(change_lines(run.output, result, run.undo))
        run.output.tell(f"wrote {copy}; {target.path} was not changed")
    if run.output.format == "json" or not run.writes:
        run.report(result)
    return 1 if run.writing.check and result.would_change else 0
