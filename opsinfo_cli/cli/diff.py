"""`opsinfo diff`: what differs between two targets, or two mixlists."""

from __future__ import annotations

from typing import Any

import click

from ..compare.policies import Difference, diff, difference, policies_of
from ..compare.port import mixlist_for
from ..compare.sections import section_differences
from ..errors import UsageFault
from ..model.install import CORES
from ..model.mixlist import Mixlist
from ..model.target import Target
from ..neighbours.systems import names_system
from ..report.differences import difference_document, difference_lines, mixlist_text, section_lines, summary
from ..report.output import Output
from .options import format_option, open_target, output_of
from .remarks import accepted_mixlist, say_doubts, say_unknown

__all__ = ["command"]


@click.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("--mixlist-a", metavar="FILE", help="Compare A as this mixlist changes it.")
@click.option("--mixlist-b", metavar="FILE", help="Compare B as this mixlist changes it.")
@click.option("--soc-a", metavar="SOC", help="Which chip of A.")
@click.option("--soc-b", metavar="SOC", help="Which chip of B.")
@click.option(
    "--core",
    type=click.Choice(CORES),
    default="ai",
    show_default=True,
    help="Operators of which engine: AI Core, vector core or DSA.",
)
@click.option("--sections", is_flag=True, help="Also what differs inside the entries.")
@format_option("mixlist")
def command(
    a: str,
    b: str,
    mixlist_a: str | None,
    mixlist_b: str | None,
    soc_a: str | None,
    soc_b: str | None,
    core: str,
    sections: bool,
    format_: str,
    **options: Any,
) -> int:
    """Compare the policies of A and B, or the marks of two mixlists. Exit status 1 where they differ.

    A or B may also be another system: NAME, NAME:LEVEL or NAME=FILE[,FILE] (`opsinfo systems` lists them).

    With --format mixlist: print the mixlist that gives A's operators the policy they have in B.

    \b
    Examples:
      opsinfo diff /old/opp /new/opp --soc-a ascend910b --soc-b ascend910b
      opsinfo diff ascend910 ascend910b --sections
      opsinfo diff ascend910b ascend910 --format mixlist > like-910.json
      opsinfo diff torch-npu torch-amp
    """
    output = output_of("diff", options, format_)
    if names_system(a) or names_system(b):
        if sections or mixlist_a or mixlist_b or output.format not in ("text", "json"):
            raise UsageFault("another system's lists have no sections and no mixlist, and are shown as text or json")
        from .lists_diff import diff_lists

        return diff_lists(a, b, (soc_a, soc_b), core, output)
    first = open_target(a, output, {"soc": soc_a, "core": core, "soc_option": "--soc-a"})
    second = open_target(b, output, {"soc": soc_b, "core": core, "soc_option": "--soc-b"})
    if (first.kind == "mixlist") != (second.kind == "mixlist"):
        raise UsageFault(f"A is a {first.kind}, B is a {second.kind}; they cannot be compared", name="wrong-kind")
    if first.kind == "mixlist":
        if sections or mixlist_a or mixlist_b or output.format == "mixlist":
            raise UsageFault(
                "--sections, --mixlist-a, --mixlist-b and --format mixlist compare libraries, not mixlists"
            )
        return _mixlists(first, second, output)
    for target in (first, second):
        say_doubts(target, output)
    mine, theirs = _chosen(mixlist_a, first, output), _chosen(mixlist_b, second, output)
    if output.format == "mixlist":
        return _port(first, second, theirs, output)
    found = diff(first, second, mine, theirs)
    inside = list(section_differences(first.operators, second.operators)) if sections else None
    if output.format == "json":
        output.document(difference_document(first, second, found, inside))
    else:
        output.lines(difference_lines(output, first, second, found))
        output.lines(section_lines(output, inside or []))
        _tell(found, output)
    return 1 if found or inside else 0


def _chosen(path: str | None, target: Target, output: Output) -> Mixlist | None:
    if path is None:
        return None
    mixlist = accepted_mixlist(path, output)
    say_unknown(mixlist, target.operators, output)
    return mixlist


def _mixlists(a: Target, b: Target, output: Output) -> int:
    found = diff(a.mixlist, b.mixlist)
    if output.format == "json":
        output.document(difference_document(a, b, found, None))
    else:
        output.lines(difference_lines(output, a, b, found))
        _tell(found, output)
    return 1 if found else 0


def _tell(found: Difference[Any], output: Output) -> None:
    """The summary, where a terminal has not had it first."""
    if not output.on_terminal:
        output.tell(summary(found))


def _port(a: Target, b: Target, mixlist: Mixlist | None, output: Output) -> int:
    wanted = policies_of(b.operators, mixlist)
    library = policies_of(a.operators)
    output.data(mixlist_text(mixlist_for(library, wanted)), exact=True)
    lacking: Difference[Any] = difference(library, wanted)
    for names, where, other in ((lacking.only_in_b, "B", "A"), (lacking.only_in_a, "A", "B")):
        if names:
            what = "cannot be ported" if where == "B" else "keep their policy"
            output.say(f"{len(names)} op types of {where} are not in {other} and {what}: {', '.join(names)}", "warning")
    return 0
