"""Operators for people and for programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..model.columns import Columns, Tensor
from ..model.listing import Row, Standing
from ..model.policy import Policy
from ..model.target import Target
from .output import Output
from .visible import row as tab_row
from .visible import visible

__all__ = ["list_document", "row_document", "show_rows", "target_document", "tensors_document"]


def show_rows(output: Output, target: Target, rows: list[Row], total: int) -> None:
    """A table on a terminal; tab-separated lines elsewhere."""
    if output.on_terminal:
        _table(output, target, rows, total)
    else:
        output.lines(tab_row(*_fields(row)) for row in rows)


def _fields(row: Row) -> tuple[str, ...]:
    place = f"{row.file}:{row.line}" if row.file else "-"
    return row.name, _word(row.policy), _word(row.library_policy), place, ",".join(map(str, row.marks)) or "-"


def _word(policy: Policy | None) -> str:
    return str(policy) if policy else "-"


def _table(output: Output, target: Target, rows: list[Row], total: int) -> None:
    from .table import Column, print_table

    files = sorted({row.file for row in rows if row.file})
    marked = any(row.marks for row in rows)
    columns = [Column("operator"), Column("policy", policy=True)]
    if marked:
        columns += [Column("library", policy=True), Column("marks")]
    columns.append(Column("file:line", dim=True))
    cells = []
    for row in rows:
        place = f"{_short(row.file, files)}:{row.line}" if row.file else ""
        note = " (shadows)" if row.shadowed else ""
        middle = [_word(row.library_policy), ", ".join(map(str, row.marks))] if marked else []
        cells.append([row.name, _word(row.policy), *middle, place + note])
    print_table(output, columns, cells)
    counts = Counter(_word(row.policy) for row in rows)
    said = ", ".join(f"{counts[word]} {word}" for word in ("white", "black", "gray", "-") if counts[word])
    of = f" of {total}" if total != len(rows) else ""
    output.tell(f"{len(rows)}{of} operators of {target.text}: {said or 'none'}".replace(" -", " undecided"))


def _short(path: str | None, files: list[str]) -> str:
    """A file by its name, where that is enough to know it."""
    name = (path or "").rsplit("/", 1)[-1]
    return name if sum(each.endswith("/" + name) or each == name for each in files) == 1 else path or ""


def list_document(target: Target, rows: list[Row], total: int) -> dict[str, Any]:
    counts = Counter(row.policy for row in rows)
    return {
        "target": target_document(target),
        "operators": [row_document(row) for row in rows],
        "counts": {str(policy): counts[policy] for policy in (Policy.WHITE, Policy.BLACK, Policy.GRAY)},
        "total": total,
        "other_stores": target.install.other_counts() if target.install else {},
    }


def target_document(target: Target) -> dict[str, Any]:
    version = target.install.version if target.install else None
    return {"text": target.text, "kind": target.kind, "path": target.path, "soc": target.soc, "version": version}


def row_document(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "policy": row.policy,
        "library_policy": row.library_policy,
        "marks": [str(mark) for mark in row.marks],
        "file": row.file,
        "line": row.line,
        "store": row.store,
        "shadowed": [_standing_document(each) for each in row.shadowed],
        "also_in": [_standing_document(each) for each in row.also_in],
    }


def _standing_document(each: Standing) -> dict[str, Any]:
    return {"file": each.file, "line": each.line, "policy": each.policy, "store": each.store}


def tensors_document(columns: Columns) -> dict[str, Any]:
    return {
        "inputs": [_tensor_document(tensor) for tensor in columns.inputs],
        "outputs": [_tensor_document(tensor) for tensor in columns.outputs],
        "can_be_black": columns.can_be_black(),
        "can_be_white": columns.can_be_white(),
    }


def _tensor_document(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "param_type": tensor.param_type, "dtypes": list(tensor.dtypes)}


def show_lines(output: Output, row: Row, columns: Columns, why: list[str]) -> list[str]:
    """One operator on one screen: where it is, why, who else says something, what it could be."""
    place = f"{visible(row.file or '')}:{row.line}" + (f"  ({row.store})" if row.store else "")
    lines = [f"{visible(row.name)}  {output.paint(_word(row.policy), _word(row.policy))}"]
    lines += [f"  why       {line}" if index == 0 else f"            {line}" for index, line in enumerate(why)]
    lines.append(f"  entry     {place}")
    lines += [f"  shadowed  {_standing_line(each)}, never read" for each in row.shadowed]
    lines += [f"  also in   {_standing_line(each)}, where the first refuses a node" for each in row.also_in]
    lines += _tensor_lines("inputs", columns.inputs) + _tensor_lines("outputs", columns.outputs)
    black, white = columns.can_be_black(), columns.can_be_white()
    lines.append(f"  black     {_POSSIBLE_BLACK[str(black)]}")
    lines.append(f"  white     {_POSSIBLE_WHITE[str(white)]}")
    return lines


_BY_KERNEL = "decided by the kernel at compile time: the library lists no columns"
_POSSIBLE_BLACK = {
    "yes": "possible",
    "no": "not possible: no float32 among its input columns; black makes it unsupported for float32 input",
    "kernel": _BY_KERNEL,
}
_POSSIBLE_WHITE = {
    "yes": "possible",
    "no": "without effect: no float16 or bfloat16 among its columns",
    "kernel": _BY_KERNEL,
}


def _standing_line(each: Standing) -> str:
    return f"{visible(each.file)}:{each.line} says {each.policy}" + (f" ({each.store})" if each.store else "")


def _tensor_lines(title: str, tensors: list[Tensor]) -> list[str]:
    width = max((len(tensor.name) for tensor in tensors), default=0)
    lines = []
    for index, tensor in enumerate(tensors):
        dtypes = ", ".join(dict.fromkeys(tensor.dtypes)) or "listed by the kernel"
        head = title if index == 0 else ""
        lines.append(f"  {head:<9} {visible(tensor.name):<{width}}  {tensor.param_type:<8}  {visible(dtypes)}")
    return lines
