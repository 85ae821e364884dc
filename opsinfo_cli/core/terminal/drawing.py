"""Answers on a terminal, drawn with rich: tables, names in columns, trees, diffs, panels, progress, the pager."""

from __future__ import annotations

import io
import math
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich import box
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text
from rich.tree import Tree as RichTree

from ..document import POLICY_WORDS
from ..text.escape import cell_width, line_starts, shortened, shown, visible_line
from .answer import (
    Block,
    Cell,
    Column,
    Diff,
    Exact,
    Line,
    Lines,
    Names,
    PathCell,
    Picture,
    ShareBar,
    Span,
    Table,
    Tree,
    cell_text,
    spans,
)
from .styles import STYLES, terminal_width

_LEAST = 18
"""The narrowest column, in cells, to which a place is shortened."""
_BAR = 16
"""The width of a bar, in cells."""


class _Buffer(io.StringIO):
    """A text for a stream; rich draws with the characters of its encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def draw(blocks: Iterable[Block], encoding: str, colored: bool, caveats: Sequence[str] = ()) -> str:
    """Return blocks as text for a terminal, as wide as it is, with a panel of caveats below them."""
    buffer = _Buffer(encoding)
    console = Console(
        file=buffer,
        force_terminal=True,
        color_system="standard" if colored else None,
        no_color=not colored,
        highlight=False,
        markup=False,
        emoji=False,
        width=terminal_width(),
    )
    for block in blocks:
        if isinstance(block, Table):
            _draw_table(console, block)
        elif isinstance(block, Lines):
            for line in block.lines:
                if block.whole:
                    console.print(rich_text(line), soft_wrap=True)
                else:
                    _draw_line(console, line, block.indent)
        elif isinstance(block, Names):
            names = [Text(shown(name), no_wrap=True) for name in block.names]
            console.print(Padding(Columns(names, column_first=True, padding=(0, 2)), (0, 0, 0, 2)))
        elif isinstance(block, Tree):
            console.print(_tree(block))
        elif isinstance(block, Diff):
            console.print(_diff(block.text), soft_wrap=True)
        elif isinstance(block, Exact):
            for row in block.text.splitlines():
                console.print(Text(visible_line(row)), soft_wrap=True)
        elif isinstance(block, Picture):
            for row in block.rows(console.width, not console.options.ascii_only):
                console.print(Text(visible_line(row)), soft_wrap=True)
    if caveats:
        text = Text("\n".join(map(shown, caveats)), style="dim")
        frame = box.ASCII if console.options.ascii_only else box.ROUNDED
        console.print(Panel(text, style="dim", box=frame, title="limits of this answer", title_align="left"))
    return buffer.getvalue()


def rich_style(name: str) -> Style:
    known = STYLES.get(name, {})
    return Style(color=known.get("fg"), bold=known.get("bold"), dim=known.get("dim"))


def rich_text(line: Line, width: int = 0) -> Text:
    """:param width: the cells to which places are shortened; 0 if they are not"""
    parts = spans(line, width, shortened if width else None)
    return Text.assemble(*((visible_line(text), rich_style(style)) for text, style in parts))


class _TreeLine:
    """A line of a tree, whose places are shortened to the width that the branches leave."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield rich_text(self.line, options.max_width)


def _draw_line(console: Console, line: Line, indent: int) -> None:
    text = rich_text(line, console.width)
    lead = len(text.plain) - len(text.plain.lstrip(" "))
    hanging = max(lead, indent)
    starts = line_starts(text.plain, max(20 + hanging, console.width), hanging)
    for number, part in enumerate(text.divide(starts)):
        if number < len(starts):
            part.rstrip()
        console.print(Text(" " * hanging if number else "") + part, soft_wrap=True)


class _Places:
    """The names of nodes in one column: what is shown of them must tell them apart."""

    def __init__(self, places: Sequence[PathCell]) -> None:
        self._names = {shown(place.path) for place in places if place.is_node}
        self._alike: dict[int, set[str]] = {}

    def alike(self, room: int) -> set[str]:
        """Return the shortened texts that several names have."""
        if room not in self._alike:
            counts = Counter(shortened(name, room, is_node=True) for name in self._names)
            self._alike[room] = {text for text, count in counts.items() if count > 1}
        return self._alike[room]


