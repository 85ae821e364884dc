"""`opsinfo fmt`: fix the syntax of a mixlist so that the engine accepts it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import click

from ...errors import OpsinfoError, Refused, UsageFault, quoted
from ..change.fmt import FmtPlan, fixed
from ..change.plan import Job, Result
from ..terminal.answer import Answer, Diff, Exact
from ..terminal.changes import change_answer
from ..terminal.console import Console
from ..terminal.open import report_refusals, require_no_library
from ..terminal.params import FILE, Command, OutputFile, WriteOptions, check_option, option, prints, write_options
from ..terminal.unified_diff import unified_diff
from ..terminal.write import built, changed, changed_answer
from ..text.scanner import scan, syntax_patch
from ..text.source import Source, is_commented, read_standard_input


@click.command("fmt", cls=Command)
@click.argument("mixlists", nargs=-1, required=True, type=FILE, metavar="MIXLIST...")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", replaces=["mixlists"]),
    help="Write the result to OUT; do not change the source.",
)
@write_options(check_option)
@prints()
def command(mixlists: tuple[str, ...], output: str | None, writing: WriteOptions, console: Console) -> Answer:
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
    if output is not None:
        return _build(mixlists, output, writing, console)
    for path in mixlists:
        if os.path.isdir(path):
            hint = f"`opsinfo validate {quoted(path)} --fix` fixes the mixlists in it"
            raise UsageFault("this is a directory", name="is-directory", path=path, hint=hint)
        if is_commented(path):
            hint = f"`opsinfo fmt {quoted(path)} -o {quoted(path[:-1])}` makes the engine's file of it"
            raise UsageFault("the comments of a .jsonc are kept", name="keeps-comments", path=path, hint=hint)
        with suppress(Refused):  # reported below
            require_no_library(Source.read(path))
    result = changed("fmt", [Job(path, FmtPlan()) for path in mixlists], writing, console)
    answer = changed_answer(result, mixlists[0], writing, console)
    refused = {error.path for error in result.refused}
    later = [_status_now(path, console) for path in mixlists if path not in refused]
    return answer._replace(status=max(answer.status, *later, 0))


def _status_now(path: str, console: Console) -> int:
    """As :func:`_still_refused`, but a file that cannot be read is reported."""
    try:
        return _still_refused(Source.read(path), console)
    except OpsinfoError as error:
        console.failure_text(error)
        return error.exit_code


def _filter(mixlists: Sequence[str], out: str | None, writing: WriteOptions, console: Console) -> Answer:
    if list(mixlists) != ["-"] or out is not None or console.format == "json":
        raise UsageFault("`-` must be the only argument: it reads standard input and writes standard output")
    source = Source(read_standard_input(), "-")
    patch = FmtPlan().patch(source)
    result = fixed(source)
    status = 1 if writing.check and patch else _still_refused(source, console)
    shown = Diff(unified_diff(source, patch, result)) if writing.dry_run else Exact(result.text)
    is_silent = writing.check and not writing.dry_run
    return Answer(dict, lambda: [] if is_silent else [shown], status=status, paged=False)


def _build(mixlists: Sequence[str], out: str, writing: WriteOptions, console: Console) -> Answer:
    if len(mixlists) != 1:
        raise UsageFault("-o requires exactly one mixlist")
    source = Source.read(mixlists[0])
    require_no_library(source)
    result = fixed(source)
    if _still_refused(result, console):
        console.error("the engine would still refuse it; nothing was written")
        return change_answer(Result([]), target=out, undo="", dry_run=True)._replace(status=1)
    return changed_answer(built("fmt", out, result.text, [source], writing, console), out, writing, console)


def _still_refused(source: Source, console: Console) -> int:
    """Return 1, and print the reasons to standard error, if the engine still refuses the fixed text."""
    document = scan(source)
    text = Source(syntax_patch(document).apply(source), source.path) if document.root is not None else source
    return 1 if report_refusals(scan(text), console) else 0
