"""`opsinfo systems diff`: compare the lists of two or more systems, with the names of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import click

from ...core.cann.targets.found import TargetOptions
from ...core.compare import difference
from ...core.document import Count, Schema, as_json
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
        translated = [translate(lists, "ascend") for lists in opened]
        for each in translated:
            report_losses(each.losses, console)
        opened = [each.lists for each in translated]
    classes = [_classes(lists, [other for other in opened if other is not lists]) for lists in opened]
    if len(opened) > 2:
        answer = matrix_answer(_labels(opened, systems), opened, classes)
    else:
        a, b = opened
        answer = difference_answer(a, b, difference(*classes))
    is_partial = any(loss.is_unread for each in read for loss in each.losses)
    return answer._replace(status=1) if is_partial else answer


def _labels(opened: Sequence[OperatorLists], texts: Sequence[str]) -> Sequence[str]:
    """Return distinct labels: the titles, else the texts as given, else these with their number."""
    titles = [lists.title for lists in opened]
    numbered = [f"{text} ({number})" for number, text in enumerate(texts, 1)]
    return next(labels for labels in (titles, texts, numbered) if len(set(labels)) == len(labels))


def _classes(lists: OperatorLists, others: Sequence[OperatorLists]) -> dict[str, OperatorClass]:
    """Return classes by name; a form that a translation added is included only if another side lists it."""
    known = {entry.name for other in others for entry in other.entries}
    return {name: entry.cls for name, entry in lists.deciding().items() if not entry.is_form or name in known}


@dataclass(frozen=True)
class ChangedName:
    """One name."""

    name: str
    """The name."""
    a: OperatorClass
    """Its class in A. low: reduced. high: float32. follow: the type of its producer. promote: the type of its widest
    input. clear: passes low precision on. banned: refused in low precision.
    """
    b: OperatorClass
    """Its class in B. low: reduced. high: float32. follow: the type of its producer. promote: the type of its widest
    input. clear: passes low precision on. banned: refused in low precision.
    """


@dataclass(frozen=True)
class NameCounts:
    """Number of names by result."""

    only_in_a: Count
    """Number of names only in A."""
    only_in_b: Count
    """Number of names only in B."""
    changed: Count
    """Number of names with different classes."""
    same: Count
    """Number of names with the same class."""


@dataclass(frozen=True)
class TwoSystems:
    """The differences between the lists of two systems, or the classes in three or more. If the systems use different
    operator names, all lists are translated to Ascend's op types. Later versions may add keys.
    """

    system_a: OperatorLists
    system_b: OperatorLists
    only_in_a: list[str]
    """Names that only A lists."""
    only_in_b: list[str]
    """Names that only B lists."""
    changed: list[ChangedName]
    """Names that both list, but in different classes."""
    counts: NameCounts
    """Number of names by result."""


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

    found = TwoSystems(
        a,
        b,
        difference.only_in_a,
        difference.only_in_b,
        [ChangedName(name, *pair) for name, pair in difference.changed.items()],
        NameCounts(**vars(difference.counts)),
    )
    return CommandAnswer(
        lambda: as_json(found),
        lambda: [Table(columns, rows, lambda: fields)],
        notes=[f"{len(difference.changed)} of another class, {sides}, {difference.same} the same"],
        status=1 if difference or a.unlisted != b.unlisted else 0,
    )


@dataclass(frozen=True)
class NameRow:
    """One name and its class in every system."""

    name: str
    """The name."""
    policies: list[OperatorClass | None]
    """Its class in each system, in the order of `targets`; null if the system does not list it."""


@dataclass(frozen=True)
class RowCounts:
    """Number of names."""

    operators: Count
    """Number of names shown."""
    differ: Count
    """Number of names whose classes differ; one that a system does not list differs."""
    total: Count
    """Number of all names."""


@dataclass(frozen=True)
class ManySystems:
    """The differences between the lists of two systems, or the classes in three or more. If the systems use different
    operator names, all lists are translated to Ascend's op types. Later versions may add keys.
    """

    targets: Annotated[Sequence[str], Schema(minItems=2)]
    """The systems, with distinct names."""
    operators: list[NameRow]
    """The names, sorted."""
    unlisted: Sequence[str]
    """What each system does with a name that it does not list."""
    counts: RowCounts
    """Number of names."""


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
    found = ManySystems(
        labels, [NameRow(*row) for row in rows.items()], unlisted, RowCounts(len(rows), differ, len(rows))
    )
    return CommandAnswer(
        lambda: as_json(found),
        lambda: [Table(columns, [*cells, ["*", *unlisted]])],
        content=counted(len(rows), "operator"),
        notes=[f"{counted(len(rows), 'name')} in {len(opened)} systems, {differ} differ"],
        status=1 if differ or len(set(unlisted)) > 1 else 0,
    )
