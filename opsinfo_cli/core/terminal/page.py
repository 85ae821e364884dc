"""The frame of every HTML page: one file, light or dark, that fetches nothing and runs only its own scripts."""

from __future__ import annotations

from collections import Counter
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ...errors import counted
from ...version import __version__
from ..document import POLICY_WORDS
from ..text.escape import visible
from .answer import Cell, Column, PathCell, ShareBar, Table, cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

LONG = 24
"""The width of a column in characters; longer texts are wrapped."""
FOLDED = 120
"""The length of a text in a cell that is shown at once."""


class Bar(NamedTuple):
    """Counts of a whole: (word, count)."""

    label: str
    parts: Sequence[tuple[str, int]]


def page_text(
    title: str,
    facts: Iterable[tuple[str, str]],
    body: str,
    *,
    lead: str = "",
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Any = None,
    foot: str = "",
) -> str:
    """Return a page as one self-contained file. Its content policy names the hashes of its style and its script.

    :param facts: what is shown under the title: (name, value)
    :param body: markup of the main part; its texts must be escaped with :func:`escaped`
    :param lead: markup between the facts and the main part
    :param styles: names of style sheets in ``page_parts``, added to ``page.css``
    :param scripts: names of scripts in ``page_parts``, joined into one
    :param data: data for the script, as JSON in the element with the id ``data``
    """
    import json
    from string import Template

    style, script = "\n".join(map(part, ("page.css", *styles))), "\n".join(map(part, scripts))
    data_element = ""
    if data is not None:
        text = json.dumps(data, separators=(",", ":"), check_circular=False).translate(_IN_SCRIPT)
        data_element = f'<script type="application/json" id="data">{text}</script>\n'
    return Template(part("shell.html")).substitute(
        title=escaped(title),
        style=style,
        style_hash=_hash(style),
        script=f"<script>{script}</script>\n" if script else "",
        script_source=f"'{_hash(script)}'" if script else "'none'",
        facts="".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>\n" for name, value in facts),
        lead=lead,
        body=body,
        data=data_element,
        foot=f"{foot}{', ' if foot else ''}made by opsinfo {escaped(__version__)}",
        version=escaped(__version__),
    )


def escaped(text: str) -> str:
    """Return a text as markup, with control characters and direction marks as escapes, as on a terminal."""
    return escape(visible(text))


def section(heading: str, body: str, name: str = "") -> str:
    """:param name: the id of the element"""
    found = f' id="{escaped(name)}"' if name else ""
    return f"<section{found}>\n<h2>{escaped(heading)}</h2>\n{body}</section>\n"


def table_section(title: str, table: Table, most: int | None = None, name: str = "") -> str:
    """Return a section with a table that needs no script.

    :param most: the rows that are shown; the others are counted
    :param name: the id of the element
    """
    rows = list(table.rows)
    left = rows[most:] if most else []
    more = f"<p>{counted(len(left), 'more row')} not shown; the JSON has all.</p>\n" if left else ""
    return section(title, _sheet(table, rows[:most], title) + more, name)


def _sheet(table: Table, rows: Iterable[Sequence[Cell]], caption: str, searchable: bool = False) -> str:
    """Return a table that can be scrolled sideways; the first cell of a row is its header.

    :param caption: for screen readers
    :param searchable: whether the script of the page searches and sorts it
    """
    sort = ' aria-sort="none"' if searchable else ""
    heads = "".join(
        f'<th scope="col"{sort}{_number(column)}>{escaped(_heading(column))}</th>' for column in table.columns
    )
    lines = []
    for cells in rows:
        tags = "|".join(f"{at}={_text(cells[at]) or '-'}" for at, column in enumerate(table.columns) if column.policy)
        shown = "".join(_cell(at == 0, *each) for at, each in enumerate(zip(table.columns, cells, strict=True)))
        tagged = f' data-tags="{escaped(tags)}"' if searchable else ""
        lines.append(f"<tr{tagged}>{shown}</tr>\n")
    return (
        f'<div class="sheet">\n<table>\n<caption>{escaped(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table>\n</div>\n"
    )


def _number(column: Column) -> str:
    return ' class="number"' if column.number else ""


def _heading(column: Column) -> str:
    """Return a word with a capital letter; a chip or a path stays as it is."""
    is_name = any(sign in "0123456789./@" for sign in column.title)
    return column.title if is_name else column.title[:1].upper() + column.title[1:]


_RANK = {word: at for at, word in enumerate((*POLICY_WORDS, "-"))}
"""The order of policies in a sorted column; absent ones are last."""


def _cell(is_head: bool, column: Column, cell: Cell) -> str:
    """Return a cell; on a narrow page, whose rows are a few lines without columns, it is named by an attribute.

    Words of a list have its colour, with arrows between them.
    """
    text = _text(cell)
    look = _number(column) or (' class="long"' if len(text) > LONG else "")
    rank = f' data-key="{_RANK[text]}"' if column.policy and text in _RANK else ""
    hover = f' title="{escaped(str(cell))}"' if isinstance(cell, PathCell) and str(cell) != text else ""
    tag, of = ('th scope="row"', "") if is_head else ("td", f' data-of="{escaped(_heading(column))}"')
    if isinstance(cell, ShareBar):
        filled, rest = 100 * cell.filled, 100 * (cell.whole - cell.filled)
        markup = (
            '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect class="low" width="{filled:.2f}" height="10"/>'
            f'<rect class="nothing" x="{filled:.2f}" width="{rest:.2f}" height="10"/></svg>'
        )
    elif column.policy and text:
        markup = ' <span class="arrow">→</span> '.join(map(pill, text.split(" -> ")))
    else:
        markup = folded_markup(text)
    return f"<{tag}{look}{rank}{hover}{of}>{markup}</{tag[:2]}>"


