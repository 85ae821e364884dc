"""`opsinfo merge`: one mixlist from several."""

from __future__ import annotations

from ...change.moves import written_like
from ...errors import UsageFault
from ...model.mixlist import conflicts, merged, minimal
from ...model.target import TargetOptions
from ...report.views.merge import conflict_lines, merge_document, say_minimal
from ...text.source import Source
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.mixlist_input import fixable_mixlist
from ..shared.mixlist_output import delivered, refused, report_built
from ..shared.options import against_option, install_options, write_options
from ..shared.targets import open_targets
from ..shared.writing import WriteRun


@declare.command("merge")
@declare.argument("base")
@declare.argument("overs", nargs=-1, metavar="[OVER]...")
@declare.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="Write to OUT; an existing file is backed up.",
    writes=("base", "overs"),
)
@declare.option(
    "--strict", is_flag=True, help="Exit 1, writing nothing, if the mixlists disagree or a name is unknown."
)
@against_option
@install_options
@write_options
@format_option()
def command(
    base: str,
    overs: tuple[str, ...],
    out: str | None,
    strict: bool,
    against: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Merge several mixlists into one, because the engine reads only one file.

    If two of them name an op type, the later one wins. Each op type gets as few marks as possible; with --against,
    entries that change nothing in the targets are dropped, as in minimize. Sources may have comments, as for fmt.

    \b
    Examples:
      opsinfo merge team.json bert.json -o ops_info.json
      opsinfo merge team.json bert.json --strict > ops_info.json
      opsinfo merge team.json bert.json --against ascend910b -o ops_info.json --check
    """
    output = output_of("merge", printing)
    run = WriteRun("merge", output, writing, undo=out or base)
    if out is None and not run.writes:
        raise UsageFault("--check and --dry-run require -o")
    sources = [Source.read(path) for path in (base, *overs)]
    mixlists = [fixable_mixlist(source, output) for source in sources]
    targets = open_targets(against, output, options)
    disputes = conflicts(mixlists)
    found = minimal(merged(mixlists), [target.operators for target in targets])
    for line in conflict_lines(disputes):
        output.say(line, "error" if strict else "note")
    say_minimal(output, found, targets)
    document = merge_document([base, *overs], targets, found, disputes)
    text = written_like(mixlists[0], found.marks)
    if strict and (disputes or found.unknown):
        return refused(run, out, document)
    result = delivered(run, out, text, sources)
    report_built(run, out, text, result, document)
    return run.status(result)
