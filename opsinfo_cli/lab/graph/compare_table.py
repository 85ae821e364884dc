"""Rows of the table in which the vendor's tools compare a model on the device with the same in another framework.

msaccucmp.py writes ``result_{timestamp}.csv``; `msit debug compare` (ait) and `msprobe compare -m offline_model` run it
and add columns. Which columns there are depends on the version and on options, so they are known by name; DataType and
Address come twice, the device's first.
Sources: documentation of CANN 8.0, atlasaccuracy_16_0064; Ascend/msprobe 8ff00da3,
infer/offline/compare/msquickcmp/cmp_process.py (the limits, the added columns, and rows without them); Ascend/msit
2d754b3c, msit/examples/cli/debug/compare/result_analyse/README_EN.md.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from ...core.cann.dtype_names import canonical
from ...errors import Damaged, Refused, counted
from ...opening import unreadable
from ..csv_rows import csv_rows

TensorEnd: TypeAlias = Literal["input", "output"]
LEAST_COSINE, LARGEST_DISTANCE = 0.99, 0.05
"""msprobe's limits for the cosine and the relative Euclidean distance. Its limits for the divergence of Kullback and
Leibler, and for absolute and single relative errors, say little of a tensor of large values or near 0: not used."""


class TableRow(NamedTuple):
    """One tensor of an operator of the device.

    :param type: its op type; empty in tables that do not have it
    :param nodes: the nodes of the model that it was fused of, mostly one; none for an operator of the device's own
    :param has_overflow: None if that was not looked for
    :param cosine: None if the tensors were not compared, as where the table has NaN; likewise ``distance``, the
        relative Euclidean one
    """

    operator: str
    type: str
    nodes: tuple[str, ...]
    dtype: str | None
    side: TensorEnd
    number: int
    has_overflow: bool | None
    cosine: float | None
    distance: float | None
    line: int

    @property
    def agrees(self) -> bool | None:
        """Whether the two tensors agree within msprobe's limits; None if they were not compared."""
        if self.cosine is None and self.distance is None:
            return None
        return (self.cosine is None or self.cosine >= LEAST_COSINE) and (self.distance or 0.0) <= LARGEST_DISTANCE

    @property
    def error(self) -> float | None:
        """The relative distance, or what the cosine tells of it; None if the tensors were not compared."""
        if self.distance is not None:
            return self.distance
        return None if self.cosine is None else math.sqrt(max(2 - 2 * self.cosine, 0.0))


def compared_rows(path: str, seen: Callable[[int], None] | None = None) -> Iterator[TableRow]:
    """Yield the rows of a table.

    :raises Refused: if it cannot be read, is another table, or compares calls of torch
    :raises Damaged: if a row is cut off or cannot be read
    """

    def refuse(message: str, line: int | None) -> Refused:
        hint = "give result_*.csv of msaccucmp.py, `msit debug compare` or `msprobe compare -m offline_model`"
        return Refused(message, name="not-a-compare-table", path=path, line=line, hint=hint)

    rows = csv_rows(path, refuse, seen)
    line, header = next(rows, (0, []))
    if not header:
        raise refuse("the file is empty", None)
    names = [name.strip().lower() for name in header]
    if torch := next((words for words in _TORCH if set(words) <= set(names)), None):
        message = f"a comparison of calls of torch (columns `{'` and `'.join(torch)}`): no mixlist acts on them"
        hint = "a mixlist acts on a model that atc compiles, or a graph of torchair: compare the offline model"
        raise Refused(message, name="torch-calls", path=path, line=line, hint=hint)
    columns = _Columns.of(names)
    if isinstance(columns, str):
        raise refuse(f"not a table of compared tensors: its first line does not have the column {columns}", line)
    for line, cells in rows:
        if len(cells) < columns.least or any(cells[len(header) :]):
            message = f"{counted(len(cells), 'cell')} in a table of {len(header)} columns"
            raise Damaged(message, path=path, line=line, hint="the line is cut off or damaged: make the table again")
        if [cell.strip().lower() for cell in cells] == names:  # of a second table in the file
            continue
        tensor, side, number = _tensor(cells[columns.tensor])
        if side is None:
            message = f"`{cells[columns.tensor]}` in the column `TensorIndex` is not NAME:input:NUMBER or output"
            raise Damaged(message, path=path, line=line, hint="make the table again, or remove the line")
        try:
            cosine, distance = (_number(columns.cell(cells, at)) for at in (columns.cosine, columns.distance))
        except ValueError as error:
            raise Damaged(str(error), path=path, line=line, hint="make the table again, or remove the line") from None
        truth = cells[columns.truth].strip()
        yield TableRow(
            operator=cells[columns.operator].strip() or tensor,
            type=columns.cell(cells, columns.type),
            nodes=() if truth in ("*", "", "NaN") else tuple(filter(None, map(str.strip, truth.split(",")))),
            dtype=_dtype(columns.cell(cells, columns.dtype)),
            side=side,
            number=number,
            has_overflow={"YES": True, "NO": False}.get(columns.cell(cells, columns.overflow).upper()),
            cosine=cosine,
            distance=distance,
            line=line,
        )