def _text(cell: Cell) -> str:
    """Return the text of a cell; of a place the name of its file, of a node the whole name."""
    if isinstance(cell, PathCell) and not cell.is_node:
        return cell.path.rsplit("/", 1)[-1] + cell.suffix
    return cell_text(cell)


def folded_markup(text: str) -> str:
    """Return a text as markup; the rest of a very long one is shown on request."""
    if len(text) <= FOLDED:
        return escaped(text)
    at = text.rfind(", ", 0, FOLDED // 2) + 1 or FOLDED // 2
    return f"<details><summary>{escaped(text[:at])} ...</summary>{escaped(text[at:])}</details>"


def bars(each: Iterable[Bar]) -> str:
    """Return bars side by side, each with the same counts as text."""
    figures = ""
    for bar in each:
        total = sum(count for _, count in bar.parts) or 1
        rects, words, at = "", "", 0.0
        for word, count in bar.parts:
            width = 100 * count / total
            rects += f'<rect class="{word_class(word)}" x="{at:.3f}" width="{width:.3f}" height="10"/>'
            words += f"<li>{pill(word)} <b>{count}</b></li>"
            at += width
        picture = f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{rects}</svg>'
        figures += f"<figure><figcaption>{escaped(bar.label)}</figcaption>{picture}<ul>{words}</ul></figure>\n"
    return f'<div class="bars">\n{figures}</div>\n'


def pill(word: str) -> str:
    """Return a list, a dtype or another word of a fixed set, drawn in its colour."""
    return f'<span class="{word_class(word)}">{escaped(word)}</span>'


def word_class(word: str) -> str:
    """Return the class of a list, a dtype or a change; a change has the colour of its new value."""
    last = word.rsplit(maxsplit=1)[-1] if word else ""
    return f"list {last if last in _OWN else _OTHERS.get(word, 'other')}"


DTYPES = ("float16", "bfloat16", "hifloat8", "float32", "float64")
"""Dtypes with their own colour; ``whole`` is the class of all others, ``nothing`` of none."""
_OWN = frozenset({*POLICY_WORDS, *DTYPES, "low", "high"})
_OTHERS = {
    "only in A": "gone",
    "only in B": "new",
    "the same": "same",
    "neither": "nothing",
    "folded on constants": "nothing",
    "agree": "new",
    "differ": "gone",
    "Casts fewer": "new",
    "Casts new": "gone",
}


def dtype_class(dtype: str | None) -> str:
    """Return the class that gives a dtype its colour, in HTML and SVG."""
    return "nothing" if dtype is None else dtype if dtype in DTYPES else "whole"


def part(name: str) -> str:
    return files("opsinfo_cli.core.terminal").joinpath("page_parts", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    import base64
    import hashlib

    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


_IN_SCRIPT = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""With these JSON cannot end its element."""


def table_page(
    title: str,
    facts: Iterable[tuple[str, str]],
    tables: Sequence[Table],
    lead: str = "",
    note: str = "",
    styles: Sequence[str] = (),
) -> str:
    """Return a page whose first table can be searched, filtered and sorted; the others follow as sections.

    Columns of policies become bars of counts and filters.

    :param lead: markup above the tables, such as a plot
    :param styles: style sheets that the lead needs
    :param note: a sentence for the foot of the page
    """
    first, *others = tables
    rows = [list(cells) for cells in first.rows]
    counts = {
        at: Counter(_text(cells[at]) or "-" for cells in rows)
        for at, column in enumerate(first.columns)
        if column.policy
    }
    pictures, filters = [], ""
    for at, words in counts.items():
        # lists first, then the other words as they come
        ordered = [(word, words[word]) for word in dict.fromkeys((*POLICY_WORDS, *words)) if words[word]]
        title_of_column = _heading(first.columns[at])
        pictures.append(Bar(title_of_column, ordered))
        boxes = "".join(
            f'<label><input type="checkbox" data-group="{at}" value="{at}={escaped(word)}">'
            f"<span>{escaped(word)} <b>{count}</b></span></label>"
            for word, count in ordered
        )
        if len(words) > 1:
            filters += f"<fieldset><legend>{escaped(title_of_column)}</legend>{boxes}</fieldset>\n"
    body = (
        '<form class="tools" hidden>\n'
        '<label class="search">Search <input type="search" name="search" autocomplete="off" spellcheck="false" '
        f'placeholder="name, file, word"></label>\n{filters}<p role="status"></p>\n</form>\n'
        f"{_sheet(first, rows, first.title or title, searchable=True)}"
        '<p class="none" hidden>No row fits.</p>\n'
    )
    body += "".join(table_section(each.title, each) for each in others)
    foot = (f"{note}, " if note else "") + counted(len(rows), "row")
    lead = (bars(pictures) if pictures else "") + lead
    return page_text(title, facts, body, lead=lead, styles=styles, scripts=["table.js"], foot=foot)
