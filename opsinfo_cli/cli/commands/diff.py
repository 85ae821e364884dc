"""`opsinfo diff`: compare two targets or two mixlists."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...compare import Difference, diff, difference, policies_of
from ...errors import UsageFault
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ...report.views.differences import (
    difference_document,
    difference_groups,
    difference_rows,
    mixlist_text,
    section_lines,
    summary,
)
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.doubts import report_doubts, report_unknown
from ..shared.options import core_option, out_option, pager_option
from ..shared.targets import open_target

if TYPE_CHECKING:
    from typing import Any

    from ...compare import SectionDifference
    from ...model.mixlist import Mixlist


@declare.command("diff")
@declare.argument("a")
@declare.argument("b")
@declare.option("--mixlist-a", metavar="FILE", help="Compare A after applying this mixlist.")
@declare.option("--mixlist-b", metavar="FILE", help="Compare B after applying this mixlist.")
@declare.option("--soc-a", metavar="SOC", help="Chip of A, if it has several.")
@declare.option("--soc-b", metavar="SOC", help="Chip of B, if it has several.")
@core_option
@declare.option("--sections", is_flag=True, help="Also compare fields inside each entry.")
@declare.option("--only-in", metavar="MIXLIST", help="Only operators that this mixlist names.")
@pager_option
@format_option("mixlist", "html")
@out_option
def command(
    a: str,
    b: str,
    mixlist_a: str | None,
    mixlist_b: str | None,
    soc_a: str | None,
    soc_b: str | None,
    sections: bool,
    only_in: str | None,
    options: TargetOptions,
    printing: OutputOptions,
) -> int:
    """Compare the policies of A and B, or the marks of two mixlists. Exit status 1 if they differ.

    A terminal shows the changes grouped by kind, the worst first. --format mixlist prints the mixlist that gives
    the operators of A the policies they have in B.

    \b
    Examples:
      opsinfo diff /old/opp /new/opp --soc-a ascend910b --soc-b ascend910b
      opsinfo diff /old/opp /new/opp --only-in ops_info.json    # after an upgrade of CANN
      opsinfo diff ascend910 ascend910b --sections --format html -o chips.html
      opsinfo diff ascend910b ascend910 --format mixlist > like-910.json
    """
    output = output_of("diff", printing)
    for text in (a, b):
        if _names_system(text):
            raise UsageFault(f"{text} is another system", hint=f"`opsinfo systems diff {a} {b}` compares them")
    first = open_target(a, output, options._replace(soc=soc_a, soc_option="--soc-a"))
    second = open_target(b, output, options._replace(soc=soc_b, soc_option="--soc-b"))
    _require_alike(first, second)
    only = _accepted(only_in or None, output)
    named = frozenset(only.marks) if only is not None else None
    if first.kind == "mixlist":
        if sections or mixlist_a or mixlist_b or output.format == "mixlist":
            raise UsageFault(
                "--sections, --mixlist-a, --mixlist-b and --format mixlist compare libraries, not mixlists"
            )
        return _report(output, first, second, diff(first.mixlist, second.mixlist, named=named), None)
    for target in (first, second):
        report_doubts(target, output)
    mine, theirs = _chosen(mixlist_a, first, output), _chosen(mixlist_b, second, output)
    if named:
        _say_in_neither(named, first, second, output)
    if output.format == "mixlist":
        return _port(first, second, theirs, named, output)
    inside = _inside(first, second, named) if sections else None
    # :func:`.diff` would import the reader of mixlists
    found = difference(policies_of(first.operators, mine), policies_of(second.operators, theirs), named)
    return _report(output, first, second, found, inside)


def _names_system(text: str) -> bool:
    if os.path.lexists(text):  # the table of systems is imported only if it is needed
        return False
    from ...neighbours.registry import names_system

    return names_system(text)


def _require_alike(a: Target, b: Target) -> None:
    """:raises UsageFault: if only one of the targets is a mixlist"""
    if (a.kind == "mixlist") != (b.kind == "mixlist"):
        kinds = [_KINDS.get(each.kind, f"a {each.kind}") for each in (a, b)]
        raise UsageFault(f"A is {kinds[0]}, B is {kinds[1]}; they cannot be compared", name="wrong-kind")


_KINDS = {"install": "an install"}


def _inside(a: Target, b: Target, named: frozenset[str] | None) -> list[SectionDifference]:
    """What differs inside the entries that are compared."""
    from ...compare import section_differences

    for target in (a, b):
        if target.snapshot:
            message, hint = "a snapshot has not all sections", "compare the installs themselves"
            raise UsageFault(message, name="wrong-kind", path=target.path, hint=hint)
    found = section_differences(a.operators, b.operators)
    return [each for each in found if named is None or each.name in named]


def _report(
    output: Output, a: Target, b: Target, found: Difference[Any], inside: list[SectionDifference] | None
) -> int:
    if output.format == "json":
        output.document(difference_document(a, b, found, inside))
    elif output.format == "html":
        from ...report.views.pages import diff_page

        output.data(diff_page(a, b, found, inside), exact=True)
    elif output.on_terminal:
        with output.paged():
            output.lines([*difference_groups(output, a, b, found), *section_lines(output, inside or [])])
    else:
        output.lines([*difference_rows(found), *section_lines(output, inside or [])])
        output.tell(summary(found))
    return 1 if found or inside else 0


def _say_in_neither(named: frozenset[str], a: Target, b: Target, output: Output) -> None:
    gone = sorted(name for name in named if name not in a.operators and name not in b.operators)
    if gone:
        output.say(f"{len(gone)} op types of the mixlist are in neither target: {', '.join(gone)}", "warning")


def _chosen(path: str | None, target: Target, output: Output) -> Mixlist | None:
    mixlist = _accepted(path, output)
    if mixlist is not None:
        report_unknown(mixlist, target.operators, output)
    return mixlist


def _accepted(path: str | None, output: Output) -> Mixlist | None:
    if path is None:
        return None
    from ..shared.mixlist_input import accepted_mixlist

    return accepted_mixlist(path, output)


def _port(a: Target, b: Target, mixlist: Mixlist | None, named: frozenset[str] | None, output: Output) -> int:
    from ...compare import mixlist_for

    wanted = policies_of(b.operators, mixlist)
    library = policies_of(a.operators)
    if named is not None:
        wanted = {name: policy for name, policy in wanted.items() if name in named}
    output.data(mixlist_text(mixlist_for(library, wanted)), exact=True)
    if output.to is not None:
        output.tell(f"wrote {output.to}")
    lacking: Difference[Any] = difference(library, wanted, named)
    for names, where, other in ((lacking.only_in_b, "B", "A"), (lacking.only_in_a, "A", "B")):
        if names:
            what = "cannot be ported" if where == "B" else "keep their policy"
            output.say(f"{len(names)} op types of {where} are not in {other} and {what}; -v names them", "warning")
            output.detail(f"in {where} only: {', '.join(names)}")
    return 0
