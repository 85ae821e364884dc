"""Plots of values over steps, nodes or a cost: characters for a terminal, SVG for a page or a file.

The colours of the SVG are CSS variables in `page_parts/plot.css`, so that it follows a dark page or desktop.
"""

from __future__ import annotations

import html
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ...errors import Refused, UsageFault
from ..text.escape import shortened, visible
from .answer import Picture
from .page import part

_WIDTH, _HEIGHT = 800, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 20, 40, 50
_NAME = 100

_CURVES = 8
"""Colours of curves."""


MarkKind: TypeAlias = Literal["usual", "large", "faint", "jump", "bad"]


class Curve(NamedTuple):
    """``points``: x, and y as a power of the plot's base, or as it is without one."""

    name: str
    points: Sequence[tuple[float, float]]


class PlotMark(NamedTuple):
    """A point with a text that is shown while the pointer is on it."""

    x: float
    y: float
    text: str
    kind: MarkKind = "usual"


@dataclass(frozen=True)
class Plot:
    """:param base: the y axis is in its powers, as text: ``2^``, ``1e``; empty: the axis is linear
    :param unit: of the x axis: step, message, node
    :param low, high: the powers or values that are drawn; curves are within them
    :param first, last: the ends of the x axis
    :param holds: whether a value holds up to the next point; else points are joined
    :param empty: the text if there is nothing to draw
    """

    title: str
    base: str
    unit: str
    curves: Sequence[Curve]
    low: float
    high: float
    first: int
    last: int
    holds: bool = False
    marks: Sequence[PlotMark] = ()
    caption: str = ""
    empty: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(curve.points for curve in self.curves)

    @property
    def is_line(self) -> bool:
        """Whether the first curve, which a terminal shows, has two points."""
        return bool(self.curves) and len(self.curves[0].points) > 1

    def x(self, value: float) -> float:
        """From 0 at the left to 1."""
        return (value - self.first) / max(1, self.last - self.first)

    def y(self, value: float) -> float:
        """From 0 at the bottom to 1, of a power or a value."""
        return (value - self.low) / (self.high - self.low or 1)

    @property
    def ticks(self) -> list[float]:
        """The powers or values at which the y axis is labelled: at most nine."""
        if self.base:
            step = max(1, math.ceil((self.high - self.low) / 8))
            return [float(power) for power in range(math.floor(self.low), math.floor(self.high) + 1, step)]
        least = (self.high - self.low) / 8
        ten = 10.0 ** math.floor(math.log10(least))
        wide = next(ten * times for times in (1, 2, 5, 10) if ten * times >= least)
        return [number * wide for number in range(math.ceil(self.low / wide), math.floor(self.high / wide) + 1)]


def picture(plot: Plot, title: str, path: str = "") -> Picture:
    """Return a plot for a terminal, below a blank line and a title; nothing if it has fewer than two points.

    :param path: the end of the title, which is shortened
    """

    def rows(width: int, unicode: bool) -> Iterator[str]:
        if drawn := list(text_rows(plot, width, unicode)):
            yield from ("", title + shortened(path, width - len(title)), *drawn)

    return Picture(rows)


def text_rows(plot: Plot, width: int, unicode: bool, height: int = 8) -> Iterator[str]:
    """Yield the rows of a plot of its first curve; nothing if that has fewer than two points."""
    if not plot.is_line:
        return
    points = plot.curves[0].points
    high, low = f"{plot.base}{plot.high:.6g}", f"{plot.base}{plot.low:.6g}"
    label = max(len(high), len(low))
    columns = max(10, width - label - 3)
    if not plot.holds:
        columns = min(columns, len(points))
    mark, corner, side, under = ("█", "└", "│", "─") if unicode else ("#", "+", "|", "-")
    cells = (_line_cells if plot.holds else _bar_cells)(plot, points, columns, height)
    for row in range(height - 1, -1, -1):
        power = {height - 1: high, 0: low}.get(row, "")
        line = "".join(mark if (column, row) in cells else " " for column in range(columns)).rstrip()
        yield f"{power:>{label}} {side}{line}"
    yield f"{'':>{label}} {corner}{under * columns}"
    first, last = str(plot.first), f"{plot.unit} {plot.last}"
    yield f"{'':>{label}}  {first}{last:>{max(len(last) + 1, columns - len(first))}}"


