"""Tables on a terminal. A row is one line, and no value or name is split.

If a table is wider than the terminal, its places and lists are shortened first (see :mod:`.places`). If that is not
enough, optional columns are left out on a terminal of the usual width; on a narrower one whole cells go to a
line below, indented. Only a cell that is wider than the terminal makes a line longer than it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..escape import shown
from .cell_width import cell_width
from .output import Output, terminal_size
from .places import PlaceCell, Words

if TYPE_CHECKING:
    from typing import TypeAlias

_GAP = 2
_INDENT = 4
_LEAST = 18
"""The narrowest column, in cells, for a place or a list; below it the cell goes to its own line."""

_USUAL = 80
"""The terminal width, in cells, from which every row is one line."""

_POLICIES = ("white", "black", "gray")


class Column(NamedTuple):
    """:param policy: whether cells that name a policy have its colour
    :param dim: whether it is drawn dimmed
    :param spare: whether it is left out if the table is too wide, the last of several first
    """

    title: str
    policy: bool = False
    dim: bool = False
    spare: bool = False


Cell: TypeAlias = "str | PlaceCell | Words"


def print_table(output: Output, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table, at most as wide as the terminal."""
    output.lines(table_lines(output, columns, rows, terminal_size().columns))


def table_lines(output: Output, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> Iterator[str]:
    """Yield the titles, a rule, and a line for each row; several lines per row if ``width`` cells are not enough."""
    safe = [[_safe(cell) for cell in row] for row in rows]
    widths = _natural_widths(columns, safe)
    _shorten(widths, safe, width)
    groups = _groups(widths, width)
    spare = [index for index, column in enumerate(columns) if column.spare]
    if len(groups) > 1 and width >= _USUAL and spare:
        last = spare[-1]
        fewer = [[*row[:last], *row[last + 1 :]] for row in rows]
        yield from table_lines(output, [*columns[:last], *columns[last + 1 :]], fewer, width)
        return
    titles = [output.paint(column.title, "title") for column in columns]
    yield from _lines(titles, [cell_width(column.title) for column in columns], widths, groups)
    yield _rule_character() * min(width, max(_width_of(group, widths, at > 0) for at, group in enumerate(groups)))
    for row in safe:
        texts = [_text(cell, widths[index]) for index, cell in enumerate(row)]
        painted = [_painted(output, column, text) for column, text in zip(columns, texts, strict=True)]
        yield from _lines(painted, list(map(cell_width, texts)), widths, groups)


def required_width(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Return the width of a table, in cells, if nothing is shortened."""
    widths = _natural_widths(columns, rows)
    return sum(widths) + _GAP * (len(widths) - 1)


def _safe(cell: Cell) -> Cell:
    if isinstance(cell, PlaceCell):
        return PlaceCell(shown(cell.path), shown(cell.tail))
    return Words(tuple(map(shown, cell.words)), cell.between) if isinstance(cell, Words) else shown(cell)


def _text(cell: Cell, room: int) -> str:
    return cell if isinstance(cell, str) else cell.within(room)


def _natural_widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[int]:
    return [
        max([cell_width(column.title), *(cell_width(str(row[index])) for row in rows)])
        for index, column in enumerate(columns)
    ]


def _shorten(widths: list[int], rows: Sequence[Sequence[Cell]], width: int) -> None:
    """Shorten the columns that allow it until the table fits; if they cannot, fit each to a line."""
    elastic = [index for index in range(len(widths)) if any(not isinstance(row[index], str) for row in rows)]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    spare = {index: max(0, widths[index] - _LEAST) for index in elastic}
    if 0 < excess <= sum(spare.values()):
        for index in sorted(elastic, key=lambda index: -widths[index]):
            taken = min(excess, spare[index])
            widths[index] -= taken
            excess -= taken
    elif excess > 0:
        for index in elastic:
            widths[index] = min(widths[index], max(_LEAST, width - _INDENT))


def _groups(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns that share a line: as many as fit, in order."""
    groups: list[list[int]] = [[]]
    for index in range(len(widths)):
        if groups[-1] and _width_of([*groups[-1], index], widths, len(groups) > 1) > width:
            groups.append([])
        groups[-1].append(index)
    return groups


def _width_of(group: Sequence[int], widths: Sequence[int], is_below: bool) -> int:
    return sum(widths[index] for index in group) + _GAP * (len(group) - 1) + _INDENT * is_below


def _lines(
    texts: Sequence[str], taken: Sequence[int], widths: Sequence[int], groups: Sequence[Sequence[int]]
) -> Iterator[str]:
    """Yield the lines of one row.

    :param taken: the width of each text in cells, without colours
    """
    for at, group in enumerate(groups):
        line = (" " * _GAP).join(texts[index] + " " * (widths[index] - taken[index]) for index in group)
        if at == 0 or line.strip(" "):
            yield (" " * _INDENT * (at > 0) + line).rstrip(" ")


def _painted(output: Output, column: Column, text: str) -> str:
    if column.policy and text in _POLICIES:
        return output.paint(text, text)
    return output.paint(text, "dim") if column.dim and text else text


def _rule_character() -> str:
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return "─" if encoding in ("utf8", "utf16") else "-"
