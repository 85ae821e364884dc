"""`opsinfo fmt`: fix the syntax of a mixlist so that the engine accepts it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ...errors import Damaged, OpsinfoError, UsageFault, counted
from ..cann.mixlist_text import mixlist_patch
from ..change.fmt import FmtPlan, fixed, fmt
from ..change.plan import Job, Result, planned
from ..terminal.answer import CommandAnswer, Diff, Exact
from ..terminal.console import Console
from ..terminal.open import report_refusals
from ..terminal.params import FILE, Command, OutputFile, WriteOptions, check_option, option, prints, write_options
from ..terminal.unified_diff import unified_diff
from ..terminal.write import answer_of_result, answer_of_target, report_change, settings_of
from ..text.scanner import scan
from ..text.source import Source, read_standard_input


@click.command("fmt", cls=Command)
@click.argument("mixlists", nargs=-1, required=True, type=FILE, metavar="MIXLIST...")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", replaces=["mixlists"], backed_up=True),
    help="Write the result to OUT; do not change the source.",
)
@write_options(check_option)
@prints()
def command(mixlists: tuple[str, ...], output: str | None, writing: WriteOptions, console: Console) -> CommandAnswer:
    """Fix the syntax of mixlists so that the engine accepts them: comments, commas, byte order mark, trailing text.

    Everything else is kept byte for byte. `-` reads standard input and writes standard output.

    With -o, a commented source is the input and OUT is the file for the engine; --check reports whether OUT is out
    of date. OUT is not written if the engine would still refuse it.

    \b
    Examples:
      opsinfo fmt ops_info.json --dry-run
      opsinfo fmt ops_info.json --check
      opsinfo fmt team.jsonc -o ops_info.json
      opsinfo fmt team.jsonc -o ops_info.json --check
    """
    if "-" in mixlists:
        return _filter(mixlists, output, writing, console)
    try:
        result = fmt(mixlists, output=output, say=console.warn, **settings_of(writing))
    except Damaged:
        if output is None or not _still_refused(fixed(Source.read(mixlists[0])), console):
            raise
        console.error("the engine would still refuse it; nothing was written")
        return answer_of_result(Result([], dry_run=True), target=output, undo="", dry_run=True)._replace(status=1)
    answer = answer_of_target(report_change(result, writing, console), output or mixlists[0], writing, console)
    for file in result.files if result.change else ():
        comments = sum(fault.name == "comment" for fault in scan(file.source).faults)
        if comments:
            console.note(f"{file.path}: removed {counted(comments, 'comment')}; a .jsonc keeps comments")
    refused = {error.path for error in result.refused}
    later = [_status_now(path, console) for path in mixlists if output is None and path not in refused]
    return answer._replace(status=max(answer.status, *later, 0))


def _status_now(path: str, console: Console) -> int:
    """As :func:`_still_refused`, but a file that cannot be read is reported."""
    try:
        return _still_refused(Source.read(path), console)
    except OpsinfoError as error:
        console.failure_text(error)
        return error.exit_code


def _filter(mixlists: Sequence[str], out: str | None, writing: WriteOptions, console: Console) -> CommandAnswer:
    if list(mixlists) != ["-"] or out is not None or console.format == "json":
        raise UsageFault("`-` must be the only argument: it reads standard input and writes standard output")
    source = Source(read_standard_input(), "-")
    file = planned(Job("-", FmtPlan()), source)
    status = 1 if writing.check and file.patch else _still_refused(source, console)
    shown = Diff(unified_diff(source, file.patch, file.result)) if writing.dry_run else Exact(file.result.text)
    is_silent = writing.check and not writing.dry_run
    return CommandAnswer(dict, lambda: [] if is_silent else [shown], status=status, paged=False)


def _still_refused(source: Source, console: Console) -> int:
    """Return 1, and print the reasons to standard error, if the engine still refuses the fixed text."""
    document = scan(source)
    text = Source(mixlist_patch(source).apply(source), source.path) if document.root is not None else source
    return 1 if report_refusals(scan(text), console) else 0
