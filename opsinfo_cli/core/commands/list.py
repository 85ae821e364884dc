"""`opsinfo list`: list op types with their policy, or the marks of a mixlist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from ...errors import UsageFault, counted
from ...near_names import matches
from ..cann.mixlist import Mixlist, MixlistFile
from ..cann.operator_rows import ListDocument, OperatorRow, mixlist_rows, operator_rows
from ..cann.target import Target
from ..cann.targets.found import TargetOptions
from ..document import as_json, keys_of
from ..terminal.answer import Cell, Column, CommandAnswer, PathCell, Table
from ..terminal.config import Targeted, given_or_configured
from ..terminal.console import Console
from ..terminal.csv_markdown import csv_of_documents, markdown_text
from ..terminal.open import (
    accepted_mixlist,
    open_given,
    open_target_or_mixlist,
    report_doubts,
    report_no_match,
    report_unknown,
)
from ..terminal.params import (
    LIST,
    TARGET,
    match_option,
    mixlist_option,
    option,
    prints,
    target_options,
)
from ..terminal.targets import below, short_name, target_facts


@click.command("list", cls=Targeted)
@click.argument("target", type=TARGET)
@option("--on", "lists", multiple=True, type=LIST, help="Only operators on this list; repeatable.")
@match_option
@mixlist_option
@option("--against", type=TARGET, help="For a mixlist: the target with the policies.")
@target_options
@prints("csv", "markdown", "html", out=True)
def command(
    target: str,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    mixlist: str | None,
    against: str | None,
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
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
    opened = open_target_or_mixlist(target, console, options, stdin=True)
    is_mixlist = isinstance(opened, MixlistFile)
    if mixlist and is_mixlist:
        raise UsageFault("--mixlist requires libraries; TARGET is a mixlist", path=opened.path)
    against = given_or_configured("against", against, is_mixlist)
    if against and not is_mixlist:
        hint = f"--mixlist FILE shows the policies of {target} after applying a mixlist"
        raise UsageFault("--against requires a mixlist", path=opened.path, hint=hint)
    applied: Mixlist | None
    if isinstance(opened, MixlistFile):
        applied = opened.mixlist
        libraries = open_given(against, console, options)
        if libraries:
            report_doubts(libraries, console)
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


def list_answer(
    target: Target | MixlistFile, rows: Sequence[OperatorRow], total: int, mixlist: str | None
) -> CommandAnswer:
    """:param total: the number of rows before narrowing
    :param mixlist: the path of the mixlist that was applied"""
    table = _table(target, rows)

    def page() -> str:
        from ..terminal.page import table_page

        shown = str(len(rows)) if len(rows) == total else f"{len(rows)} of {total}"
        facts = [*target_facts(target), ("Mixlist", mixlist or ""), ("Operators", shown)]
        title = f"Operators of {target.soc or target.text}"
        return table_page(title, [(name, value) for name, value in facts if value], [table])

    return CommandAnswer(
        lambda: as_json(ListDocument.of(rows, total, target.other_counts(), target.facts)),
        lambda: [table],
        formats={
            "html": page,
            "csv": lambda: csv_of_documents(keys_of(OperatorRow), map(as_json, rows)),
            "markdown": lambda: markdown_text(table),
        },
        content=counted(len(rows), "operator"),
        summary=_summary(target, rows, total),
    )


def _table(target: Target | MixlistFile, rows: Sequence[OperatorRow]) -> Table:
    marked = any(row.marks for row in rows)
    noted = any(row.shadowed for row in rows)
    files = sorted({row.file for row in rows if row.file})
    columns = [Column("operator"), Column("policy", policy=True)]
    columns += [Column("why")] * (target.kind == "opdef")
    columns += [Column("library", policy=True), Column("marks")] * marked
    columns += [Column("file:line", dim=True, spare=marked)]
    columns += [Column("shadows", number=True, spare=True)] * noted
    cells = [_cells(row, target, files, marked, noted) for row in rows]
    return Table(columns, cells, lambda: (_fields(row, target) for row in rows))


def _cells(
    row: OperatorRow, target: Target | MixlistFile, files: Sequence[str], marked: bool, noted: bool
) -> list[Cell]:
    cells: list[Cell] = [row.name, str(row.policy or "-")]
    if target.kind == "opdef":
        cells.append("by default" if row.by_default else "")
    if marked:
        cells += [str(row.library_policy or "-"), ", ".join(row.marks)]
    path = below(short_name(row.file, files), target.path)
    cells.append(PathCell(path, f":{row.line}") if row.file else "-")
    if noted:
        cells.append(str(len(row.shadowed)) if row.shadowed else "")
    return cells


def _fields(row: OperatorRow, target: Target | MixlistFile) -> tuple[str, ...]:
    place = f"{row.file}:{row.line}" if row.file else "-"
    marks = ",".join(row.marks) or "-"
    why = ("by default" if row.by_default else "-",) if target.kind == "opdef" else ()
    return row.name, str(row.policy or "-"), str(row.library_policy or "-"), place, marks, *why


def _summary(target: Target | MixlistFile, rows: Sequence[OperatorRow], total: int) -> str:
    counts = Counter("undecided" if row.policy is None else str(row.policy) for row in rows)
    words = ", ".join(f"{counts[word]} {word}" for word in ("white", "black", "gray", "undecided") if counts[word])
    of = f" of {total}" if total != len(rows) else ""
    return f"{len(rows)}{of} operator{'s' if total != 1 else ''} of {target.text}: {words or 'none'}"
