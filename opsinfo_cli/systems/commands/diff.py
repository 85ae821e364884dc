"""`opsinfo systems diff`: compare the lists of two systems, with the names of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...core.cann.target import TargetOptions
from ...core.compare import difference, difference_members
from ...core.terminal.answer import Answer, Cell, Column, Span, Table
from ...core.terminal.console import Console
from ...core.terminal.params import Command, install_options, prints
from ...errors import UsageFault
from ..registry import names_system
from ..translation import translated
from ..vocabulary import OperatorLists
from .open import SYSTEM, open_lists, report_losses
from .show import source_document

if TYPE_CHECKING:
    from ...core.compare import Difference


@click.command("diff", cls=Command)
@click.argument("a", metavar="A", type=SYSTEM)
@click.argument("b", metavar="B", type=SYSTEM)
@install_options
@prints(out=True)
def command(a: str, b: str, options: TargetOptions, console: Console) -> Answer:
    """Compare the classes of operators in two systems; either may also be a TARGET. Exit 1 if they differ.

    Systems with different names are compared by Ascend op types. `*` stands for names that are not listed.

    \b
    Examples:
      opsinfo systems diff apex:O1 torch-amp
      opsinfo systems diff habana-autocast ascend910b
    """
    if options != TargetOptions() and names_system(a) and names_system(b):
        raise UsageFault("--soc, --core and --custom require a TARGET")
    first, second = (open_lists(text, console, options) for text in (a, b))
    if first.names != second.names:
        first, second = _in_op_types(first, console), _in_op_types(second, console)
    return difference_answer(first, second, difference(_classes(first, second), _classes(second, first)))


def _in_op_types(lists: OperatorLists, console: Console) -> OperatorLists:
    read = translated(lists, "ascend")
    report_losses(read.losses, console)
    return read.lists


def _classes(lists: OperatorLists, other: OperatorLists) -> dict[str, Any]:
    """Return classes by name; a form that a translation added is included only if the other side lists it."""
    known = {entry.name for entry in other.entries}
    return {name: entry.cls for name, entry in lists.deciding().items() if not entry.is_form or name in known}


def difference_answer(a: OperatorLists, b: OperatorLists, difference: Difference[Any]) -> Answer:
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
    return Answer(
        lambda: {"system_a": source_document(a), "system_b": source_document(b), **difference_members(difference)},
        lambda: [Table(columns, rows, lambda: fields)],
        notes=[f"{len(difference.changed)} of another class, {sides}, {difference.same} the same"],
        status=1 if difference or a.unlisted != b.unlisted else 0,
    )
