"""Operators, as text and JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...model.operator_rows import OperatorRow
from ...model.policy import Policy
from ...model.target import Target
from ..terminal.output import Output
from ..terminal.visible import row as tab_row

if TYPE_CHECKING:
    from typing import Any


def show_rows(output: Output, target: Target, rows: list[OperatorRow], total: int) -> None:
    """Print a table on a terminal; tab-separated lines elsewhere."""
    if output.on_terminal:
        _table(output, target, rows, total)
    else:
        output.lines(tab_row(*_fields(row)) for row in rows)


def _fields(row: OperatorRow) -> tuple[str, ...]:
    place = f"{row.file}:{row.line}" if row.file else "-"
    return row.name, _word(row.policy), _word(row.library_policy), place, ",".join(map(str, row.marks)) or "-"


def _word(policy: Policy | None) -> str:
    return str(policy) if policy else "-"


def _table(output: Output, target: Target, rows: list[OperatorRow], total: int) -> None:
    from ..terminal.places import PlaceCell, below, shortened
    from ..terminal.table import Column, print_table

    files = sorted({row.file for row in rows if row.file})
    marked = any(row.marks for row in rows)
    columns = [Column("operator"), Column("policy", policy=True)]
    if marked:
        columns += [Column("library", policy=True), Column("marks")]
    columns.append(Column("file:line", dim=True, spare=marked))
    cells: list[list[str | PlaceCell]] = []
    for row in rows:
        note = " (shadows)" if row.shadowed else ""
        path = below(short_name(row.file, files), target.path)
        place = PlaceCell(path, f":{row.line}{note}") if row.file else PlaceCell("")
        middle = [_word(row.library_policy), ", ".join(map(str, row.marks))] if marked else []
        cells.append([row.name, _word(row.policy), *middle, place])
    with output.paged():
        print_table(output, columns, cells)
    counts = Counter("undecided" if row.policy is None else str(row.policy) for row in rows)
    said = ", ".join(f"{counts[word]} {word}" for word in ("white", "black", "gray", "undecided") if counts[word])
    of = f" of {total}" if total != len(rows) else ""
    head, tail = f"{len(rows)}{of} operators of ", f": {said or 'none'}"
    output.tell(head + shortened(target.text, output.columns - len(head + tail)) + tail, prose=True)


def short_name(path: str | None, files: list[str]) -> str:
    """Return a file's base name if it is unique among the files, else its path."""
    name = (path or "").rsplit("/", 1)[-1]
    return name if sum(each.endswith("/" + name) or each == name for each in files) == 1 else path or ""


def list_document(target: Target, rows: list[OperatorRow], total: int) -> dict[str, Any]:
    policies = [row.policy for row in rows]
    return {
        "target": target_document(target),
        "operators": [row_document(row) for row in rows],
        "counts": {str(policy): policies.count(policy) for policy in (Policy.WHITE, Policy.BLACK, Policy.GRAY)},
        "total": total,
        "other_stores": target.install.other_counts() if target.install else {},
    }


def target_document(target: Target) -> dict[str, Any]:
    return {
        "text": target.text,
        "kind": target.kind,
        "path": target.path,
        "soc": target.soc,
        "version": target.version,
    }


def row_document(row: OperatorRow) -> dict[str, Any]:
    name, policy, library_policy, marks, file, line, store, shadowed, also_in = row
    return {
        "name": name,
        "policy": policy,
        "library_policy": library_policy,
        "marks": [str(mark) for mark in marks] if marks else marks,
        "file": file,
        "line": line,
        "store": store,
        "shadowed": [each._asdict() for each in shadowed] if shadowed else shadowed,
        "also_in": [each._asdict() for each in also_in] if also_in else also_in,
    }