class _ShortPlace:
    """A path that is shortened in its middle to the width of its column; a name that would look like another one is
    broken into several lines.
    """

    def __init__(self, place: PathCell, style: Style, places: _Places) -> None:
        self.path, self.suffix, self.style = shown(place.path), shown(place.suffix), style
        self.is_node, self.places = place.is_node, places

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = cell_width(self.path + self.suffix)
        return Measurement(min(_LEAST, whole), whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - cell_width(self.suffix)
        text = shortened(self.path, room, self.is_node)
        if self.is_node and text in self.places.alike(room):
            yield Text(self.path + self.suffix, style=self.style, overflow="fold")
        else:
            yield Text(text + self.suffix, style=self.style, no_wrap=True)


def _draw_table(console: Console, table: Table) -> None:
    """Draw a table in the width of the terminal: drop spare columns first, then break cells into several lines."""
    rows = [list(cells) for cells in table.rows]
    if not rows:
        return
    columns = list(table.columns)
    while True:
        fits = _least_width(columns, rows) <= console.width
        spare = [index for index, column in enumerate(columns) if column.spare]
        if fits or not spare:
            break
        del columns[spare[-1]]
        for cells in rows:
            del cells[spare[-1]]
    if table.title:
        console.print(Text(shown(table.title), style="bold"))
    grid = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        has_places = any(isinstance(cells[index], PathCell) for cells in rows)
        grid.add_column(
            Text(shown(column.title), style="bold"),
            justify="right" if column.number else "left",
            no_wrap=fits and not has_places,
            overflow="fold",
            style="dim" if column.dim else "",
        )
    places = [
        _Places([cell for cells in rows if isinstance(cell := cells[index], PathCell)]) for index in range(len(columns))
    ]
    for cells in rows:
        grid.add_row(*(_cell(*each) for each in zip(columns, cells, places, strict=True)))
    console.print(grid)


def _least_width(columns: list[Column], rows: list[list[Cell]]) -> int:
    """Return the width of a table whose places are as short as they may be and whose other cells are whole."""
    widths = [cell_width(shown(column.title)) for column in columns]
    for cells in rows:
        for index, cell in enumerate(cells):
            width = _BAR if isinstance(cell, ShareBar) else cell_width(shown(cell_text(cell)))
            widths[index] = max(widths[index], min(width, _LEAST) if isinstance(cell, PathCell) else width)
    return sum(widths) + 2 * (len(widths) - 1)


class _DrawnBar:
    """A bar in whole characters; what is more than nothing has one."""

    def __init__(self, bar: ShareBar) -> None:
        self.bar = bar

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_BAR, _BAR)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole, filled = (math.ceil(share * _BAR - 1e-9) for share in (self.bar.whole, self.bar.filled))
        dark, light = ("#", "-") if options.ascii_only else ("█", "░")
        yield Text(dark * filled + light * (whole - filled), no_wrap=True)


def _cell(column: Column, cell: Cell, places: _Places) -> Any:
    if isinstance(cell, ShareBar):
        return _DrawnBar(cell)
    if isinstance(cell, PathCell):
        return _ShortPlace(cell, rich_style("dim" if column.dim else ""), places)
    text, style = cell if isinstance(cell, Span) else (cell, "")
    if column.policy and text in POLICY_WORDS:
        style = text
    return Text(shown(text), style=rich_style(style))


def _tree(tree: Tree) -> RichTree:
    drawn = RichTree(_TreeLine(tree.label), guide_style="dim")
    waiting = [(drawn, tree)]
    while waiting:
        parent, branch = waiting.pop()
        for each in branch.branches:
            waiting.append((parent.add(_TreeLine(each.label)), each))
    return drawn


def _diff(text: str) -> Text:
    styles = {"+": "added", "-": "removed", "@": "note"}
    drawn = Text()
    for line in text.splitlines():
        style = "title" if line.startswith(("---", "+++")) else styles.get(line[:1], "")
        drawn.append(visible_line(line) + "\n", rich_style(style))
    drawn.right_crop(1)
    return drawn


_DELAY = 0.5
"""Seconds of work before a progress bar appears."""


@contextmanager
def progress(description: str, total: float | None) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error, after a moment, until the work is done; then remove it."""
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %" if total else ""),
        TimeElapsedColumn(),
        *([TimeRemainingColumn()] if total else []),
        console=Console(file=sys.stderr, width=terminal_width()),
        transient=True,
    )
    task = bar.add_task(shown(description), total=total)
    timer = threading.Timer(_DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done: bar.advance(task, done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@contextmanager
def status() -> Iterator[Callable[[str, float], None]]:
    """Show a bar with the elapsed time and a changing text on standard error; in the end remove it."""
    bar = Progress(
        SpinnerColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(file=sys.stderr, width=terminal_width()),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    with bar:
        yield lambda text, share: bar.update(task, description=shown(text), completed=share)


def page(text: str) -> bool:
    """Show a text through the pager if a person reads it and it is longer than the screen.

    OPSINFO_PAGER, else PAGER, else `less` or `more`; empty or `cat` for none, as without TERM, where `less` asks first.

    :returns: whether it was shown
    """
    from shutil import get_terminal_size

    pager = os.environ.get("OPSINFO_PAGER", os.environ.get("PAGER"))
    is_short = text.count("\n") < (get_terminal_size().lines or 24)
    if is_short or pager in ("", "cat") or not os.environ.get("TERM") or not (sys.stdin and sys.stdin.isatty()):
        return False
    if pager:
        os.environ["PAGER"] = pager
    os.environ.setdefault("LESS", "FRX")  # as git: raw colours, and a short text stays on the screen
    click.echo_via_pager(text, color=True)
    return True
