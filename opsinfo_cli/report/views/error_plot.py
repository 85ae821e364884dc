"""The error along a graph, drawn: rows of characters for a terminal, SVG for a page.

Nodes are in the model's order on the x axis; the y axis is the error, in powers of ten. A node without error is at
the bottom, one with Inf or NaN at the top.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...simulate.trace import TracedNode
from ..escape import visible

_WIDTH, _HEIGHT = 800, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 30, 40
_LOWEST = -8
"""The power of ten below which an error is drawn as zero."""


class ErrorFrame(NamedTuple):
    """Return the powers of ten that are drawn."""

    low: int
    high: int

    @classmethod
    def around(cls, nodes: Sequence[TracedNode]) -> ErrorFrame:
        powers = [math.log10(each.error) for each in nodes if 0 < each.error < math.inf]
        if not powers:
            return cls(_LOWEST, 0)
        low = max(_LOWEST, math.floor(min(powers)))
        return cls(low, max(math.ceil(max(powers)), low + 1))

    def height(self, error: float) -> float:
        """Return a height from 0 at the bottom to 1 at the top."""
        if error <= 0:
            return 0.0
        if math.isinf(error):
            return 1.0
        return min(1.0, max(0.0, (math.log10(error) - self.low) / (self.high - self.low)))


def text_plot(nodes: Sequence[TracedNode], width: int, unicode: bool, height: int = 8) -> Iterator[str]:
    """Yield the rows of a plot; each column shows the worst of its nodes."""
    if len(nodes) < 2:
        return
    frame = ErrorFrame.around(nodes)
    label = max(len(f"1e{frame.high}"), len(f"1e{frame.low}"))
    columns = min(max(10, width - label - 3), len(nodes))
    mark, corner, side, under = ("█", "└", "│", "─") if unicode else ("#", "+", "|", "-")
    heights = [0] * columns
    for at, node in enumerate(nodes):
        column = at * columns // len(nodes)
        heights[column] = max(heights[column], math.ceil(frame.height(node.error) * height))
    for level in range(height, 0, -1):
        power = {height: f"1e{frame.high}", 1: f"1e{frame.low}"}.get(level, "")
        yield f"{power:>{label}} {side}{''.join(mark if each >= level else ' ' for each in heights).rstrip()}"
    yield f"{'':>{label}} {corner}{under * columns}"
    last = f"node {len(nodes)}"
    yield f"{'':>{label}}  1{last:>{max(1, columns - 1)}}"


def svg_text(nodes: Sequence[TracedNode]) -> str:
    """Return a plot as a file or for a page. Names come from the model, so they are escaped."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        "<title>Error along the graph</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    if nodes:
        frame = ErrorFrame.around(nodes)
        parts += [*_axes(frame, len(nodes)), *_line(frame, nodes), *_marks(frame, nodes)]
    else:
        parts.append(f'<text x="{_LEFT}" y="{_TOP}">No floating-point value in the main graph.</text>')
    return "\n".join([*parts, "</svg>", ""])


def _axes(frame: ErrorFrame, count: int) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for power in range(frame.low, frame.high + 1):
        y = _y(frame, 10.0**power)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#333333">1e{power}</text>'
    yield f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333333"/>'
    yield f'<text x="{_LEFT}" y="{bottom + 18}" fill="#333333">1</text>'
    yield f'<text x="{right}" y="{bottom + 18}" text-anchor="end" fill="#333333">node {count}</text>'
    yield f'<text x="{_LEFT}" y="{_TOP - 12}" fill="#333333">max|a-b| / max|b| of each node\'s outputs</text>'


def _line(frame: ErrorFrame, nodes: Sequence[TracedNode]) -> Iterator[str]:
    points = " ".join(f"{_x(at, len(nodes)):.1f},{_y(frame, each.error):.1f}" for at, each in enumerate(nodes))
    yield f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="1.2"/>'


def _marks(frame: ErrorFrame, nodes: Sequence[TracedNode]) -> Iterator[str]:
    """Yield every node with its name on hover: red if Inf or NaN begins there, orange if the error jumps."""
    wrong = next((at for at, each in enumerate(nodes) if each.inf or each.nan), None)
    for at, each in enumerate(nodes):
        color, size = ("#d62728", 4) if at == wrong else ("#ff7f0e", 3) if each.jumps else ("#1f77b4", 1.5)
        name = html.escape(f"{visible(each.node)[:100]} ({visible(each.type)[:60]}): {each.error:.3g}")
        yield (
            f'<circle cx="{_x(at, len(nodes)):.1f}" cy="{_y(frame, each.error):.1f}" r="{size}" fill="{color}">'
            f"<title>{name}</title></circle>"
        )


def _x(at: int, count: int) -> float:
    return _LEFT + at / max(1, count - 1) * (_WIDTH - _LEFT - _RIGHT)


def _y(frame: ErrorFrame, error: float) -> float:
    return _HEIGHT - _BOTTOM - frame.height(error) * (_HEIGHT - _TOP - _BOTTOM)
