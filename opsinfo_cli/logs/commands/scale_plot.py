"""The loss scale of runs as a plot, in powers of two."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core.terminal.plot import Curve, Plot
from ..training_run import RunEvidence


def scale_plot(runs: Sequence[RunEvidence]) -> Plot:
    """Return the plot; scales of zero or below, which no power of two is, are left out."""
    curves = [
        Curve(run.name, [(at, math.log2(scale)) for at, scale in run.evidence.scale.drawn if scale > 0]) for run in runs
    ]
    every = [point for curve in curves for point in curve.points] or [(0, 0)]
    ats, powers = [int(at) for at, _ in every], [power for _, power in every]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    return Plot(
        "Loss scale",
        "2^",
        "step" if runs and runs[0].evidence.at_is_step else "message",
        curves,
        low,
        max(high, low + 1),
        min(ats),
        max(ats),
        holds=True,
        empty="The logs print no loss scale.",
    )
