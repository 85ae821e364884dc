"""The answer of `list`, and the JSON of operators and targets that other answers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..cann.operator_rows import OperatorRow
from ..cann.policy import Policy
from ..cann.target import Target
from ..terminal.answer import Answer, Cell, Column, Place, Table


def list_answer(target: Target, rows: Sequence[OperatorRow], total: int, mixlist: str | None) -> Answer:
    """:param total: the number of rows before narrowing
    :param mixlist: the path of the mixlist that was applied"""
    table = _table(target, rows)

    def page() -> str:
        from ..terminal.page import table_page

        return table_page(
            f"Operators of {target.soc or target.text}", _facts(target, len(rows), total, mixlist), [table]
        )

    return Answer(
        lambda: _document(target, rows, total),
        lambda: [table],
        texts={"html": page},
        summary=_summary(target, rows, total),
    )


def _table(target: Target, rows: Sequence[OperatorRow]) -> Table:
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


def _cells(row: OperatorRow, target: Target, files: Sequence[str], marked: bool, noted: bool) -> list[Cell]:
    cells: list[Cell] = [row.name, str(row.policy or "-")]
    if target.kind == "opdef":
        cells.append("by default" if row.by_default else "")
    if marked:
        cells += [str(row.library_policy or "-"), ", ".join(map(str, row.marks))]
    path = below(short_name(row.file, files), target.path)
    cells.append(Place(path, f":{row.line}") if row.file else "-")
    if noted:
        cells.append(str(len(row.shadowed)) if row.shadowed else "")
    return cells


def _fields(row: OperatorRow, target: Target) -> tuple[str, ...]:
    place = f"{row.file}:{row.line}" if row.file else "-"
    marks = ",".join(map(str, row.marks)) or "-"
    why = ("by default" if row.by_default else "-",) if target.kind == "opdef" else ()
    return row.name, str(row.policy or "-"), str(row.library_policy or "-"), place, marks, *why


def short_name(path: str | None, files: Sequence[str]) -> str:
    """Return a file's base name if it is unique among the files, else its path."""
    name = (path or "").rsplit("/", 1)[-1]
    return name if sum(file.endswith("/" + name) or file == name for file in files) == 1 else path or ""


def below(path: str, target: str) -> str:
    """Return a path relative to the target if it is below it."""
    return path.removeprefix(target.rstrip("/") + "/")


def _summary(target: Target, rows: Sequence[OperatorRow], total: int) -> str:
    counts = Counter("undecided" if row.policy is None else str(row.policy) for row in rows)
    words = ", ".join(f"{counts[word]} {word}" for word in ("white", "black", "gray", "undecided") if counts[word])
    of = f" of {total}" if total != len(rows) else ""
    return f"{len(rows)}{of} operators of {target.text}: {words or 'none'}"


def _facts(target: Target, shown: int, total: int, mixlist: str | None) -> list[tuple[str, str]]:
    facts = [*target_facts(target), ("Mixlist", mixlist or "")]
    facts.append(("Operators", str(shown) if shown == total else f"{shown} of {total}"))
    return [(name, value) for name, value in facts if value]


def target_facts(target: Target) -> list[tuple[str, str]]:
    """Return what a page says of a target: (name, value); empty values are unknown."""
    version = target.install.version if target.install else None
    return [("Path", target.path), ("Chip", target.soc or ""), ("CANN", version or "")]


def _document(target: Target, rows: Sequence[OperatorRow], total: int) -> dict[str, Any]:
    policies = [row.policy for row in rows]
    return {
        "target": target_document(target),
        "operators": [row_document(row) for row in rows],
        "counts": {str(policy): policies.count(policy) for policy in (Policy.WHITE, Policy.BLACK, Policy.GRAY)},
        "total": total,
        "other_stores": target.install.other_counts() if target.install else {},
    }


def target_document(target: Target) -> dict[str, Any]:
    return {name: getattr(target, name) for name in ("text", "kind", "path", "soc", "version")}


def row_document(row: OperatorRow) -> dict[str, Any]:
    others = {name: [entry._asdict() for entry in getattr(row, name)] for name in ("shadowed", "also_in")}
    return {**row._asdict(), "marks": [str(mark) for mark in row.marks], **others}
