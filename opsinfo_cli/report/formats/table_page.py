"""A page with one table to search, filter and sort, which can be attached to a ticket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..page import LONG, Bar, bars, escaped, page_text, pill


class PageCell(NamedTuple):
    """:param lists: words in the colours of lists, with arrows between them; without them ``text`` is shown

    ``key`` is the sort key, if not the text; ``full`` is shown on hover.
    """

    text: str = ""
    lists: tuple[str, ...] = ()
    key: str = ""
    full: str = ""


class PageRow(NamedTuple):
    """A row; the page's filters use its ``tags``, and its first cell is the row header."""

    cells: Sequence[PageCell]
    tags: Sequence[str]


class TableFilter(NamedTuple):
    """A group of tags: a row is shown if it has a ticked tag, or no tag is ticked."""

    label: str
    tags: Sequence[tuple[str, int]]


class TablePage(NamedTuple):
    title: str
    facts: Sequence[tuple[str, str]]
    bars: Sequence[Bar]
    choices: Sequence[TableFilter]
    columns: Sequence[str]
    rows: Sequence[PageRow]


def table_page_text(page: TablePage) -> str:
    """Return the page as one file."""
    choices = "".join(map(_choice, enumerate(page.choices)))
    heads = "".join(f'<th scope="col" aria-sort="none">{escaped(column)}</th>' for column in page.columns)
    body = (
        '<form class="tools" hidden>\n'
        '<label class="search">Search <input type="search" name="search" autocomplete="off" spellcheck="false" '
        f'placeholder="name, file, mark"></label>\n{choices}<p role="status"></p>\n</form>\n'
        f'<div class="sheet">\n<table>\n<caption>{escaped(page.title)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(map(_row, page.rows))}</tbody>\n</table>\n</div>\n"
        '<p class="none" hidden>No operator fits.</p>\n'
    )
    foot = f"{len(page.rows)} rows"
    return page_text(page.title, page.facts, body, lead=bars(page.bars), scripts=["table.js"], foot=foot)


def _choice(numbered: tuple[int, TableFilter]) -> str:
    group, choice = numbered
    boxes = ""
    for tag, count in choice.tags:
        box = f'<input type="checkbox" data-group="{group}" value="{escaped(tag)}">'
        boxes += f"<label>{box}<span>{escaped(tag)} <b>{count}</b></span></label>"
    return f"<fieldset><legend>{escaped(choice.label)}</legend>{boxes}</fieldset>\n"


def _row(row: PageRow) -> str:
    cells = [_cell(cell, "th" if index == 0 else "td") for index, cell in enumerate(row.cells)]
    return f'<tr data-tags="{escaped("|".join(row.tags))}">{"".join(cells)}</tr>\n'


def _cell(cell: PageCell, tag: str) -> str:
    more = ' scope="row"' if tag == "th" else ""
    more += f' data-key="{escaped(cell.key)}"' if cell.key else ""
    more += ' class="long"' if len(cell.text) > LONG else ""
    more += f' title="{escaped(cell.full)}"' if cell.full and cell.full != cell.text else ""
    return f"<{tag}{more}>{_lists(cell.lists) if cell.lists else escaped(cell.text)}</{tag}>"


def _lists(words: Iterable[str]) -> str:
    return ' <span class="arrow">→</span> '.join(map(pill, words))
