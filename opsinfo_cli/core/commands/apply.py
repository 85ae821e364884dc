"""`opsinfo apply`: bake a mixlist into libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ...errors import UsageFault
from ..cann.library import Library
from ..cann.mixlist import Mixlist
from ..cann.policy import Mark, Policy
from ..cann.target import Target, TargetOptions
from ..change.move import require_writable, winning_files
from ..change.output_file import write_copies
from ..change.plan import Job, LibraryPlan, Result
from ..terminal.answer import Answer
from ..terminal.changes import change_answer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist, open_target, report_doubts, report_unknown
from ..terminal.params import (
    FILE,
    SOC,
    TARGET,
    Command,
    OutputFile,
    WriteOptions,
    as_option,
    bundle,
    core_option,
    custom_option,
    option,
    prints,
    reason_option,
    store_option,
    strict_option,
    write_options,
)
from ..terminal.write import changed, changed_answer, writer_of


@click.command("apply", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("mixlist", type=FILE, metavar="MIXLIST")
@option("-o", "--output", "copy", type=OutputFile("PATH"), help="Write a copy: a file, or a directory for a store.")
@strict_option
@store_option
@option("--soc", "socs", type=SOC, multiple=True, help="Chip of an install that has several; repeatable.")
@bundle("options", TargetOptions, as_option, core_option, custom_option)
@write_options(reason_option)
@prints()
def command(
    target: str,
    mixlist: str,
    copy: str | None,
    store: str | None,
    socs: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
    """Write the policies that MIXLIST gives to operators into the libraries of TARGET.

    The result is what the engine computes from library and mixlist at every start. An operator that becomes
    gray gets an entry without a flag.

    \b
    Examples:
      opsinfo apply ascend910b ops_info.json --dry-run
      opsinfo apply config/ascend910b ops_info.json \
        --output baked
    """
    chips = {opened.soc: opened for opened in (_opened(target, soc, options, console) for soc in socs or [None])}
    targets = list(chips.values())
    chosen = accepted_mixlist(mixlist, console)
    lacking = []
    for opened in targets:
        require_writable(opened, _becoming(opened, chosen))
        report_doubts(opened, console)
        where = str(opened.soc) if len(targets) > 1 else "the target"
        lacking.append(report_unknown(chosen, opened.operators, console, where))
    unknown = sorted(set(lacking[0]).intersection(*lacking[1:]))
    if console.is_failed:
        some = sorted({name for names in lacking for name in names})
        console.error("warnings count as errors (--strict); nothing was written")
        answer = change_answer(Result([]), target=target, undo="", dry_run=True, ignored=some)
        return answer._replace(status=1)
    jobs = _jobs(targets, chosen, store, writing.force, console)
    if copy is not None:
        return _copies(targets, jobs, copy, writing, console, unknown)
    return changed_answer(changed("apply", jobs, writing, console), target, writing, console, ignored=unknown)


def _becoming(target: Target, mixlist: Mixlist) -> dict[str, Policy]:
    """Return the policies that a mixlist gives to the op types that it names."""
    named = [operator for operator in target.operators if operator.name in mixlist.marks]
    return {operator.name: mixlist.effective(operator.name, operator.policy) for operator in named}


def _opened(target: str, soc: str | None, options: TargetOptions, console: Console) -> Target:
    opened = open_target(target, console, options._replace(soc=soc))
    if opened.kind == "mixlist":
        raise UsageFault(
            "TARGET is a mixlist; a mixlist is applied to libraries",
            name="wrong-kind",
            path=target,
            hint="are the arguments swapped? `opsinfo apply TARGET MIXLIST`",
        )
    return opened


def _jobs(targets: Sequence[Target], mixlist: Mixlist, chosen: str | None, force: bool, console: Console) -> list[Job]:
    """Return a job per file: entries that win or may win in their store, with the marks that change their policy."""
    marks: dict[str, dict[str, frozenset[Mark]]] = {}
    read: dict[str, Library] = {}
    named: dict[str, str] = {}  # chips may share a file by a link
    for target in targets:
        names = [name for name in mixlist.marks if name in target.operators]
        if chosen is not None:
            stores = [store for store in target.operators.stores if store.label == chosen]
            names = [name for name in names if any(name in store.definitions for store in stores)] if stores else names
        for path, own in (winning_files(target, names, chosen, force, console.warn) if names else {}).items():
            path = named.setdefault(os.path.realpath(path), path)
            marks.setdefault(path, {}).update({name: mixlist.marks[name] for name in own})
        read.update(target.operators.libraries())
    return [Job(path, LibraryPlan(own, read[path]), read[path].source) for path, own in marks.items()]


def _copies(
    targets: Sequence[Target],
    jobs: Sequence[Job],
    copy: str,
    writing: WriteOptions,
    console: Console,
    ignored: Sequence[str],
) -> Answer:
    target = targets[0]
    if len(targets) > 1 or len(target.operators.stores) > 1:
        raise UsageFault(
            f"the target has several {'chips' if len(targets) > 1 else 'stores'}; --output can write only one",
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
