"""Tables as lines of named values: those with a title line, such as the CSV of a logger, and those with a row a value.

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

_BAR = rb"(?:\||\xe2\x94\x82)"
_CELL = rb"[^|\n\xe2]{0,80}"
_ROW = rb"[ \t]{0,40}(?:[^\s|]{1,60}[:>\]][ \t]?)?" + _BAR + _CELL + _BAR + _CELL + _BAR + rb"[ \t]{0,8}(?:\n|\Z)"
"""A name and a value, perhaps behind the tag of a rank."""
_ROWS = re.compile(rb"(?m)(?:^" + _ROW + rb"){2,}")
_ROWS_AT_END = re.compile(rb"(?m)(?:^" + _ROW + rb")+\Z")
_NUMBERS = re.compile(
    _BAR + rb"([ \t]*)([A-Za-z_][^|:=\n\xe2]*)" + _BAR + rb"[ \t]*(" + _NUMBER.pattern.encode() + rb"|)[ \t]*" + _BAR
)
"""A row with a number, or with none: the name of those that are indented below it."""
_LONGEST_TABLE = 1 << 14
"""Bytes."""


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


class RowTables:
    """Tables with a row a value, such as `| loss | 0.42 |`, each as a line.

    Source: openai/baselines, baselines/logger.py, HumanOutputFormat, and its descendants: openai/guided-diffusion,
    guided_diffusion/logger.py, which print three digits of a number; DLR-RM/stable-baselines3,
    stable_baselines3/common/logger.py, which puts names such as `train/loss` below a row `train/`.

    :ivar found: tables so far
    :ivar rounds_steps: whether a step was printed that may have more digits
    """

    def __init__(self) -> None:
        self.found = 0
        self.rounds_steps = False
        self._begun = b""
        """The rows at the end of the block before: their table may go on."""

    def lines(self, data: bytes) -> bytes:
        """Return a block of whole lines with a line such as ``loss: 0.42 | step: 10`` in the place of each table."""
        data = self._begun + data
        start = max(0, len(data) - _LONGEST_TABLE)
        rows = _ROWS_AT_END.search(data, start) if data.rstrip(b" \t\n")[-1:] in (b"|", b"\x82") else None
        self._begun = rows[0] if rows else b""
        return self._joined(data[: len(data) - len(self._begun)])

    def rest(self) -> bytes:
        """Return the line of a table that the log ends with."""
        data, self._begun = self._begun, b""
        return self._joined(data)

    def _joined(self, data: bytes) -> bytes:
        return _ROWS.sub(self._line, data) if b"|" in data or b"\xe2\x94\x82" in data else data

    def _line(self, rows: re.Match[bytes]) -> bytes:
        """Return the line of a table; a table without numbers as it is."""
        named, group, depth = list[bytes](), b"", 0
        for indent, name, value in _NUMBERS.findall(rows[0]):
            name = name.rstrip()
            if not value:
                group, depth = name, len(indent)
                continue
            if b"e+" in value and (number := float(value)).is_integer():  # readers of steps know whole numbers
                self.rounds_steps |= name.endswith(b"step")
                value = b"%d" % number
            named.append(b"%s%s: %s" % (group if len(indent) > depth else b"", name, value))
        self.found += bool(named)
        return b" | ".join(named) + b"\n" if named else rows[0]
