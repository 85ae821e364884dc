"""The lists that a search ran as a plot: loss upwards, cost to the right.

The line is the least loss that a list of at most this cost has. Dominated lists are gray; a loss that is not finite is
at the top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....core.terminal.plot import Curve, MarkKind, Plot, PlotMark
from ...bisect.curve import CurvePoint

_SPARE = 0.05
"""The share of the range that is free above and below the points."""


def curve_plot(points: Sequence[CurvePoint]) -> Plot:
    """Return the plot. The cost is time, else the bytes moved to high, else nodes.

    :param points: the cheapest first, at least one
    """
    if points[0].cost.microseconds is not None:
        unit, costs = "microseconds", [point.cost.microseconds or 0.0 for point in points]
    elif any(point.cost.bytes for point in points):
        unit, costs = "bytes in high precision", [float(point.cost.bytes) for point in points]
    else:
        unit, costs = "nodes in high precision", [float(point.cost.nodes) for point in points]
    finite = [point.number for point in points if math.isfinite(point.number)] or [0.0]
    spare = (max(finite) - min(finite)) * _SPARE or abs(finite[0]) * _SPARE or 1.0
    low, high = min(finite) - spare, max(finite) + spare
    line: list[tuple[float, float]] = []
    marks: list[PlotMark] = []
    for cost, point in sorted(zip(costs, points, strict=True), key=lambda pair: pair[0]):
        y = point.number if math.isfinite(point.number) else high
        if math.isfinite(point.number) and (not line or y < line[-1][1]):
            line.append((cost, y))
        kind: MarkKind = "bad" if not math.isfinite(point.number) else "faint" if point.dominated else "large"
        names = ", ".join(point.names) or "no op type"
        marks.append(PlotMark(cost, y, f"loss {point.number:.4g}, {unit} {cost:g}, trial {point.trial}: {names}", kind))
    if line:
        line.append((max(costs), line[-1][1]))
    return Plot(
        "Loss against cost",
        "",
        unit,
        [Curve("", line)],
        low,
        high,
        math.floor(min(costs)),
        math.ceil(max(costs)),
        holds=True,
        marks=marks,
        caption="loss of the lists that were run; gray: another list costs and loses no more",
        empty="No list has a finite loss.",
    )
