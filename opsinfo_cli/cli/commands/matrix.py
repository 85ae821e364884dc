"""`opsinfo matrix`: show operators by target, for any number of targets."""

from __future__ import annotations

import os

from ...compare import Policies, differs, policies_by_name, policies_of
from ...errors import UsageFault
from ...model.install import opp_root, socs_of
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ...report.views.matrix import matrix_document, show_matrix
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.doubts import report_doubts, report_no_match
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import (
    LIST,
    core_option,
    customs_option,
    match_option,
    matches,
    mixlist_option,
    out_option,
    pager_option,
)
from ..shared.targets import open_target


@declare.command("matrix")
@declare.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@declare.option("--soc", "socs", metavar="SOC", multiple=True, help="Only this chip of each install; repeatable.")
@declare.option(
    "--on", "lists", multiple=True, type=LIST, help="Only operators that are on this list in any target; repeatable."
)
@match_option
@declare.option(
    "--differing", is_flag=True, help="Only operators whose policy differs between targets, or that a target lacks."
)
@mixlist_option
@core_option
@customs_option
@pager_option
@format_option("html")
@out_option
def command(
    targets: tuple[str, ...],
    socs: tuple[str, ...],
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    differing: bool,
    mixlist: str | None,
    options: TargetOptions,
    printing: OutputOptions,
) -> int:
    """Show the policy of each operator in each target.

    An install has a column for each of its chips; ROOT@SOC selects one. A terminal shows a table; a pipe gets
    tab-separated lines: name, then a policy for each column, or `-` if the target lacks the operator.

    \b
    Examples:
      opsinfo matrix ascend910 ascend910b --differing
      opsinfo matrix /usr/local/Ascend/ascend-toolkit/latest --match 'MatMul*'
      opsinfo matrix /old/opp@ascend910b /new/opp@ascend910b --on black
      opsinfo matrix ascend910 ascend910b --format html -o chips.html
    """
    output = output_of("matrix", printing)
    columns = [column for text in targets for column in _columns(text, socs, options, output)]
    chosen = accepted_mixlist(mixlist, output) if mixlist else None
    for column in columns:
        report_doubts(column, output)
    whole = policies_by_name([policies_of(column.operators, chosen) for column in columns])
    shown = {
        name: policies
        for name, policies in whole.items()
        if _wanted(name, policies, lists, globs) and (differs(policies) or not differing)
    }
    if whole and not shown:
        report_no_match(output, len(whole), {"--on": lists, "--match": globs, "--differing": differing})
    _show(output, columns, shown, len(whole), mixlist)
    return 0


def _show(output: Output, columns: list[Target], rows: dict[str, Policies], total: int, mixlist: str | None) -> None:
    if output.format == "json":
        output.document(matrix_document(columns, rows, total))
    elif output.format == "html":
        from ...report.views.pages import matrix_page

        output.data(matrix_page(columns, rows, total, mixlist), exact=True)
    else:
        show_matrix(output, columns, rows, total)


def _columns(text: str, socs: tuple[str, ...], options: TargetOptions, output: Output) -> list[Target]:
    """Return the columns of a TARGET: one per chip of an install, else one."""
    root, at, soc = text.rpartition("@")
    if at and os.path.isdir(root) and not os.path.lexists(text):
        text, socs = root, (soc,)
    found = opp_root(text) if os.path.isdir(text) else None
    if found:
        chips: list[str | None] = [*(socs or socs_of(found, "ai" if options.core == "vector" else options.core))]
        return [open_target(text, output, options._replace(soc=chip)) for chip in chips or [None]]
    target = open_target(text, output, options)
    if target.kind == "mixlist":
        raise UsageFault(
            "a mixlist has marks, not policies",
            name="wrong-kind",
            path=text,
            hint="--mixlist FILE applies it to the targets",
        )
    return [target]


def _wanted(name: str, policies: Policies, lists: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    if lists and not any(policy is not None and str(policy) in lists for policy in policies):
        return False
    return matches(name, globs)
