"""A table with a title line, such as the CSV of a logger: its columns of numbers, as lines of named values.

Cells of text are no lines of a log: an index of runs may quote such lines in a column.
"""

from __future__ import annotations

import csv
import re

_TITLE = re.compile(r"[A-Za-z_#(][^\d\s:=\[\]{}|][^\s:=\[\]{}|]*(?: [A-Za-z_(#][^\s:=\[\]{}|]*)*|[A-Za-z_#]\w?")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[nN]a[nN]|NAN|[iI]nf(?:inity)?|INF)|[Tt]rue|[Ff]alse")
_LEAST = 3
_LEVEL = re.compile(r"[A-Z]+")
"""A log may have tabs between the level and the message of each line."""


class TrainingTable:
    """:param titles: the names of the columns"""

    def __init__(self, delimiter: str, titles: list[str]) -> None:
        self._delimiter = delimiter
        self._titles = titles

    @classmethod
    def of(cls, data: bytes) -> TrainingTable | None:
        """Return the table that a log begins with; None if its first two lines are not titles and a row below them."""
        lines = [line for line in data[: 1 << 14].split(b"\n") if line.strip()][:2]
        for delimiter in "\t,;":
            rows = [_cells(line, delimiter) for line in lines]
            titles = [cell.strip() for cell in rows[0]] if len(rows) == 2 else []
            least = 2 if delimiter == "\t" and titles and not _LEVEL.fullmatch(titles[0]) else _LEAST
            if len(titles) >= least and len(rows[1]) == len(titles) and all(map(_TITLE.fullmatch, titles)):
                return cls(delimiter, titles)
        return None

    def lines(self, data: bytes) -> bytes:
        """Return the rows of a block of whole lines as lines such as ``step: 5 | loss: 2.1``, one a row."""
        return b"".join(self._line(line) + b"\n" for line in data.split(b"\n")[:-1]) + self._line(
            data.rpartition(b"\n")[2]
        )

    def _line(self, line: bytes) -> bytes:
        cells = _cells(line, self._delimiter)
        if len(cells) != len(self._titles):
            return b""
        named = zip(self._titles, (cell.strip() for cell in cells), strict=True)
        return " | ".join(f"{title.strip('_')}: {cell}" for title, cell in named if _NUMBER.fullmatch(cell)).encode()


def _cells(line: bytes, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.decode("utf-8", "replace").lstrip("\ufeff")], delimiter=delimiter), [])
    except csv.Error:  # a NUL byte, or a cell without an end
        return []
