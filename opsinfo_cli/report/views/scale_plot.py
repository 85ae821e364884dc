"""A plot of the loss scale over a run: characters for a terminal, SVG for a page."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...errors import Refused, UsageFault
from ...runs.trajectory import ScalePoint
from ..escape import visible

_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
_WIDTH, _HEIGHT = 800, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 20, 40, 50


class ScaleLine(NamedTuple):
    """One run: its name and its positive loss scales."""

    name: str
    points: Sequence[ScalePoint]


class _Frame(NamedTuple):
    """The drawn range: steps on the x axis, powers of two on the y axis."""

    first: int
    last: int
    low: int
    high: int

    @classmethod
    def around(cls, lines: list[ScaleLine]) -> _Frame:
        every = [point for line in lines for point in line.points]
        powers = [math.log2(point.scale) for point in every]
        low, high = math.floor(min(powers)), math.ceil(max(powers))
        return cls(min(each.at for each in every), max(each.at for each in every), low, max(high, low + 1))

    def x(self, at: int) -> float:
        return (at - self.first) / max(1, self.last - self.first)

    def y(self, scale: float) -> float:
        return (math.log2(scale) - self.low) / (self.high - self.low)


def drawable(line: ScaleLine) -> ScaleLine:
    return ScaleLine(line.name, [point for point in line.points if point.scale > 0])


def text_plot(line: ScaleLine, what: str, width: int, unicode: bool, height: int = 8) -> Iterator[str]:
    """Yield the rows of a plot.

    :param what: the unit of the x axis: steps or messages
    """
    line = drawable(line)
    if len(line.points) < 2:
        return
    frame = _Frame.around([line])
    label = max(len(f"2^{frame.high}"), len(f"2^{frame.low}"))
    columns = max(10, width - label - 3)
    cells = [[" "] * columns for _ in range(height)]
    mark, corner, side, under = ("█", "└", "│", "─") if unicode else ("#", "+", "|", "-")
    for before, after in zip(line.points, [*line.points[1:], line.points[-1]], strict=True):
        start, end = (round(frame.x(each.at) * (columns - 1)) for each in (before, after))
        rows = sorted(round(frame.y(each.scale) * (height - 1)) for each in (before, after))
        for column in range(start, end + 1):
            cells[rows[0] if before.scale < after.scale else rows[1]][column] = mark
        for row in range(rows[0], rows[1] + 1):
            cells[row][end] = mark
    for number in range(height - 1, -1, -1):
        power = {height - 1: f"2^{frame.high}", 0: f"2^{frame.low}"}.get(number, "")
        yield f"{power:>{label}} {side}{''.join(cells[number]).rstrip()}"
    yield f"{'':>{label}} {corner}{under * columns}"
    ends = f"{frame.first}", f"{what} {frame.last}"
    yield f"{'':>{label}}  {ends[0]}{ends[1]:>{max(1, columns - len(ends[0]))}}"


def svg_text(lines: list[ScaleLine], what: str) -> str:
    """Return an SVG plot. Names come from the command line, so they are escaped."""
    lines = [line for line in map(drawable, lines) if line.points]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        "<title>Loss scale</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    if lines:
        frame = _Frame.around(lines)
        parts += [*_axes(frame, what)]
        parts += [part for number, line in enumerate(lines) for part in _drawn(line, number, frame)]
    else:
        parts.append(f'<text x="{_LEFT}" y="{_TOP}">The logs print no loss scale.</text>')
    return "\n".join([*parts, "</svg>", ""])


def _axes(frame: _Frame, what: str) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    every = max(1, math.ceil((frame.high - frame.low) / 8))
    for power in range(frame.low, frame.high + 1, every):
        y = _y(frame, 2.0**power)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">2^{power}</text>'
    yield f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333333"/>'
    yield f'<text x="{_LEFT}" y="{bottom + 18}">{frame.first}</text>'
    yield f'<text x="{right}" y="{bottom + 18}" text-anchor="end">{html.escape(what)} {frame.last}</text>'


def _drawn(line: ScaleLine, number: int, frame: _Frame) -> Iterator[str]:
    color = _COLORS[number % len(_COLORS)]
    first, *rest = line.points
    path = f"M{_x(frame, first.at):.1f} {_y(frame, first.scale):.1f}"
    path += "".join(f"H{_x(frame, each.at):.1f}V{_y(frame, each.scale):.1f}" for each in rest)
    yield f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'
    if number < len(_COLORS):
        name = html.escape(visible(line.name)[:100])
        yield f'<text x="{_LEFT + 8}" y="{_TOP - 22 + 14 * number}" fill="{color}">{name}</text>'


def _x(frame: _Frame, at: int) -> float:
    return _LEFT + frame.x(at) * (_WIDTH - _LEFT - _RIGHT)


def _y(frame: _Frame, scale: float) -> float:
    return _HEIGHT - _BOTTOM - frame.y(scale) * (_HEIGHT - _TOP - _BOTTOM)


def require_svg(path: str) -> None:
    """Require that the plot may be written: it replaces an SVG, never another file.

    :raises UsageFault: if another kind of file is there
    :raises Refused: if the file cannot be read
    """
    if not os.path.lexists(path):
        return
    try:
        fits = _is_svg(path)
    except OSError as error:
        raise Refused(f"cannot write the plot: {error.strerror}", name="not-written", path=path) from None
    if not fits:
        raise UsageFault("the file exists and is not an SVG", name="not-an-svg", path=path)


def _is_svg(path: str) -> bool:
    if os.path.isfile(path):
        with open(path, "rb") as file:
            head = file.read(256)
        return not head or b"<svg" in head
    return not os.path.isdir(path)  # such as /dev/stdout
