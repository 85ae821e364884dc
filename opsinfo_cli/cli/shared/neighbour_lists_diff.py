"""`opsinfo diff` where A or B is another system's: classes compared, in one language of names."""

from __future__ import annotations

from typing import Any

from ...compare.policies import difference
from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.placed import Lists
from ...neighbours.systems import names_system
from ...neighbours.translation import translated
from ...report.terminal.output import Output
from ...report.views.lists_difference import lists_difference_document, show_lists_difference
from ...report.views.neighbours import say_losses
from .neighbour_lists import open_lists


def diff_lists(a: str, b: str, socs: tuple[str | None, str | None], options: TargetOptions, output: Output) -> int:
    """:returns: 1 where they differ, else 0

    :raises UsageFault: where an option of a target is given for a system
    """
    for text, soc, option in zip((a, b), socs, ("--soc-a", "--soc-b"), strict=True):
        if soc and names_system(text):
            raise UsageFault(f"{option} is for an install; {text} is another system")
    opened = [
        open_lists(text, output, options._replace(soc=soc, soc_option=option))
        for text, soc, option in zip((a, b), socs, ("--soc-a", "--soc-b"), strict=True)
    ]
    first, second = opened if opened[0].names == opened[1].names else [_in_op_types(each, output) for each in opened]
    found = difference(_classes(first), _classes(second))
    if output.format == "json":
        output.document(lists_difference_document(first, second, found))
    else:
        show_lists_difference(output, first, second, found)
    return 1 if found or first.unlisted != second.unlisted else 0


def _in_op_types(lists: Lists, output: Output) -> Lists:
    told = translated(lists, "ascend")
    say_losses(output, told.losses)
    return told.lists


def _classes(lists: Lists) -> dict[str, Any]:
    return {name: each.cls for name, each in lists.deciding().items()}
