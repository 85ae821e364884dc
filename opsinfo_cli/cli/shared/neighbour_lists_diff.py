"""`opsinfo diff` with another system as A or B: compares classes, with the names of one system."""

from __future__ import annotations

from typing import Any

from ...compare import difference
from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.systems import names_system
from ...neighbours.translation import translated
from ...neighbours.vocabulary import OperatorLists
from ...report.terminal.output import Output
from ...report.views.conversion import say_losses
from ...report.views.lists_difference import lists_difference_document, show_lists_difference
from .neighbour_lists import open_lists


def diff_lists(a: str, b: str, socs: tuple[str | None, str | None], options: TargetOptions, output: Output) -> int:
    """:returns: 1 if they differ, else 0

    :raises UsageFault: if an option of a target is given for a system
    """
    for text, soc, option in zip((a, b), socs, ("--soc-a", "--soc-b"), strict=True):
        if soc and names_system(text):
            raise UsageFault(f"{option} is for an install; {text} is another system")
    opened = [
        open_lists(text, output, options._replace(soc=soc, soc_option=option))
        for text, soc, option in zip((a, b), socs, ("--soc-a", "--soc-b"), strict=True)
    ]
    first, second = opened if opened[0].names == opened[1].names else [_in_op_types(each, output) for each in opened]
    found = difference(_classes(first, second), _classes(second, first))
    if output.format == "json":
        output.document(lists_difference_document(first, second, found))
    else:
        show_lists_difference(output, first, second, found)
    return 1 if found or first.unlisted != second.unlisted else 0


def _in_op_types(lists: OperatorLists, output: Output) -> OperatorLists:
    found = translated(lists, "ascend")
    say_losses(output, found.losses)
    return found.lists


def _classes(lists: OperatorLists, other: OperatorLists) -> dict[str, Any]:
    """Return classes by name; a form that a translation added is included only if the other side lists it."""
    known = {each.name for each in other.entries}
    return {name: each.cls for name, each in lists.deciding().items() if not each.is_form or name in known}
