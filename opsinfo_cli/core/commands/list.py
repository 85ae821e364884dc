"""`opsinfo list`: list op types with their policy, or the marks of a mixlist."""

from __future__ import annotations

import click

from ...errors import UsageFault
from ..cann.mixlist import Mixlist
from ..cann.operator_rows import mixlist_rows, operator_rows
from ..cann.target import TargetOptions
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist, open_given, open_target, report_doubts, report_no_match, report_unknown
from ..terminal.params import (
    LIST,
    TARGET,
    Command,
    match_option,
    matches,
    mixlist_option,
    option,
    prints,
    target_options,
)
from .operators_view import list_answer


@click.command("list", cls=Command)
@click.argument("target", type=TARGET)
@option("--on", "lists", multiple=True, type=LIST, help="Only operators on this list; repeatable.")
@match_option
@mixlist_option
@option("--against", type=TARGET, help="For a mixlist: the target with the policies.")
@target_options
@prints("html", out=True)
def command(
    target: str,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    mixlist: str | None,
    against: str | None,
    options: TargetOptions,
    console: Console,
) -> Answer:
    """Show the operators of TARGET with their policy: white, black or gray.

    A terminal shows a table; a pipe gets tab-separated lines: name, policy, library policy, file:line, marks.

    \b
    Examples:
      opsinfo list ascend910b --on black
      opsinfo list ascend910b --match 'MatMul*'
      opsinfo list ascend910b --mixlist ops_info.json
      opsinfo list ops_info.json --against ascend910b
      opsinfo list ascend910b --format html -o ascend910b.html
    """
    opened = open_target(target, console, options, stdin=True)
    if mixlist and opened.kind == "mixlist":
        raise UsageFault("--mixlist requires libraries; TARGET is a mixlist", path=opened.path)
    if against and opened.kind != "mixlist":
        hint = f"--mixlist FILE shows the policies of {target} after applying a mixlist"
        raise UsageFault("--against requires a mixlist", path=opened.path, hint=hint)
    applied: Mixlist | None
    if opened.kind == "mixlist":
        applied = opened.mixlist
        libraries = open_given(against, console, options)
        operators = libraries.operators if libraries else None
        rows = mixlist_rows(applied, operators)
    else:
        applied = accepted_mixlist(mixlist, console) if mixlist else None
        report_doubts(opened, console)
        operators = opened.operators
        rows = operator_rows(operators, applied)
    if applied and operators:
        report_unknown(applied, operators, console)
    shown = [row for row in rows if (not lists or str(row.policy) in lists) and matches(row.name, globs)]
    if rows and not shown:
        report_no_match(console, len(rows), {"--on": lists, "--match": globs})
    return list_answer(opened, shown, len(rows), mixlist)