def _line_cells(plot: Plot, points: Sequence[tuple[float, float]], columns: int, height: int) -> set[tuple[int, int]]:
    """Return the (column, row) of a line that holds each value up to the next point."""
    cells = set()
    for (x, y), (next_x, next_y) in zip(points, [*points[1:], points[-1]], strict=True):
        start, end = (round(plot.x(value) * (columns - 1)) for value in (x, next_x))
        row, next_row = (round(plot.y(power) * (height - 1)) for power in (y, next_y))
        cells |= {(column, row) for column in range(start, end + 1)}
        cells |= {(end, each) for each in range(min(row, next_row), max(row, next_row) + 1)}
    return cells


def _bar_cells(plot: Plot, points: Sequence[tuple[float, float]], columns: int, height: int) -> set[tuple[int, int]]:
    """Return the (column, row) of bars; each column shows the highest of its points."""
    cells = set()
    for number, (_, y) in enumerate(points):
        column = number * columns // len(points)
        cells |= {(column, row) for row in range(math.ceil(plot.y(y) * height))}
    return cells


def svg_text(plot: Plot, *, in_page: bool = False) -> str:
    """Return the plot as a file. Names are escaped.

    :param in_page: whether it is a part of a page, which has the style sheet `plot.css`
    """
    style = [] if in_page else [f"<style>\n{part('plot.css')}</style>"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot-svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{html.escape(plot.title)}</title>",
        *style,
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}"/>',
    ]
    if plot.is_empty:
        parts.append(_text(_LEFT, _TOP, plot.empty))
    else:
        parts += [*_axes(plot), *_curves(plot)]
    for mark in plot.marks if not plot.is_empty else ():
        size, color = _MARKS[mark.kind]
        title = html.escape(visible(mark.text)[: 2 * _NAME])
        place = f'cx="{_x(plot, mark.x):.1f}" cy="{_y(plot, mark.y):.1f}"'
        parts.append(f'<circle class="mark {color}" {place} r="{size}"><title>{title}</title></circle>')
    return "\n".join([*parts, "</svg>", ""])


_MARKS = {"usual": (1.5, "c0"), "large": (4, "c0"), "faint": (4, "c7"), "jump": (3, "jump"), "bad": (4, "bad")}
"""The radius and the class of each kind of mark."""


def _axes(plot: Plot) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for tick in plot.ticks:
        y = _y(plot, tick)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{plot.base}{tick:.6g}", anchor="end")
    yield f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
    yield _text(_LEFT, bottom + 18, str(plot.first))
    yield _text(right, bottom + 18, f"{plot.unit} {plot.last}", anchor="end")
    if plot.caption:
        yield _text(_LEFT, _TOP - 22, plot.caption)


def _curves(plot: Plot) -> Iterator[str]:
    for number, curve in enumerate(curve for curve in plot.curves if curve.points):
        color = f"c{number % _CURVES}"
        (x, y), *rest = curve.points
        path = f"M{_x(plot, x):.1f} {_y(plot, y):.1f}"
        form = "H{:.1f}V{:.1f}" if plot.holds else "L{:.1f} {:.1f}"
        path += "".join(form.format(_x(plot, x), _y(plot, y)) for x, y in rest)
        yield f'<path class="curve {color}" d="{path}"/>'
        if number < _CURVES and curve.name:
            yield _text(_LEFT + 8, _TOP - 22 + 14 * number, visible(curve.name)[:_NAME], kind=f"name {color}")


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "label") -> str:
    return f'<text class="{kind}" x="{x}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _x(plot: Plot, value: float) -> float:
    return _LEFT + plot.x(value) * (_WIDTH - _LEFT - _RIGHT)


def _y(plot: Plot, power: float) -> float:
    return _HEIGHT - _BOTTOM - plot.y(power) * (_HEIGHT - _TOP - _BOTTOM)


def require_svg(path: str) -> None:
    """Require that a plot may be written: it replaces an SVG, never another file.

    :raises UsageFault: if another kind of file is there
    :raises Refused: if the file cannot be read
    """
    if not os.path.lexists(path):
        return
    if os.path.isfile(path):
        try:
            with open(path, "rb") as file:
                head = file.read(256)
        except OSError as error:
            raise Refused(f"cannot write the plot: {error.strerror}", name="not-written", path=path) from None
        fits = not head or b"<svg" in head
    else:
        fits = not os.path.isdir(path)  # such as /dev/stdout
    if not fits:
        raise UsageFault("the file exists and is not an SVG", name="not-an-svg", path=path, hint="choose another file")
