"""`opsinfo merge`: one mixlist from one or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from ...errors import UsageFault, counted
from .. import rooms
from ..cann.mixlist import Conflict, Minimal, conflicts, merged, minimal, mixlist_content, narrowed
from ..cann.near_names import NearNames, did_you_mean
from ..cann.policy import Mark
from ..cann.target import Target, TargetOptions
from ..change.plan import Result, written_like
from ..terminal.answer import Answer
from ..terminal.changes import built_answer
from ..terminal.config import Targeted
from ..terminal.console import Console
from ..terminal.open import fixable_mixlist, open_targets
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
from ..terminal.targets import target_document
from ..terminal.write import built, undoing, would_build
from ..text.source import Source


@click.command("merge", cls=Targeted)
@click.argument("mixlists", nargs=-1, required=True, type=FILE, metavar="MIXLIST...")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", replaces=["mixlists"]),
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
        console.warn(conflict_line(conflict))
    if not minimize:
        report_unknown_names(console, result.marks, targets)
    notes = report_minimal(console, result, targets)
    head = merge_document(mixlists, targets, result, disputes)
    text = written_like(accepted[0], result.marks)
    if console.is_failed:
        console.error("warnings count as errors (--strict); nothing was written")
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
    from ..cann.input_shapes import parse_shapes
    from ..check.mixlist import MixlistTarget

    rules = rooms.model_rules()
    opened = rules.open_models(models, parse_shapes(shapes))
    names = rules.without_effect(marks, opened, list(map(MixlistTarget, targets)))
    for note in filter(None, (model.note for model in opened)):
        console.note(note)
    return names


def conflict_line(conflict: Conflict) -> str:
    """Return the marks of an op type in each mixlist; the last one wins."""
    given = ", ".join(f"{_words(each.marks)} in {each.path}" for each in conflict.given)
    return f"`{conflict.name}`: {given}; the last one wins"


def report_unknown_names(console: Console, marks: Iterable[str], targets: Sequence[Target]) -> None:
    """Warn of names that no target has."""
    unknown = [
        name
        for name in sorted(marks)
        if targets and all(name not in each.operators and name not in each.operators.unreadable for each in targets)
    ]
    _warn_of_unknown(console, unknown, targets, "the engine ignores it")


def report_minimal(console: Console, result: Minimal, targets: Sequence[Target]) -> list[str]:
    """Report the dropped entries with reasons; a name that no target has may be misspelt, so it is a warning.

    :returns: a line that sums up
    """
    _warn_of_unknown(console, result.unknown, targets, "the engine ignores it, and it was dropped")
    for each in result.dropped:
        if each.reason != "unknown-operator":
            where = " in the models" if each.reason == "no-effect-in-model" else ""
            console.note(f"dropped `{each.name}` ({_words(each.marks)}): it changes nothing{where}")
    for name, (before, after) in result.shortened.items():
        console.note(f"shortened `{name}`: {_words(before)} -> {_words(after)}")
    kept = counted(len(result.marks), "op type")
    return [f"{kept} kept, {len(result.dropped)} dropped, {len(result.shortened)} shortened"]


def _warn_of_unknown(console: Console, names: Iterable[str], targets: Sequence[Target], outcome: str) -> None:
    known = NearNames({name for target in targets for name in target.operators.names})
    where = " or ".join(target.text for target in targets)
    for name in names:
        places = filter(None, (target.operators.elsewhere(name) for target in targets))
        near = next(places, None) or did_you_mean(name, known)
        message = f"`{name}` is not an op type of {where}; {outcome}"
        console.warn(message + (f"; {near}" if near else ""))


def merge_document(
    sources: Sequence[str], targets: Sequence[Target], result: Minimal, disputes: Sequence[Conflict]
) -> Mapping[str, Any]:
    return {
        "sources": list(sources),
        "against": [target_document(target) for target in targets],
        "mixlist": mixlist_content(result.marks),
        "dropped": [{**each._asdict(), "marks": _marks(each.marks)} for each in result.dropped],
        "shortened": [
            {"name": name, "from": _marks(before), "to": _marks(after)}
            for name, (before, after) in result.shortened.items()
        ],
        "conflicts": [
            {
                "name": each.name,
                "given": [{"path": given.path, "marks": _marks(given.marks)} for given in each.given],
            }
            for each in disputes
        ],
    }


def _marks(marks: frozenset[Mark]) -> list[str]:
    return [str(mark) for mark in sorted(marks)]


def _words(marks: frozenset[Mark]) -> str:
    return " + ".join(_marks(marks))
