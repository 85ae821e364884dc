"""The effect of a policy on a model, as a page: the summary, the ribbon, and node details drawn by a script."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...graph.dtypes import leading
from ...graph.topology import order_of
from ..page import DTYPES, Bar, Markup, Number, bars, dtype_class, escaped, page_text, pill, section, table
from .graph_columns import PageColumns
from .graph_document import casts_text, coverage_text, dtypes, memory_text
from .graph_ribbon import Band, ribbon

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...graph.answer import AnswerComparison, GraphAnswer, TypeSummary
    from ...graph.constants import ConstantCheck
    from ...graph.read_back import ReadBack

_MOST_ROWS = 100
"""Rows of a table that needs no script."""


class GraphPage(NamedTuple):
    """The content of a page.

    :param facts: how the model was judged: (name, value)
    :param notes: the sources of the answer, and its limits
    :param compared_with: the option that requested the comparison, as text: ``mixlist a.json``
    :param chosen: index of the node that is shown first
    """

    outcome: GraphAnswer
    types: Sequence[TypeSummary]
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str]
    constants: ConstantCheck | None = None
    comparison: AnswerComparison | None = None
    back: ReadBack | None = None
    compared_with: str = ""
    chosen: int | None = None


def graph_page(page: GraphPage) -> str:
    """Return the page as one file.

    :raises Damaged: if the graph has a cycle
    """
    order = order_of(page.outcome.graph)
    columns = PageColumns(page.outcome, range(len(order)) if order == list(range(len(order))) else order)
    body = _drawn(page, columns) + _script_part() + _tables(page)
    return page_text(
        page.outcome.graph.model.path or "Model",
        [*page.facts, *([("Compared with", page.compared_with)] if page.compared_with else [])],
        body,
        lead=_lead(page),
        styles=["graph.css"],
        scripts=["graph_data.js", "graph_near.js", "graph_table.js", "graph_main.js"],
        data=_data(page, columns),
        foot=f"{len(page.outcome)} nodes",
    )


def _data(page: GraphPage, columns: PageColumns) -> dict[str, Any]:
    document: dict[str, Any] = {"chosen": page.chosen}
    if page.comparison:
        document["comparison"] = {"label": page.compared_with, **columns.comparison(page.comparison)}
    if page.back:
        document["back"] = columns.read_back(page.back)
    return {**columns.document(), **document}  # last, because it also has the states of all others


def _lead(page: GraphPage) -> str:
    low, high = sum(each.low for each in page.types), sum(each.high for each in page.types)
    nodes = [("low", low), ("high", high), ("neither", len(page.outcome) - low - high)]
    casts = page.outcome.cast_counts
    every = [Bar("Nodes", nodes), Bar("Casts", [("to run", casts.run), ("folded on constants", casts.folded)])]
    if page.comparison:
        found = page.comparison
        same = len(page.outcome) - len(found.changed)
        every.append(Bar("Comparison: nodes", [("other dtypes", len(found.changed)), ("the same", same)]))
        cast_parts = [("Casts fewer", len(found.casts_gone)), ("Casts new", len(found.casts_added))]
        every.append(Bar("Comparison: edges", cast_parts))
    if page.back:
        differs = len(page.back.differs)
        every.append(Bar("Read back: nodes", [("agree", page.back.matched - differs), ("differ", differs)]))
    judged = page.outcome.mode_name is not None
    texts = [
        casts_text(page.outcome),
        memory_text(page.outcome),
        coverage_text(page.outcome.coverage) if judged else "",
    ]
    notes = "".join(f"<li>{escaped(each)}</li>\n" for each in (*filter(None, texts), *page.notes))
    return f'{bars(every)}<ul class="notes">\n{notes}</ul>\n'


def _drawn(page: GraphPage, columns: PageColumns) -> str:
    """Return the ribbon with its legend."""
    if not len(page.outcome):
        return ""
    place = {index: at for at, index in enumerate(columns.order)}
    words = columns.dtypes()
    bands = [Band("dtype of every node", words)]
    if page.comparison:
        changed = {b.index: b for _, b in page.comparison.changed}
        other = [
            leading(changed[index].inputs, changed[index].outputs) if index in changed else word
            for index, word in zip(columns.order, words, strict=True)
        ]
        bands.append(Band("nodes with other dtypes", ticks=[place[index] for index in changed], name="mark"))
        bands.append(Band(f"B: {page.compared_with}", other))
    if page.back:
        marked = [page.outcome.graph.find(each.predicted.name) for each in page.back.differs]
        ticks = [place[node.index] for node in marked if node]
        bands.append(Band("nodes that differ from the compiled model", ticks=ticks, name="mark"))
    ticks = sorted({place[each.consumer] for each in page.outcome.casts if not each.constant})
    bands.append(Band("nodes with a Cast that runs at an input", ticks=ticks, name="tick"))
    drawing = f'<div class="ribbon">\n{ribbon(len(words), bands)}</div>\n{_legend(words, bands)}'
    return section("All nodes in topological order", drawing, "ribbon")


def _legend(words: Sequence[str | None], bands: Sequence[Band]) -> str:
    counts = Counter(words)
    ranked = sorted(counts, key=lambda each: (each not in DTYPES, -counts[each], each or ""))
    items = "".join(
        f'<li><span class="list {dtype_class(each)}">{escaped(each or "no dtype")}</span> <b>{counts[each]}</b></li>'
        for each in ranked
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


def _script_part() -> str:
    """Return the elements that the script fills; without scripts they stay hidden."""
    return (
        '<section id="node" tabindex="-1" aria-live="polite" hidden></section>\n'
        '<section id="nodes" hidden>\n<h2>Nodes</h2>\n<form class="tools">\n'
        '<label class="search">Search <input type="search" name="search" autocomplete="off" spellcheck="false" '
        'placeholder="name, op type, dtype, list"></label>\n<div class="choices"></div>\n<p role="status"></p>\n'
        '</form>\n<div class="sheet"><table>\n<caption>Nodes</caption>\n<thead></thead>\n<tbody></tbody>\n</table>'
        "</div>\n"
        '<p class="more"><button type="button">Show more</button></p>\n</section>\n'
        "<noscript><p>Nodes can be searched and drawn if scripts may run.</p></noscript>\n"
    )


def _tables(page: GraphPage) -> str:
    rows = [
        [
            each.op_type,
            *map(_number, (each.nodes, each.low, each.high, each.nodes - each.low - each.high)),
            pill(each.policy) if each.policy else Markup("-"),
        ]
        for each in page.types
    ]
    titles = ["op type", "nodes", "low", "high", "neither", "list"]
    found = section("Op types", table("Op types", titles, rows), "types")
    if page.comparison:
        pairs = Counter((a.type, dtypes(a.outputs), dtypes(b.outputs)) for a, b in page.comparison.changed)
        found += _counted("Nodes with other dtypes", ("op type", "A", "B"), pairs)
    if page.back:
        triples = Counter(
            (each.compiled.type, dtypes(each.predicted.outputs), dtypes(each.compiled.outputs))
            for each in page.back.differs
        )
        found += _counted("Nodes that differ from the compiled model", ("op type", "predicted", "compiled"), triples)
        types = [[each.type, _number(each.matched), _number(each.agree)] for each in page.back.types]
        found += section("Read back", table("Read back", ["op type", "matched", "agree"], types))
        reasons = Counter((each.side, each.why) for each in page.back.unmatched)
        found += _counted("Not compared", ("in", "why"), reasons)
    if page.constants and page.constants.faults:
        faults = [[each.name, each.used_by, each.why, f"{each.value:g}"] for each in page.constants.faults]
        head = ["constant", "used by", "why", "first value"]
        found += section("Constants out of range", _some(table("Constants", head, faults[:_MOST_ROWS]), len(faults)))
    return found


def _counted(heading: str, titles: Sequence[str], found: Counter[Any]) -> str:
    """Return a table of values with their counts, the most frequent first; empty if there are none."""
    if not found:
        return ""
    rows = [[*each, _number(count)] for each, count in found.most_common(_MOST_ROWS)]
    return section(heading, _some(table(heading, [*titles, "nodes"], rows), len(found)))


def _some(text: str, count: int) -> str:
    left = count - _MOST_ROWS
    return text + (f"<p>{left} more rows are not shown; the JSON has them.</p>\n" if left > 0 else "")


def _number(value: int) -> Number:
    return Number(str(value))
