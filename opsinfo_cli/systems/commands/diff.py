"""`opsinfo systems diff`: compare the lists of two or more systems, with the names of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ...core.cann.targets.found import TargetOptions
from ...core.compare import difference
from ...core.document import as_json
from ...core.terminal.answer import Cell, Column, CommandAnswer, Span, Table
from ...core.terminal.console import Console
from ...core.terminal.params import Command, install_options, prints
from ...errors import UsageFault, counted, quoted
from ..registry import names_system
from ..translation import translate
from ..vocabulary import OperatorClass, OperatorLists
from .open import SYSTEM, open_lists, report_losses

if TYPE_CHECKING:
    from ...core.compare import NameDifference
    from ..documents import diff as documents


@click.command("diff", cls=Command)
@click.argument("systems", nargs=-1, required=True, metavar="A B...", type=SYSTEM)
@install_options
@prints(out=True)
def command(systems: tuple[str, ...], options: TargetOptions, console: Console) -> CommandAnswer:
    """Compare the classes of operators in systems; any of them may also be a TARGET. Exit 1 if they differ.

    Of more than two systems it shows a table of names by system. Systems with different names are compared by Ascend
    op types. `*` stands for names that are not listed.

    \b
    Examples:
      opsinfo systems diff apex:O1 torch-amp
      opsinfo systems diff habana-autocast ascend910b
      opsinfo systems diff apex:O1 torch-amp torch-npu
    """
    if len(systems) == 1:
        hint = f"`opsinfo systems show {quoted(systems[0])}` shows its lists"
        raise UsageFault("one system has nothing to be compared with", hint=hint)
    if options != TargetOptions() and all(map(names_system, systems)):
        raise UsageFault("--soc, --core and --custom require a TARGET")
    read = [open_lists(text, console, options) for text in systems]
    opened = [each.lists for each in read]
    if len({lists.names for lists in opened}) > 1:
        opened = [_in_op_types(lists, console) for lists in opened]
    classes = [_classes(lists, [other for other in opened if other is not lists]) for lists in opened]
    if len(opened) > 2:
        answer = matrix_answer(_labels(opened, systems), opened, classes)
    else:
        a, b = opened
        answer = difference_answer(a, b, difference(*classes))
    is_partial = any(loss.is_unread for each in read for loss in each.losses)
    return answer._replace(status=1) if is_partial else answer


def _in_op_types(lists: OperatorLists, console: Console) -> OperatorLists:
    read = translate(lists, "ascend")
    report_losses(read.losses, console)
    return read.lists


def _labels(opened: Sequence[OperatorLists], texts: Sequence[str]) -> Sequence[str]:
    """Return distinct labels: the titles, else the texts as given, else these with their number."""
    titles = [lists.title for lists in opened]
    numbered = [f"{text} ({number})" for number, text in enumerate(texts, 1)]
    return next(labels for labels in (titles, texts, numbered) if len(set(labels)) == len(labels))


def _classes(lists: OperatorLists, others: Sequence[OperatorLists]) -> dict[str, OperatorClass]:
    """Return classes by name; a form that a translation added is included only if another side lists it."""
    known = {entry.name for other in others for entry in other.entries}
    return {name: entry.cls for name, entry in lists.deciding().items() if not entry.is_form or name in known}


def difference_answer(a: OperatorLists, b: OperatorLists, difference: NameDifference[OperatorClass]) -> CommandAnswer:
    """Status 1 if they differ; `*` stands for names that are not listed."""
    changed = {name: (str(x), str(y)) for name, (x, y) in difference.changed.items()}
    if a.unlisted != b.unlisted:
        changed["*"] = (a.unlisted, b.unlisted)
    fields = [
        *(["changed", name, *pair] for name, pair in changed.items()),
        *(["only_in_a", name] for name in difference.only_in_a),
        *(["only_in_b", name] for name in difference.only_in_b),
    ]
    rows: list[list[Cell]] = [["~", name, *pair] for name, pair in changed.items()]
    rows += [[Span("-", "removed"), name, "listed", "-"] for name in difference.only_in_a]
    rows += [[Span("+", "added"), name, "-", "listed"] for name in difference.only_in_b]
    columns = [Column(""), Column("name"), Column(f"A {a.title}"), Column(f"B {b.title}")]
    sides = f"{len(difference.only_in_a)} only in A, {len(difference.only_in_b)} only in B"

    def document() -> documents.TwoSystems:
        return {
            "schema_version": 1,
            "command": "systems diff",
            "system_a": a.description,
            "system_b": b.description,
            "only_in_a": difference.only_in_a,
            "only_in_b": difference.only_in_b,
            "changed": [{"name": name, "a": x.value, "b": y.value} for name, (x, y) in difference.changed.items()],
            "counts": as_json(difference.counts),
        }

    return CommandAnswer(
        document,
        lambda: [Table(columns, rows, lambda: fields)],
        notes=[f"{len(difference.changed)} of another class, {sides}, {difference.same} the same"],
        status=1 if difference or a.unlisted != b.unlisted else 0,
    )


def matrix_answer(
    labels: Sequence[str], opened: Sequence[OperatorLists], classes: Sequence[dict[str, OperatorClass]]
) -> CommandAnswer:
    """A row for each name with its class in each system, then `*` with what becomes of names that are not listed."""
    names = sorted({name for each in classes for name in each})
    rows = {name: [each.get(name) for each in classes] for name in names}
    unlisted = [lists.unlisted for lists in opened]
    differ = sum(len(set(row)) > 1 for row in rows.values())
    columns = [Column("name"), *map(Column, labels)]
    cells = [[name, *(str(cls or "-") for cls in row)] for name, row in rows.items()]

    def document() -> documents.ManySystems:
        return {
            "schema_version": 1,
            "command": "systems diff",
            "targets": list(labels),
            "operators": [
                {"name": name, "policies": [cls.value if cls else None for cls in row]} for name, row in rows.items()
            ],
            "unlisted": [*unlisted],
            "counts": {"operators": len(rows), "differ": differ, "total": len(rows)},
        }

    return CommandAnswer(
        document,
        lambda: [Table(columns, [*cells, ["*", *unlisted]])],
        content=counted(len(rows), "operator"),
        notes=[f"{counted(len(rows), 'name')} in {len(opened)} systems, {differ} differ"],
        status=1 if differ or len(set(unlisted)) > 1 else 0,
    )
