"""What a command returns: a JSON document, blocks for people, other formats as text, and an exit status.

A command knows no format; :class:`.console.Console` prints the one that the line asks for. On a terminal blocks are
drawn with rich; elsewhere a table becomes tab-separated lines, and the other blocks become their text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from ...errors import OpsinfoError

Style: TypeAlias = Literal[
    "", "error", "warning", "note", "hint", "title", "dim", "white", "black", "gray", "added", "removed"
]


class Span(NamedTuple):
    """A part of a line in one style; off a terminal only the text is left."""

    text: str
    style: Style = ""


class PathCell(NamedTuple):
    """A path, which a terminal shortens in the middle, and a suffix that is kept: a line, a remark.

    :param is_node: whether it is the name of a node, whose last parts tell it from others
    """

    path: str
    suffix: str = ""
    is_node: bool = False

    def __str__(self) -> str:
        return self.path + self.suffix


Line: TypeAlias = "str | Sequence[Span | PathCell]"
"""A line of text. Names and paths in it need no escaping: the console makes them visible."""


def spans(line: Line, width: int = 0, shorten: Callable[[str, int], str] | None = None) -> list[Span]:
    """Return the parts of a line as text.

    :param shorten: called with each path and the width that the rest of the line leaves it
    """
    if isinstance(line, str):
        return [Span(line)]
    rest = sum(len(part.suffix if isinstance(part, PathCell) else part.text) for part in line)

    def text(place: PathCell) -> str:
        return (shorten(place.path, width - rest) if shorten else place.path) + place.suffix

    return [Span(text(part)) if isinstance(part, PathCell) else part for part in line]


class ShareBar(NamedTuple):
    """A bar in a cell of a table, drawn on a terminal and in a page.

    :param filled: its dark part, from 0 to 1
    :param whole: all of it
    """

    filled: float
    whole: float

    def __str__(self) -> str:
        return ""


Cell: TypeAlias = "str | Span | PathCell | ShareBar"


def cell_text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Span) else str(cell)


class Column(NamedTuple):
    """:param policy: whether cells that are a policy have its colour
    :param number: whether it is right-aligned
    :param spare: whether a terminal leaves it out if the table is too wide, the last of several first
    """

    title: str
    policy: bool = False
    number: bool = False
    dim: bool = False
    spare: bool = False


class Table(NamedTuple):
    """Rows of cells, one line each.

    :param fields: the fields of each line off a terminal, if they are not the cells; no line if empty
    :param title: shown above it on a terminal and in a page
    """

    columns: Sequence[Column]
    rows: Iterable[Sequence[Cell]]
    fields: Callable[[], Iterable[Sequence[str]]] | None = None
    title: str = ""


class Lines(NamedTuple):
    """Lines of text. A terminal breaks long ones between words, and indents what follows by ``indent`` blanks.

    :param whole: whether each line stays one, for programs that read a terminal, as editors and pre-commit do
    """

    lines: Iterable[Line]
    indent: int = 0
    whole: bool = False


class Names(NamedTuple):
    """Names side by side, in columns ordered downwards; off a terminal one in each line."""

    names: Sequence[str]


class Tree(NamedTuple):
    """A line with branches; off a terminal indented lines."""

    label: Line
    branches: Sequence[Tree] = ()


class Diff(NamedTuple):
    """A unified diff that `patch` accepts; coloured on a terminal, exact elsewhere."""

    text: str


class Exact(NamedTuple):
    """The content of a file: exact in a pipe, escaped on a terminal.

    :param is_for_runner: whether it is made of commands to a CI runner; other text has none in its log
    """

    text: str
    is_for_runner: bool = False


class Picture(NamedTuple):
    """Rows of characters for a terminal; nothing elsewhere.

    :param rows: returns them for a width in cells, and whether the terminal shows more than ASCII
    """

    rows: Callable[[int, bool], Iterable[str]]


class Either(NamedTuple):
    """Blocks that differ by medium."""

    terminal: Callable[[], Iterable[Block]]
    elsewhere: Callable[[], Iterable[Block]]


Block: TypeAlias = "Table | Lines | Names | Tree | Diff | Exact | Picture | Either"


class CommandAnswer(NamedTuple):
    """:param document: the JSON document without its head; an iterator in it becomes an array, item by item
    :param blocks: the answer as text
    :param formats: further formats of the command by name: blocks, such as concise, or the text of a file, such as html
    :param caveats: what limits the answer: a dim panel below it on a terminal, in other formats and elsewhere notes on
        standard error
    :param warnings: warnings on standard error after the text
    :param notes: lines for standard error after the text: a result, the next step; ``-q`` hides them
    :param content: what a file of the answer has, such as "3 operators"; said after ``-o`` has written it
    :param summary: a line for standard error after the text on a terminal
    :param paged: whether a terminal shows it through a pager if it is longer than the screen
    :param details: lines for standard error after the text, with ``-v``
    :param failures: errors of single files among many, for standard error after these
    :param fault: why the answer proves nothing, for standard error after all else, in every format
    """

    document: Callable[[], Mapping[str, object]]
    blocks: Callable[[], Iterable[Block]] = tuple
    formats: Mapping[str, Callable[[], str | Iterable[Block]]] = MappingProxyType({})
    caveats: Sequence[str] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    content: str = ""
    summary: str = ""
    status: int = 0
    paged: bool = True
    details: Iterable[str] = ()
    failures: Sequence[OpsinfoError] = ()
    fault: OpsinfoError | None = None
