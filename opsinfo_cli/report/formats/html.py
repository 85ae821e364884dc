"""One self-contained page with a table to search and sort; it fetches nothing, and all text is escaped."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from html import escape
from string import Template
from typing import NamedTuple

from ... import __version__
from ..terminal.visible import visible

_PARTS = os.path.join(os.path.dirname(__file__), "page")
_LONG = 48
"""The longest text, in characters, that is not broken in a cell."""
LISTS = ("white", "black", "gray")


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


class Bar(NamedTuple):
    """Counts of a whole: (word, count)."""

    label: str
    parts: Sequence[tuple[str, int]]


class TableFilter(NamedTuple):
    """A group of tags: a row is shown if it has a ticked tag, or no tag is ticked."""

    label: str
    tags: Sequence[tuple[str, int]]


class Page(NamedTuple):
    title: str
    facts: Sequence[tuple[str, str]]
    bars: Sequence[Bar]
    choices: Sequence[TableFilter]
    columns: Sequence[str]
    rows: Sequence[PageRow]


def page_text(page: Page) -> str:
    """Return the page as one file. All text is escaped; a content security policy forbids external content."""
    style, script = _part("page.css"), _part("page.js")
    return Template(_part("page.html")).substitute(
        title=_text(page.title),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        facts="".join(f"<div><dt>{_text(name)}</dt><dd>{_text(said)}</dd></div>\n" for name, said in page.facts),
        bars="".join(map(_bar, page.bars)),
        choices="".join(map(_choice, enumerate(page.choices))),
        columns="".join(f'<th scope="col" aria-sort="none">{_text(column)}</th>' for column in page.columns),
        rows="".join(map(_row, page.rows)),
        count=len(page.rows),
        version=_text(__version__),
    )


def _part(name: str) -> str:
    with open(os.path.join(_PARTS, name), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(text: str) -> str:
    return escape(visible(text))


def _bar(bar: Bar) -> str:
    """Return a bar, and the same counts as text."""
    total = sum(count for _, count in bar.parts) or 1
    drawn, words, at = [], [], 0.0
    for word, count in bar.parts:
        width = 100 * count / total
        drawn.append(f'<rect class="{_class(word)}" x="{at:.3f}" width="{width:.3f}" height="10"/>')
        words.append(f'<li><span class="{_class(word)}">{_text(word)}</span> <b>{count}</b></li>')
        at += width
    picture = f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(drawn)}</svg>'
    return f"<figure><figcaption>{_text(bar.label)}</figcaption>{picture}<ul>{''.join(words)}</ul></figure>\n"


def _class(word: str) -> str:
    """Return the CSS class of a list; for a change, the class of the new list."""
    last = word.rsplit(maxsplit=1)[-1] if word else ""
    return f"list {last if last in LISTS else _OTHERS.get(word, 'other')}"


_OTHERS = {"only in A": "gone", "only in B": "new", "the same": "same", "absent": "same", "undecided": "same"}


def _choice(numbered: tuple[int, TableFilter]) -> str:
    group, choice = numbered
    boxes = ""
    for tag, count in choice.tags:
        box = f'<input type="checkbox" data-group="{group}" value="{_text(tag)}">'
        boxes += f"<label>{box}<span>{_text(tag)} <b>{count}</b></span></label>"
    return f"<fieldset><legend>{_text(choice.label)}</legend>{boxes}</fieldset>\n"


def _row(row: PageRow) -> str:
    cells = [_cell(cell, "th" if index == 0 else "td") for index, cell in enumerate(row.cells)]
    return f'<tr data-tags="{_text("|".join(row.tags))}">{"".join(cells)}</tr>\n'


def _cell(cell: PageCell, tag: str) -> str:
    more = ' scope="row"' if tag == "th" else ""
    more += f' data-key="{_text(cell.key)}"' if cell.key else ""
    more += ' class="long"' if len(cell.text) > _LONG else ""
    more += f' title="{_text(cell.full)}"' if cell.full and cell.full != cell.text else ""
    return f"<{tag}{more}>{_lists(cell.lists) if cell.lists else _text(cell.text)}</{tag}>"


def _lists(words: Iterable[str]) -> str:
    arrow = ' <span class="arrow">→</span> '
    return arrow.join(f'<span class="{_class(word)}">{_text(word)}</span>' for word in words)
