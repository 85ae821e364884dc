"""The ribbon of a graph: all nodes in topological order, drawn as one SVG that needs no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....core.terminal.page import DTYPES, dtype_class, escaped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

MOST_BINS = 1200
"""Columns of the ribbon; more nodes than these share columns, because no screen has a pixel for each."""
_CLASSES = (*DTYPES, "whole", "nothing")
_BAND, _TICKS, _GAP = 30, 7, 3
"""Heights of a band of dtypes, of a row of ticks, and of the gap between them."""


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