_TORCH = (
    ("api name", "stack info"),
    ("npu name", "bench name"),
    ("npu name", "golden name"),
    ("api name", "device dtype"),
)
"""Columns of msprobe's comparisons of calls, of torchair and of PyTorch and MindSpore."""


class _Columns(NamedTuple):
    """The place of each column in a row; None if the table does not have it.

    :param least: how many cells a row has at least; msprobe adds columns behind them, and leaves them out where a
        number was not one
    """

    operator: int
    truth: int
    tensor: int
    type: int | None
    dtype: int | None
    overflow: int | None
    cosine: int | None
    distance: int | None
    least: int

    @classmethod
    def of(cls, names: list[str]) -> _Columns | str:
        """Return the columns of a first line, in lower case; the one that is missing."""
        at = {name: number for number, name in reversed(list(enumerate(names)))}
        operator, truth = at.get("npudump", at.get("leftop")), at.get("groundtruth", at.get("rightop"))
        cosine, distance = at.get("cosinesimilarity"), at.get("relativeeuclideandistance")
        if operator is None or truth is None:
            return "`NPUDump` or `GroundTruth`"
        if "tensorindex" not in at:
            return "`TensorIndex`"
        if cosine is None and distance is None:
            return "`CosineSimilarity` or `RelativeEuclideanDistance`"
        dtype, why = at.get("datatype"), at.get("comparefailreason")
        places = (operator, truth, at["tensorindex"], cosine or 0, distance or 0, at.get("overflow", 0))
        return cls(
            operator,
            truth,
            at["tensorindex"],
            at.get("optype"),
            dtype if dtype is not None and dtype < truth else None,  # the only one may be that of the other side
            at.get("overflow"),
            cosine,
            distance,
            1 + (max(places) if why is None else why),
        )

    @staticmethod
    def cell(cells: list[str], at: int | None) -> str:
        return "" if at is None or at >= len(cells) else cells[at].strip()


@lru_cache(maxsize=4096)
def _dtype(text: str) -> str | None:
    return canonical(text) if text.lower() not in ("", "nan", "n/a", "unknown") else None


def _number(text: str) -> float | None:
    """:raises ValueError: if a text is no number"""
    if text.lower() in ("", "n/a", "*"):
        return None
    try:
        return None if math.isnan(number := float(text)) else number
    except ValueError:
        raise ValueError(f"`{text}` is not a number") from None


def _tensor(text: str) -> tuple[str, TensorEnd | None, int]:
    """Return the operator, the side and the number of ``name:output:0``; no side if it is another text."""
    name, _, number = text.strip().rpartition(":")
    name, _, side = name.rpartition(":")
    if name and side in ("input", "output") and number.isascii() and number.isdigit() and len(number) < 7:
        return name, "input" if side == "input" else "output", int(number)
    return name, None, 0


def result_tables(path: str) -> list[str]:
    """Return a file as it is, and of a folder the tables below it: one for each shape of the inputs.

    :raises Refused: if the folder has none, or cannot be read
    """
    if not os.path.isdir(path):
        return [path]

    def refuse(error: OSError) -> None:
        raise unreadable(error, error.filename)

    found = [
        os.path.join(place, name)
        for place, _, names in os.walk(path, onerror=refuse)
        for name in names
        if name.startswith("result_") and name.endswith(".csv")
    ]
    if not found:
        raise Refused("no table result_*.csv is below this folder", name="not-a-compare-table", path=path)
    return sorted(found)
