"""The effect of a policy on a model, as a page: the summary, the ribbon, and node details drawn by a script."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.dtype_names import leading_dtype
from ....core.terminal.page import DTYPES, Bar, bars, dtype_class, escaped, page_text, section, table_section
from ....errors import counted
from ...graph.topology import order_of
from .document import GraphView, casts_text, cost_text, coverage_text, memory_text
from .page_data import PageColumns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from ....core.terminal.answer import Table

_NO_DTYPE = "constants, inputs, no dtype"
_MOST_ROWS = 100
"""Rows of a table that needs no script."""
MOST_BINS = 1200
"""Columns of the ribbon; more nodes than these share columns, because no screen has a pixel for each."""
_CLASSES = (*DTYPES, "whole", "nothing")
_BAND, _TICKS, _GAP = 30, 7, 3
"""Heights of a band of dtypes, of a row of ticks, and of the gap between them."""


def graph_page(view: GraphView, types: Table, tables: Mapping[str, Table]) -> str:
    """Return the page as one file.

    :param tables: more tables, by heading
    :raises Damaged: if the graph has a cycle
    """
    graph = view.answer.graph
    order = order_of(graph)
    columns = PageColumns(view.answer, range(len(order)) if order == list(range(len(order))) else order)
    path = graph.model.path or ""
    facts = [
        ("File", path if "/" in path else ""),
        *view.facts,
        ("Moved to high", cost_text(view.cost).rstrip(",") if view.cost else ""),
    ]
    facts.append(("Compared with", view.compared_with))
    sections = table_section("Op types", types, _MOST_ROWS, "types")
    sections += "".join(table_section(title, table, _MOST_ROWS) for title, table in tables.items() if table.rows)
    notes = [*(note.message for note in graph.model.notes), *view.caveats]  # of the model, and limits of the answer
    if notes:
        items = "".join(f"<li>{escaped(note)}</li>\n" for note in notes)
        title = f"{counted(len(notes), 'note')} on what this answer assumes"
        head = f'<details id="notes"><summary>{title}</summary>'
        sections += f'{head}\n<ul class="notes">\n{items}</ul>\n</details>\n'
    data: dict[str, Any] = {"chosen": view.chosen}
    if view.comparison:
        data["comparison"] = {"label": view.compared_with, **columns.comparison(view.comparison)}
    if view.back:
        data["back"] = columns.read_back(view.back)
    drawing = _drawing(view, columns)
    return page_text(
        os.path.basename(path) or "Model",
        [fact for fact in facts if fact[1]],
        drawing + _SCRIPT_PART + sections,
        lead=_lead(view),
        styles=["graph.css"],
        scripts=["graph_data.js", "graph_near.js", "graph_table.js", "graph_main.js"],
        data={**columns.document(), **data},  # the document last: it also has the states of all others
        foot=f"{len(view.answer)} nodes",
    )


_SCRIPT_PART = (
    '<section id="node" tabindex="-1" aria-live="polite" hidden></section>\n'
    '<section id="nodes" hidden>\n<h2>Nodes</h2>\n<form class="tools">\n'
    '<label class="search">Search <input type="search" name="search" autocomplete="off" spellcheck="false" '
    'placeholder="name, op type, dtype, list"></label>\n<div class="choices"></div>\n<p role="status"></p>\n'
    '</form>\n<div class="sheet"><table>\n<caption>Nodes</caption>\n<thead></thead>\n<tbody></tbody>\n</table>'
    "</div>\n"
    '<p class="more"><button type="button">Show more</button></p>\n</section>\n'
    "<noscript><p>Nodes can be searched and drawn if scripts may run.</p></noscript>\n"
)
"""The elements that the script fills; without scripts they stay hidden."""


def _lead(view: GraphView) -> str:
    types = view.answer.types
    low, high = sum(row.low for row in types), sum(row.high for row in types)
    nodes = [("low", low), ("high", high), ("neither", len(view.answer) - low - high)]
    casts = view.answer.cast_counts
    every = [Bar("Nodes", nodes), Bar("Casts", [("to run", casts.run), ("folded on constants", casts.folded)])]
    if view.comparison:
        found = view.comparison
        same = len(view.answer) - len(found.changed)
        every.append(Bar("Comparison: nodes", [("other dtypes", len(found.changed)), ("the same", same)]))
        cast_parts = [("Casts fewer", len(found.casts_gone)), ("Casts new", len(found.casts_added))]
        every.append(Bar("Comparison: edges", cast_parts))
    if view.back:
        differs = len(view.back.differs)
        every.append(Bar("Read back: nodes", [("agree", view.back.matched - differs), ("differ", differs)]))
    notes = [casts_text(view.answer), memory_text(view.answer)]
    notes.append(coverage_text(view.answer.coverage) if view.answer.mode_name is not None else "")
    items = "".join(f"<li>{escaped(note)}</li>\n" for note in notes if note)
    return f'{bars(every)}<ul class="notes">\n{items}</ul>\n'


def _drawing(view: GraphView, columns: PageColumns) -> str:
    """Return the ribbon with its legend."""
    if not len(view.answer):
        return ""
    place = {index: at for at, index in enumerate(columns.order)}
    words = columns.dtypes()
    bands = [Band("dtype of every node", words)]
    if view.comparison:
        changed = {a.index: b for a, b in view.comparison.changed}
        other = [
            leading_dtype(changed[index].inputs, changed[index].outputs) if index in changed else word
            for index, word in zip(columns.order, words, strict=True)
        ]
        bands.append(Band("nodes with other dtypes", ticks=[place[index] for index in changed], name="mark"))
        bands.append(Band(f"B: {view.compared_with}", other))
    if view.back:
        marked = [view.answer.graph.find(node.row.name) for node in view.back.differs]
        ticks = [place[node.index] for node in marked if node]
        bands.append(Band("nodes that differ from the compiled model", ticks=ticks, name="mark"))
    ticks = sorted({place[cast.consumer] for cast in view.answer.casts if not cast.constant})
    bands.append(Band("nodes with a Cast that runs at an input", ticks=ticks, name="tick"))
    drawing = f'<div class="ribbon">\n{ribbon(len(words), bands)}</div>\n{_legend(words, bands)}'
    return section("All nodes in topological order", drawing, "ribbon")


def _legend(words: Sequence[str | None], bands: Sequence[Band]) -> str:
    counts = Counter(words)
    ranked = sorted(counts, key=lambda dtype: (dtype not in DTYPES, -counts[dtype], dtype or ""))
    items = "".join(
        f'<li><span class="list {dtype_class(dtype)}">{escaped(dtype or _NO_DTYPE)}</span> <b>{counts[dtype]}</b></li>'
        for dtype in ranked
    )
    drawn = [band.label for band in bands if band.dtypes]
    if len(drawn) > 1:
        items += f"<li>upper band: A, as judged; lower band: {escaped(drawn[1])}</li>"
    items += "".join(
        f'<li><span class="list key-{band.name}"></span> {escaped(band.label)} <b>{len(band.ticks)}</b></li>'
        for band in bands
        if not band.dtypes
    )
    return f'<ul class="legend">{items}</ul>\n'


class Band(NamedTuple):
    """A row of the ribbon.

    :param dtypes: of every node; empty for a row of ticks
    :param ticks: indexes of ticked nodes, in the order of the ribbon
    """

    label: str
    dtypes: Sequence[str | None] = ()
    ticks: Collection[int] = ()
    name: str = "tick"


def ribbon(count: int, bands: Sequence[Band]) -> str:
    """Return the drawing.

    :param count: nodes; the numbers of ticks are below it
    """
    bins = max(1, min(count, MOST_BINS))
    drawn, y = [], 0
    for band in bands:
        height = _BAND if band.dtypes else _TICKS
        paths = _dtypes(band.dtypes, bins, y) if band.dtypes else _ticks(band, count, bins, y)
        drawn.append(f"<g><title>{escaped(band.label)}</title>{''.join(paths)}</g>\n")
        y += height + _GAP
    label = escaped("; ".join(band.label for band in bands))
    return (
        f'<svg class="ribbon" viewBox="0 0 {bins} {y - _GAP}" height="{y - _GAP}" preserveAspectRatio="none" '
        f'shape-rendering="crispEdges" role="img" aria-label="{label}">\n{"".join(drawn)}</svg>\n'
    )


def _dtypes(dtypes: Sequence[str | None], bins: int, y: int) -> Iterator[str]:
    """Yield a path for each class; a column shows the shares of its nodes, stacked."""
    boxes: dict[str, list[str]] = {name: [] for name in _CLASSES}
    numbers = {dtype: _CLASSES.index(dtype_class(dtype)) for dtype in set(dtypes)}
    before: tuple[list[int], int] | None = None
    for column in range(bins + 1):
        counts = _shares(dtypes, numbers, column, bins) if column < bins else []
        if before is None:
            before = counts, column
        elif before[0] != counts:
            heights, begin = before
            top = y
            for name, height in zip(_CLASSES, heights, strict=True):
                if height:
                    boxes[name].append(f"M{begin} {top}h{column - begin}v{height}h{begin - column}z")
                top += height
            before = counts, column
    for name, parts in boxes.items():
        if parts:
            yield f'<path class="{name}" d="{"".join(parts)}"/>'


def _shares(dtypes: Sequence[str | None], numbers: dict[str | None, int], column: int, bins: int) -> list[int]:
    """Return the heights of the classes in a column; their sum is the height of the band."""
    begin, end = column * len(dtypes) // bins, (column + 1) * len(dtypes) // bins
    counts = [0] * len(_CLASSES)
    for dtype in dtypes[begin:end]:
        counts[numbers[dtype]] += 1
    heights, upto, drawn = [], 0, 0
    for count in counts:
        upto += count
        bottom = round(_BAND * upto / (end - begin))
        heights.append(bottom - drawn)
        drawn = bottom
    return heights


def _ticks(band: Band, count: int, bins: int, y: int) -> Iterator[str]:
    """Yield ticks as high as the share of ticked nodes in a column, but at least visible."""
    found = [0] * bins
    for number in band.ticks:
        found[((number + 1) * bins - 1) // count] += 1
    marks = ""
    for column, ticked in enumerate(found):
        if ticked:
            share = ticked / ((column + 1) * count // bins - column * count // bins)
            height = max(2, round(_TICKS * min(1, share)))
            marks += f"M{column} {y + _TICKS - height}h1v{height}h-1z"
    if marks:
        yield f'<path class="{escaped(band.name)}" d="{marks}"/>'
