"""`opsinfo list`: list op types with their policy, or the marks of a mixlist."""

from __future__ import annotations

from ...errors import UsageFault
from ...model.operator_rows import OperatorRow, mixlist_rows, operator_rows
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ...report.views.operators import list_document, show_rows
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.doubts import report_doubts, report_no_match, report_unknown
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import LIST, match_option, matches, mixlist_option, out_option, pager_option, target_options
from ..shared.targets import open_against, open_target


@declare.command("list")
@declare.argument("target", required=False)
@declare.option(
    "--on",
    "lists",
    multiple=True,
    type=LIST,
    help="Only operators on this list; repeatable.",
)
@match_option
@mixlist_option
@declare.option("--against", metavar="TARGET", help="For a mixlist: the target with the policies.")
@declare.option("--system", metavar="SYSTEM", help="Another system's lists: NAME, NAME:LEVEL or NAME=FILE[,FILE].")
@target_options
@pager_option
@format_option("html")
@out_option
def command(
    target: str | None,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    mixlist: str | None,
    against: str | None,
    system: str | None,
    options: TargetOptions,
    printing: OutputOptions,
) -> int:
    """Show the operators of TARGET with their policy: white, black or gray.

    A terminal shows a table; a pipe gets tab-separated lines: name, policy, library policy, file:line, marks.

    \b
    Examples:
      opsinfo list ascend910b --on black
      opsinfo list aic-ascend910b-ops-info.json --match 'MatMul*'
      opsinfo list /usr/local/Ascend/ascend-toolkit/latest --soc ascend910b --mixlist ops_info.json
      opsinfo list ops_info.json --against ascend910b
      opsinfo list --system apex:O1
      opsinfo list ascend910b --format html -o ascend910b.html
    """
    output = output_of("list", printing)
    if system is not None:
        if target or mixlist or against or options.kind or options.soc or options.customs:
            raise UsageFault("--system can only be combined with --on, --match and --format")
        return _list_system(system, lists, globs, output)
    if target is None:
        raise UsageFault("TARGET or --system is required", hint="`opsinfo list --help` shows how it is used")
    found = open_target(target, output, options, stdin=True).keep()
    _require_fitting(found, target, mixlist, against)
    if found.kind == "mixlist":
        rows = _mixlist_rows(found, open_against(against, output, options) if against else None, output)
    else:
        rows = _operator_rows(found, mixlist, output)
    shown = [row for row in rows if _wanted(row, lists, globs)] if lists or globs else rows
    if rows and not shown:
        report_no_match(output, len(rows), {"--on": lists, "--match": globs})
    _show(output, found, shown, len(rows), mixlist)
    return 0


def _list_system(system: str, lists: tuple[str, ...], globs: tuple[str, ...], output: Output) -> int:
    from ..shared.neighbour_lists import list_system

    if output.format == "html":
        raise UsageFault("the lists of another system can only be shown as text or json")
    return list_system(system, lists, globs, output)


def _require_fitting(target: Target, text: str, mixlist: str | None, against: str | None) -> None:
    """:raises UsageFault: if an option is for the other kind of target"""
    if mixlist and target.kind == "mixlist":
        raise UsageFault("--mixlist requires libraries; TARGET is a mixlist", path=target.path)
    if against and target.kind != "mixlist":
        raise UsageFault(
            "--against requires a mixlist",
            path=target.path,
            hint=f"--mixlist FILE shows the policies of {text} after applying a mixlist",
        )


def _show(output: Output, target: Target, rows: list[OperatorRow], total: int, mixlist: str | None) -> None:
    if output.format == "json":
        output.document(list_document(target, rows, total))
    elif output.format == "html":
        from ...report.views.pages import list_page

        output.data(list_page(target, rows, total, mixlist), exact=True)
    else:
        show_rows(output, target, rows, total)


def _operator_rows(target: Target, mixlist: str | None, output: Output) -> list[OperatorRow]:
    chosen = accepted_mixlist(mixlist, output) if mixlist else None
    report_doubts(target, output)
    if chosen:
        report_unknown(chosen, target.operators, output)
    return operator_rows(target.operators, chosen)


def _mixlist_rows(target: Target, against: Target | None, output: Output) -> list[OperatorRow]:
    operators = against.operators if against else None
    if operators:
        report_unknown(target.mixlist, operators, output)
    return mixlist_rows(target.mixlist, operators)


def _wanted(row: OperatorRow, lists: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    if lists and (row.policy is None or str(row.policy) not in lists):
        return False
    return matches(row.name, globs)
