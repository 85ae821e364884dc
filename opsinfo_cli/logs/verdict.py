"""The verdict on a baseline: points of every run, agreement of the runs, comparison with high precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .points import Facts, Status, VerdictPoint, percent, run_points, share_of
from .student_t import MeanComparison, Spread, compare, spread
from .training_run import RunEvidence

NEEDED_RUNS = 4
"""The guide requires more than three runs."""

Word = Literal["sound", "not sound", "incomplete"]
_UNKNOWN: tuple[Status, ...] = ("cannot be told", "not measurable", "missing")
_WORST_FIRST: tuple[Status, ...] = ("fails", "cannot be told", "not measurable", "holds")
_MEASURED = ("losses-are-numbers", "overflow-share", "loss-scale", "runs-agree", "reference")
"""Points about what a run did; the others are about how it was started."""
_TOO_LARGE = 1e150


@dataclass(frozen=True)
class Verdict:
    """:param without_reference: whether no high-precision run was compared
    :param has_metric: whether the metric of any run was found
    """

    word: Word
    points: list[VerdictPoint]
    agreement: Spread | None
    comparison: MeanComparison | None
    without_reference: bool
    has_metric: bool

    @property
    def says(self) -> str:
        """The reason in one sentence."""
        hint = ""
        if self.word == "sound":
            text = f"all {len(self.points)} points hold"
        elif self.word == "not sound":
            text = f"{', '.join(self.failing)} {'fails' if len(self.failing) == 1 else 'fail'}"
        else:
            unknown = [point.name for point in self.points if point.name in self.missing and point.status != "missing"]
            verb = "is" if len(unknown) == 1 else "are"
            holding = [point.name for point in self.points if point.name in _MEASURED and point.status == "holds"]
            text = "only a metric was measured" if self.has_metric else "nothing that could fail is shown"
            text = f"what was measured holds: {', '.join(holding)}" if holding else text
            text += f"; {', '.join(unknown)} {verb} unknown" if unknown else ""
            if len(unknown) < len(self.missing):
                text += "; too few runs to compare"
                hint = ": add more, or --reference" if self.without_reference else ": add more"
        if self.without_reference and not hint:
            hint = "; not compared with high precision (--reference)"
        return text + hint

    @property
    def missing(self) -> list[str]:
        return [point.name for point in self.points if point.status in _UNKNOWN]

    @property
    def is_measured(self) -> bool:
        """Whether anything that a run did was seen."""
        return self.has_metric or any(
            point.name in _MEASURED and point.status in ("holds", "fails") for point in self.points
        )

    @property
    def failing(self) -> list[str]:
        return [point.name for point in self.points if point.status == "fails"]


def judge(runs: list[RunEvidence], reference: list[RunEvidence], facts: Facts, metric: bool) -> Verdict:
    """:param metric: whether a metric was asked for"""
    points = _over_all(runs, facts)
    values = _values(runs)
    point, agreement = _agreement(runs, values, facts, metric)
    points.append(point)
    comparison = None
    if reference:
        point, comparison = _reference(values, reference, facts, metric)
        points.append(point)
    statuses = {point.status for point in points}
    word: Word = "not sound" if "fails" in statuses else "incomplete" if statuses & set(_UNKNOWN) else "sound"
    return Verdict(word, points, agreement, comparison, not reference, bool(values))


def _over_all(runs: list[RunEvidence], facts: Facts) -> list[VerdictPoint]:
    """Return the worst of each point over the runs; names the run if there are several."""
    worst = []
    for points in zip(*(run_points(run.evidence, facts) for run in runs), strict=True):
        status = min((point.status for point in points), key=_WORST_FIRST.index)
        same = [number for number, point in enumerate(points) if point.status == status]
        if status == "holds" and points[0].name == "overflow-share":  # show the one nearest to the limit
            same.sort(key=lambda number: -(share_of(runs[number].evidence).high or 0.0))
        first = points[same[0]]
        name = f"{runs[same[0]].name}: " if len(runs) > 1 else ""
        more = f" (and {len(same) - 1} more of {len(runs)} runs)" if len(same) > 1 and status != "holds" else ""
        worst.append(VerdictPoint(first.name, status, f"{name}{first.says}{more}", first.hint))
    return worst


def _values(runs: Sequence[RunEvidence]) -> list[float]:
    return [run.metric for run in runs if run.metric is not None]


def _unusable(values: list[float]) -> bool:
    return any(not math.isfinite(value) or abs(value) > _TOO_LARGE for value in values)


def _agreement(
    runs: list[RunEvidence], values: list[float], facts: Facts, metric: bool
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
    agreement = spread(values) if len(values) > 1 else None
    apart = 0.0
    text = f"one run, metric {values[0]:g}"
    if agreement:
        apart = math.inf if agreement.relative is None else agreement.relative
        text = f"{agreement.number} runs, mean {agreement.mean:.6g}, standard deviation {agreement.deviation:.3g}, "
        text += (
            f"{agreement.lowest:g} to {agreement.highest:g}: {percent(apart)} apart, {percent(facts.spread)} allowed"
        )
        if agreement.outlier is not None:
            text += f"; Grubbs' test (5 %) marks {agreement.outlier:g} as an outlier"
    if agreement and apart > facts.spread:
        return VerdictPoint(name, "fails", text), agreement
    if agreement is None or len(values) < NEEDED_RUNS:
        return VerdictPoint(name, "missing", f"{text}; the guide requires more than three runs"), agreement
    return VerdictPoint(name, "holds", text), agreement


def _reference(
    values: list[float], reference: list[RunEvidence], facts: Facts, metric: bool
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
        text = f"{len(values)} mixed and {len(others)} high-precision runs; a test needs two of each"
        return VerdictPoint(name, "missing", text), None
    means = compare(values, others)
    allowed = facts.spread * abs(sum(others) / len(others))
    text = (
        f"mixed minus high precision {means.difference:+.4g}, 90 % interval {means.low:+.4g} to {means.high:+.4g}, "
        f"{allowed:.4g} allowed"
    )
    text += f"; Welch's t = {means.t:.3g}, p = {means.p:.3g}" if means.t is not None else "; neither side varies"
    if -allowed <= means.low and means.high <= allowed:
        return VerdictPoint(name, "holds", text), means
    if abs(means.difference) > allowed and (means.p is None or means.p < 0.05):
        return VerdictPoint(name, "fails", text), means
    return VerdictPoint(name, "cannot be told", text, "more runs make the interval narrower"), means
