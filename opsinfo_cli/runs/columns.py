"""Columns of many lines at once: the part of each line at a place that its shape gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from typing import Any

Kind = TypeVar("Kind")
Value = TypeVar("Value")

_FEW = 4
"""Numbers of which one in this many is different are looked up."""
_SAMPLE = 256
"""How many numbers of a column are looked at to tell that."""
_OFTEN = 64
"""A number that fewer lines have is read for each of them."""


class Table(Generic[Kind]):
    """Lines, each with its row: the tuple with the places of its fields. Lines of one shape have the same row."""

    def __init__(self, lines: list[bytes], kinds: list[Kind], rows: Callable[[], list[Kind]]) -> None:
        """:param kinds: each row that a line has; some may be of no line
        :param rows: makes the row of each line, if there are several
        """
        self.lines = lines
        self.kinds = kinds
        self._make_rows = rows

    @classmethod
    def of(cls, lines: list[bytes], rows: list[Kind]) -> Table[Kind]:
        return cls(lines, kinds_of(rows), lambda: rows)

    @cached_property
    def rows(self) -> list[Kind]:
        """The row of each line."""
        return self.kinds * len(self.lines) if len(self.kinds) == 1 else self._make_rows()

    def __len__(self) -> int:
        return len(self.lines)

    def values(self, at: int) -> list[Any]:
        """Return the value ``row[at]`` of each line."""
        values = self.values_of_kinds(at)
        if values.count(values[0]) == len(values):
            return values[:1] * len(self.lines)
        rows: list[Any] = self.rows
        return list(map(itemgetter(at), rows))

    def values_of_kinds(self, at: int) -> list[Any]:
        """Return the value ``row[at]`` of each kind."""
        kinds: list[Any] = self.kinds
        return list(map(itemgetter(at), kinds))

    def column(self, at: int) -> list[bytes]:
        """Return the part of each line at the slice ``row[at]``; no slice of a row may be None."""
        places = self.values_of_kinds(at)
        if not places:
            return []
        if places.count(places[0]) == len(places):
            return list(map(itemgetter(places[0]), self.lines))
        rows: list[Any] = self.rows
        return list(map(bytes.__getitem__, self.lines, map(itemgetter(at), rows)))


def kinds_of(rows: Sequence[Kind]) -> list[Kind]:
    """Return each row once; lines of one shape have the same object."""
    if rows and rows.count(rows[0]) == len(rows):
        return [rows[0]]
    return list(dict(zip(map(id, rows), rows, strict=True)).values())


def picked(values: list[Value], wanted: list[bool]) -> list[Value]:
    """Return the values that are wanted: mostly all of them."""
    return values if all(wanted) else list(compress(values, wanted))


def looked_up(lines: Iterable[bytes], values: Iterable[Value], wanted: list[bytes]) -> list[Value]:
    """Return the value of each wanted line, given each different line with its value."""
    return list(map(dict(zip(lines, values, strict=True)).__getitem__, wanted))


def floats(texts: Sequence[bytes | str]) -> list[float]:
    """Return the numbers of a column. If few are different, each of these is read once."""
    sample = texts[:_SAMPLE]
    if _FEW * len(set(sample)) > len(sample):
        return list(map(float, texts))
    known = {text: float(text) for text in set(texts)}
    return list(map(known.__getitem__, texts))


def integers(texts: list[bytes]) -> list[int]:
    """Return the numbers of a column. Each is mostly the one of the line before, so that it is read once."""
    numbers: list[int] = []
    while texts:
        same = texts.count(texts[0])
        if same < _OFTEN or texts[:same].count(texts[0]) < same:
            break
        numbers += [int(texts[0])] * same
        texts = texts[same:]
    return numbers + list(map(int, texts))
