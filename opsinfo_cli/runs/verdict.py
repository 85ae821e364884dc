"""The verdict on a baseline: points of every run, agreement of the runs, comparison with high precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .points import Asked, VerdictPoint, percent, run_points, share_of
from .readers.reader import Evidence
from .student_t import MeanComparison, Spread, compare, spread

NEEDED_RUNS = 4
"""The guide requires more than three runs."""

_UNKNOWN = ("cannot be told", "not measurable", "missing")
_TOO_LARGE = 1e150


@dataclass(frozen=True)
class RunFound:
    """A run with the evidence of its logs.

    :param metric: None if no metric was asked for, or none was found
    """

    name: str
    paths: tuple[str, ...]
    evidence: Evidence
    metric: float | None = None


@dataclass(frozen=True)
class Verdict:
    """``sound``, ``not sound`` or ``incomplete``, with its points."""

    word: str
    points: list[VerdictPoint]
    agreement: Spread | None
    comparison: MeanComparison | None
    without_reference: bool

    @property
    def missing(self) -> list[str]:
        return [point.name for point in self.points if point.status in _UNKNOWN]

    @property
    def failing(self) -> list[str]:
        return [point.name for point in self.points if point.status == "fails"]


def judge(runs: list[RunFound], reference: list[RunFound], asked: Asked, metric: bool) -> Verdict:
    """:param metric: whether a metric was asked for"""
    points = _over_all(runs, asked)
    values, comparison, agreement = _values(runs), None, None
    agree, agreement = _agreement(runs, values, asked, metric)
    points.append(agree)
    if reference:
        against, comparison = _reference(values, reference, asked, metric)
        points.append(against)
    statuses = {point.status for point in points}
    word = "not sound" if "fails" in statuses else "incomplete" if statuses & set(_UNKNOWN) else "sound"
    return Verdict(word, points, agreement, comparison, not reference)


def _over_all(runs: list[RunFound], asked: Asked) -> list[VerdictPoint]:
    """Return the worst of each point over the runs; names the run if there are several."""
    order = ("fails", "cannot be told", "not measurable", "holds")
    worst = []
    for points in zip(*(run_points(run.evidence, asked) for run in runs), strict=True):
        status = min((point.status for point in points), key=order.index)
        same = [number for number, point in enumerate(points) if point.status == status]
        if status == "holds" and points[0].name == "overflow-share":  # show the one nearest to the limit
            same.sort(key=lambda number: -(share_of(runs[number].evidence).high or 0.0))
        first = points[same[0]]
        of = f"{runs[same[0]].name}: " if len(runs) > 1 else ""
        more = f" (and {len(same) - 1} more of {len(runs)} runs)" if len(same) > 1 and status != "holds" else ""
        worst.append(VerdictPoint(first.name, status, f"{of}{first.says}{more}", first.hint))
    return worst


def _values(runs: Sequence[RunFound]) -> list[float]:
    return [run.metric for run in runs if run.metric is not None]


def _unusable(values: list[float]) -> bool:
    return any(not math.isfinite(value) or abs(value) > _TOO_LARGE for value in values)


def _agreement(
    runs: list[RunFound], values: list[float], asked: Asked, metric: bool
) -> tuple[VerdictPoint, Spread | None]:
    name = "runs-agree"
    if not metric:
        hint = "add --metric REGEX, for example --metric 'Acc@1 ([0-9.]+)'"
        return VerdictPoint(name, "missing", "no metric is known", hint), None
    lacking = [run.name for run in runs if run.metric is None]
    if lacking:
        return VerdictPoint(name, "cannot be told", f"--metric finds nothing in {lacking[0]}"), None
    if _unusable(values):
        return VerdictPoint(name, "fails", "the metric of a run is not a number"), None
    told = spread(values) if len(values) > 1 else None
    said = _spread_said(told, asked) if told else f"one run, metric {values[0]:g}"
    if told and told.relative > asked.spread:
        return VerdictPoint(name, "fails", said), told
    if told is None or len(values) < NEEDED_RUNS:
        return VerdictPoint(name, "missing", f"{said}; the guide requires more than three runs"), told
    return VerdictPoint(name, "holds", said), told


def _spread_said(told: Spread, asked: Asked) -> str:
    outlier = f"; Grubbs' test (5 %) marks {told.outlier:g} as an outlier" if told.outlier is not None else ""
    return (
        f"{told.number} runs, mean {told.mean:.6g}, standard deviation {told.deviation:.3g}, {told.lowest:g} to "
        f"{told.highest:g}: {percent(told.relative)} apart, {percent(asked.spread)} allowed{outlier}"
    )


def _reference(
    values: list[float], reference: list[RunFound], asked: Asked, metric: bool
) -> tuple[VerdictPoint, MeanComparison | None]:
    name = "reference"
    others = _values(reference)
    if not metric:
        return VerdictPoint(name, "missing", "no metric is known", "add --metric REGEX"), None
    if len(others) < len(reference):
        return VerdictPoint(name, "cannot be told", "--metric finds nothing in a reference run"), None
    if _unusable(values + others):
        return VerdictPoint(name, "fails", "the metric of a run is not a number"), None
    if len(values) < 2 or len(others) < 2:
        said = f"{len(values)} mixed and {len(others)} high-precision runs; a test needs two of each"
        return VerdictPoint(name, "missing", said), None
    told = compare(values, others)
    allowed = asked.spread * abs(sum(others) / len(others))
    said = (
        f"mixed minus high precision {told.difference:+.4g}, 90 % interval {told.low:+.4g} to {told.high:+.4g}, "
        f"{allowed:.4g} allowed"
    )
    said += f"; Welch's t = {told.t:.3g}, p = {told.p:.3g}" if told.t is not None else "; neither side varies"
    if -allowed <= told.low and told.high <= allowed:
        return VerdictPoint(name, "holds", said), told
    if abs(told.difference) > allowed and (told.p is None or told.p < 0.05):
        return VerdictPoint(name, "fails", said), told
    return VerdictPoint(name, "cannot be told", said, "more runs make the interval narrower"), told
