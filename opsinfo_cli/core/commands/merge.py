"""`opsinfo merge`: one mixlist from one or several."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ...errors import UsageFault
from ..cann.mixlist import conflicts, merged, minimal, narrowed
from ..cann.policy import Mark
from ..cann.target import Target, TargetOptions
from ..change.plan import Result, written_like
from ..terminal.answer import Answer
from ..terminal.changes import built_answer
from ..terminal.console import Console
from ..terminal.open import fixable_mixlist, open_targets
from ..terminal.params import (
    FILE,
    Command,
    OutputFile,
    WriteOptions,
    against_option,
    check_option,
    install_options,
    option,
    prints,
    shape_option,
    write_options,
)
from ..terminal.write import built, undoing, would_build
from ..text.source import Source
from .merge_view import conflict_line, merge_document, report_minimal, report_unknown_names


@click.command("merge", cls=Command)
@click.argument("mixlists", nargs=-1, required=True, type=FILE, metavar="MIXLIST...")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", replaces=["mixlists"]),
    help="Write to OUT, which may be one of the mixlists; an existing file is backed up.",
)
@option("--minimize", is_flag=True, help="Drop entries that change nothing in the targets of --against.")
@option("--strict", is_flag=True, help="Exit 1, writing nothing, if the mixlists disagree or a name is unknown.")
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
    strict: bool,
    models: tuple[str, ...],
    shapes: tuple[str, ...],
    against: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
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
    if shapes and not models:
        raise UsageFault("--shape requires --model", hint="add --model MODEL")
    if models and not (minimize and against):
        raise UsageFault("--model requires --minimize and --against")
    if output is None and not writing.writes and len(mixlists) > 1:
        raise UsageFault("--check and --dry-run require -o, or a single mixlist")
    sources = [Source.read(path) for path in mixlists]
    accepted = [fixable_mixlist(source, console) for source in sources]
    targets = open_targets(against, console, options)
    disputes = conflicts(accepted)
    marks = merged(accepted) if len(accepted) > 1 else accepted[0].marks
    result = minimal(marks, [target.operators for target in targets] if minimize else [])
    if models:
        result = narrowed(result, _without_effect(result.marks, models, shapes, targets, console))
    for conflict in disputes:
        console.error(conflict_line(conflict)) if strict else console.note(conflict_line(conflict))
    unknown = list(result.unknown)
    if not minimize:
        unknown = report_unknown_names(console, result.marks, targets)
    notes = report_minimal(console, result, targets)
    head = merge_document(mixlists, targets, result, disputes)
    text = written_like(accepted[0], result.marks)
    if strict and (disputes or unknown):
        console.error("nothing was written, because of --strict")
        none = Result([])
        return built_answer(none, head, text=None, out=output, undo="", dry_run=True, check=True)._replace(status=1)
    if output is not None:
        change = built("merge", output, text, sources, writing, console)
    else:
        change = Result([]) if writing.writes else would_build(text, sources[0])
    return built_answer(
        change,
        head,
        text=text if output is None and writing.writes else None,
        out=output,
        undo=undoing(writing, output or mixlists[0]),
        dry_run=writing.dry_run,
        check=writing.check,
        notes=notes,
    )


def _without_effect(
    marks: Mapping[str, frozenset[Mark]],
    models: tuple[str, ...],
    shapes: tuple[str, ...],
    targets: list[Target],
    console: Console,
) -> list[str]:
    """Return op types that change no dtype in the models, and say what open dimensions decided."""
    from ...lab.graph.mixlist_check import open_models, without_effect
    from ..cann.input_shapes import parse_shapes
    from ..check.mixlist import MixlistTarget

    opened = open_models(models, parse_shapes(shapes))
    names = without_effect(marks, opened, list(map(MixlistTarget, targets)))
    for note in filter(None, (model.note for model in opened)):
        console.note(note)
    return names
