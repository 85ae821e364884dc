"""`opsinfo merge`: one mixlist from one or several."""

from __future__ import annotations

import click

from ...errors import UsageFault, counted
from ..cann.input_shapes import parse_shapes
from ..cann.targets.found import TargetOptions
from ..change.plan import Result
from ..check.models import OpenModels
from ..merge import Merge, merge
from ..terminal.answer import CommandAnswer, Exact
from ..terminal.config import Targeted
from ..terminal.console import Console
from ..terminal.open import fixable_mixlist, open_against, require_against
from ..terminal.params import (
    FILE,
    OutputFile,
    WriteOptions,
    against_option,
    check_option,
    install_options,
    option,
    prints,
    shape_option,
    strict_option,
    write_options,
)
from ..terminal.write import diffs, notes_of_result, status_of, undoing, would_build, write_generated
from ..text.source import Source


@click.command("merge", cls=Targeted)
@click.argument("mixlists", nargs=-1, required=True, type=FILE, metavar="MIXLIST...")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", replaces=["mixlists"], backed_up=True),
    help="Write to OUT, which may be one of the mixlists; an existing file is backed up.",
)
@option("--minimize", is_flag=True, help="Drop entries that change nothing in the targets of --against.")
@strict_option
@option("--model", "models", type=FILE, multiple=True, help="Also drop what changes no dtype in a model; repeatable.")
@shape_option
@against_option
@install_options
@write_options(check_option)
@prints()
def command(
    mixlists: tuple[str, ...],
    output: str | None,
    minimize: bool,
    models: tuple[str, ...],
    shapes: tuple[str, ...],
    against: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
    open_models: OpenModels,
) -> CommandAnswer:
    """Merge several mixlists into one, because the engine reads only one file.

    If two of them name an op type, the later one wins. Each op type gets as few marks as possible. Sources may have
    comments, as for fmt.

    With --minimize, an entry is kept if any target of --against needs it, and dropped with a warning if no target has
    the op type; with --model, also if no node of the models has other dtypes without it, in any mixed mode. Without
    --against, only entries that change nothing in any library are dropped.

    \b
    Examples:
      opsinfo merge team.json bert.json -o ops_info.json
      opsinfo merge team.json bert.json --strict > merged.json
      opsinfo merge ops_info.json --minimize --against ascend910b
      opsinfo merge ops_info.json --minimize --against ascend910b -o ops_info.json --check
    """
    if output is None and not writing.writes and len(mixlists) > 1:
        raise UsageFault("--check and --dry-run require -o, or a single mixlist")
    sources = [Source.read(path) for path in mixlists]
    accepted = [fixable_mixlist(source, console) for source in sources]
    if not against:
        require_against(options)
    targets = [open_against(text, console, options) for text in against]
    made = merge(
        accepted,
        against=targets,
        minimize=minimize,
        models=models,
        shapes=parse_shapes(shapes),
        say=console.warn,
        open_models=open_models,
    )
    _report(made, console)
    if console.is_failed:
        console.error("warnings count as errors (--strict); nothing was written")
        return CommandAnswer(lambda: made.to_dict(output, Result([], dry_run=True)), list, status=1, paged=False)
    if output is None and writing.writes:
        return CommandAnswer(made.to_dict, lambda: [Exact(made.text)], notes=[_tally(made)], paged=False)
    change = (
        would_build(made.text, sources[0])
        if output is None
        else write_generated("merge", output, made.text, sources, writing, console)
    )
    notes = [_tally(made)]
    if not writing.dry_run:
        notes += notes_of_result(change, undoing(writing, change.change), not writing.check, False)
    return CommandAnswer(
        lambda: made.to_dict(output, change),
        lambda: diffs(change) if writing.dry_run else [],
        notes=notes,
        status=status_of(change, writing.check),
        paged=False,
    )


def _report(made: Merge, console: Console) -> None:
    """Print what models left open, and the entries that were dropped or shortened."""
    for note in made.notes:
        console.note(note)
    for each in made.minimal.dropped:
        if each.reason != "unknown-operator":
            where = " in the models" if each.reason == "no-effect-in-model" else ""
            console.note(f"dropped `{each.name}` ({' + '.join(each.marks)}): it changes nothing{where}")
    for short in made.minimal.shortened:
        console.note(f"shortened `{short.name}`: {' + '.join(short.before)} -> {' + '.join(short.after)}")


def _tally(made: Merge) -> str:
    kept, dropped, shortened = len(made.minimal.marks), len(made.minimal.dropped), len(made.minimal.shortened)
    return f"{counted(kept, 'op type')} kept, {dropped} dropped, {shortened} shortened"
