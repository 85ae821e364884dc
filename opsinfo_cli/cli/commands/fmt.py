"""`opsinfo fmt`: fix the syntax of a mixlist so that the engine accepts it."""

from __future__ import annotations

import sys
from contextlib import suppress

from ...change.fmt import FmtPlan, fixed
from ...change.moves import Job, Result
from ...errors import OpsinfoError, Refused, UsageFault
from ...report.formats.unified_diff import unified_diff
from ...report.terminal.failure import failure_lines
from ...report.terminal.output import Output
from ...report.views.changes import change_document
from ...text.scanner import scan, syntax_patch
from ...text.source import Source, read_standard_input
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.mixlist_input import report_refusals
from ..shared.mixlist_output import built
from ..shared.options import write_options
from ..shared.targets import require_no_library
from ..shared.writing import WriteRun


@declare.command("fmt")
@declare.argument("mixlists", nargs=-1, required=True, metavar="MIXLIST...")
@declare.option("--diff", "show_diff", is_flag=True, hidden=True, help="As --dry-run.")
@declare.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="Write the result to OUT; do not change the source.",
    writes=("mixlists",),
)
@write_options
@format_option()
def command(
    mixlists: tuple[str, ...], show_diff: bool, out: str | None, writing: WriteOptions, printing: OutputOptions
) -> int:
    """Fix the syntax of mixlists so that the engine accepts them: comments, commas, byte order mark, trailing text.

    Everything else is kept byte for byte. `-` reads standard input and writes standard output.

    With -o, a commented source is the input and OUT is the file for the engine; --check reports whether OUT is out
    of date. OUT is not written if the engine would still refuse it.

    \b
    Examples:
      opsinfo fmt ops_info.json
      opsinfo fmt --check ops_info.json
      opsinfo fmt commented.json -o ops_info.json
      opsinfo fmt commented.json -o ops_info.json --check
    """
    output = output_of("fmt", printing)
    run = WriteRun("fmt", output, writing._replace(dry_run=writing.dry_run or show_diff), undo=mixlists[0])
    if "-" in mixlists:
        return _filter(mixlists, out, run)
    if out is not None:
        return _build(mixlists, out, run)
    for path in mixlists:
        with suppress(Refused):  # reported by the writer
            require_no_library(Source.read(path))
    result = run.changed([Job(path, FmtPlan()) for path in mixlists])
    run.report(result)
    refused = {error.path for error in result.refused}
    return max(run.status(result), *(_looked_at_again(path, output) for path in mixlists if path not in refused))


def _looked_at_again(path: str, output: Output) -> int:
    """As :func:`_still_refused`, but a file that cannot be read prints no second JSON document."""
    try:
        return _still_refused(Source.read(path), output)
    except OpsinfoError as error:
        for line in failure_lines(error, output.look(sys.stderr)):
            output.complain(line)
        return error.exit_code


def _filter(mixlists: tuple[str, ...], out: str | None, run: WriteRun) -> int:
    if mixlists != ("-",) or out is not None or run.output.format == "json":
        raise UsageFault("`-` must be the only argument: it reads standard input and writes standard output")
    source = Source(read_standard_input(), "-")
    patch = FmtPlan().patch(source)
    result = fixed(source)
    if run.writes:
        run.output.data(result.text, exact=True)
    elif run.writing.dry_run:
        run.output.diff(unified_diff(source, patch, result))
    if run.writing.check and patch:
        return 1
    return _still_refused(source, run.output)


def _build(mixlists: tuple[str, ...], out: str, run: WriteRun) -> int:
    if len(mixlists) != 1:
        raise UsageFault("-o requires exactly one mixlist")
    source = Source.read(mixlists[0])
    require_no_library(source)
    result = fixed(source)
    run.undo = out
    if _still_refused(result, run.output):
        return _not_built(run)
    made = built(run, out, result.text, [source])
    run.report(made)
    return run.status(made)


def _not_built(run: WriteRun) -> int:
    run.output.say("the engine would still refuse it; nothing was written", "error")
    if run.output.format == "json":
        run.output.document(change_document(Result([]), [], dry_run=True))
    return 1


def _still_refused(source: Source, output: Output) -> int:
    """Return 1, and print the reasons to stderr, if the engine still refuses the fixed text."""
    document = scan(source)
    text = Source(syntax_patch(document).apply(source), source.path) if document.root is not None else source
    return 1 if report_refusals(scan(text), output) else 0
