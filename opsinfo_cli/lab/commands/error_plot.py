"""The error along a graph as a plot: nodes in the model's order, the error in powers of ten.

A node without error is at the bottom, one with Inf or NaN at the top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core.terminal.plot import Curve, MarkKind, Plot, PlotMark
from ..simulate.trace import TracedNode

_LOWEST = -8
"""The power of ten below which an error is drawn as zero."""


def error_plot(nodes: Sequence[TracedNode]) -> Plot:
    powers = [math.log10(node.error) for node in nodes if 0 < node.error < math.inf]
    low = max(_LOWEST, math.floor(min(powers, default=_LOWEST)))
    high = max(math.ceil(max(powers, default=0)), low + 1)
    wrong = next((node for node in nodes if node.inf or node.nan), None)
    points: list[tuple[float, float]] = []
    marks: list[PlotMark] = []
    for number, node in enumerate(nodes, 1):
        y = min(high, max(low, math.log10(node.error))) if node.error > 0 else low
        points.append((number, y))
        kind: MarkKind = "bad" if node is wrong else "jump" if node.jumps else "usual"
        marks.append(PlotMark(number, y, f"{node.node} ({node.type}): {node.error:.3g}", kind))
    return Plot(
        "Error along the graph",
        "1e",
        "node",
        [Curve("", points)],
        low,
        high,
        1,
        len(nodes),
        marks=marks,
        caption="max|a-b| / max|b| of each node's outputs",
        empty="No floating-point value in the main graph.",
    )
