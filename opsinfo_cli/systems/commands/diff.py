"""`opsinfo systems diff`: compare the lists of two systems, with the names of one of them."""

from __future__ import annotations

from typing import Any

import click

from ...core.cann.target import TargetOptions
from ...core.compare import difference
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.params import Command, install_options, prints
from ...errors import UsageFault
from ..registry import names_system
from ..translation import translated
from ..vocabulary import OperatorLists
from .answers import difference_answer
from .open import SYSTEM, open_lists, report_losses


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
