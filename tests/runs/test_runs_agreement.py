"""The verdict on several runs: the worst of each point, their agreement, and their means against high precision."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from opsinfo_cli.runs import student_t
from opsinfo_cli.runs.count import Count
from opsinfo_cli.runs.evidence import Evidence
from opsinfo_cli.runs.points import Facts
from opsinfo_cli.runs.student_t import compare, spread, t_quantile, t_tail
from opsinfo_cli.runs.training_run import RunEvidence, TrainingRun
from opsinfo_cli.runs.verdict import Verdict, judge


def run(name: str, value: float | None = None, low: int = 0, level: str | None = "O2") -> RunEvidence:
    """A run of 1000 steps, all of them measured."""
    found = Evidence("apex", level=level, scaling="dynamic")
    found.count = Count(low, low, 1000, 0, "flags", proof="flags")
    found.scale.add(1, 8.0)
    return RunEvidence(TrainingRun(name, (name,)), found, value)


def runs(*values: float | None) -> list[RunEvidence]:
    return [run(f"run {number}", value) for number, value in enumerate(values)]


def point(verdict: Verdict, name: str) -> str:
    (shown,) = (each for each in verdict.points if each.name == name)
    return f"{shown.status}: {shown.says}" + (f" [{shown.hint}]" if shown.hint else "")


def agreement(*values: float | None, spread: float = 0.01) -> str:
    return point(judge(runs(*values), [], Facts(spread=spread), metric=True), "runs-agree")


def test_four_equal_runs_are_sound_and_three_are_not_enough() -> None:
    four, three = (judge(runs(*[76.0] * number), [], Facts(), metric=True) for number in (4, 3))
    assert (four.word, four.missing, four.failing) == ("sound", [], [])
    assert (three.word, three.missing, three.failing) == ("incomplete", ["runs-agree"], [])


def test_a_failing_point_outweighs_a_missing_one() -> None:
    verdict = judge([run("a", low=5)], [], Facts(), metric=False)
    assert (verdict.word, verdict.missing, verdict.failing) == ("not sound", ["runs-agree"], ["overflow-share"])


def test_one_run_is_not_named_in_its_points() -> None:
    verdict = judge([run("a", low=5)], [], Facts(), metric=False)
    assert point(verdict, "overflow-share") == "fails: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 %"


def test_of_several_runs_that_fail_the_first_is_named() -> None:
    verdict = judge([run("a", low=1), run("b", low=5), run("c", low=9)], [], Facts(), metric=False)
    assert point(verdict, "overflow-share") == (
        "fails: b: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 % (and 1 more of 3 runs)"
    )


def test_of_two_runs_the_one_that_fails_is_named() -> None:
    verdict = judge([run("a"), run("b", low=5)], [], Facts(), metric=False)
    assert point(verdict, "overflow-share") == "fails: b: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 %"


def test_of_several_runs_that_hold_the_one_nearest_to_the_limit_is_named() -> None:
    verdict = judge([run("a", low=1), run("b", low=4), run("c", low=2)], [], Facts(), metric=False)
    assert point(verdict, "overflow-share") == "holds: b: 0.4 % (4 of 1000 steps; flags), the limit is 0.5 %"
    assert point(verdict, "mixed-precision") == "holds: a: O2 (float16), from the log"


def test_a_point_that_is_unknown_in_one_of_several_runs_is_unknown() -> None:
    verdict = judge([run("a"), run("b", level=None), run("c")], [], Facts(), metric=False)
    assert point(verdict, "mixed-precision") == (
        "cannot be told: b: the log (apex) prints neither level nor mode [--amp LEVEL supplies it]"
    )
    assert verdict.word == "incomplete"


def test_without_a_metric_neither_agreement_nor_comparison_is_known() -> None:
    verdict = judge(runs(1.0), runs(1.0), Facts(), metric=False)
    assert point(verdict, "runs-agree") == (
        "missing: no metric is known [add --metric REGEX, for example --metric 'Acc@1 ([0-9.]+)']"
    )
    assert point(verdict, "reference") == "missing: no metric is known [add --metric REGEX]"
    assert (verdict.agreement, verdict.comparison) == (None, None)


NEEDED = "the guide requires more than three runs"
NO_NUMBER = "fails: the metric of a run is not a number"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([76.0], f"missing: one run, metric 76; {NEEDED}"),
        ([1.0, None, None], "cannot be told: --metric finds nothing in run 1"),
        ([76.0, float("inf")], NO_NUMBER),
        ([76.0, -2e150], NO_NUMBER),
        (
            [100.0, 101.0],
            "missing: 2 runs, mean 100.5, standard deviation 0.707, 100 to 101: 0.995 % apart, 1 % allowed; " + NEEDED,
        ),
        ([99.5, 100.5], "missing: 2 runs, mean 100, standard deviation 0.707, 99.5 to 100.5: 1 % apart, 1 % allowed; "
         + NEEDED),
        ([99.0, 101.0], "fails: 2 runs, mean 100, standard deviation 1.41, 99 to 101: 2 % apart, 1 % allowed"),
        (
            [76.0, 76.0, 76.0, 76.0],
            "holds: 4 runs, mean 76, standard deviation 0, 76 to 76: 0 % apart, 1 % allowed",
        ),
        (
            [100.0, 100.0, 100.0, 100.5],
            "holds: 4 runs, mean 100.125, standard deviation 0.25, 100 to 100.5: 0.499 % apart, 1 % allowed; Grubbs' "
            "test (5 %) marks 100.5 as an outlier",
        ),
    ],
)  # fmt: skip
def test_the_agreement_of_runs(values: list[float | None], expected: str) -> None:
    assert agreement(*values) == expected


def test_the_largest_metric_that_is_compared() -> None:
    assert agreement(*[1e150] * 4).startswith("holds: ")


def reference(mixed: list[float], high: list[float | None]) -> str:
    return point(judge(runs(*mixed), runs(*high), Facts(), metric=True), "reference")


NEITHER = "; neither side varies"


@pytest.mark.parametrize(
    ("mixed", "high", "expected"),
    [
        ([1.0, 1.0], [1.0, None], "cannot be told: --metric finds nothing in a reference run"),
        ([1.0, 1.0], [1.0, 1e200], NO_NUMBER),
        ([1.0], [1.0, 1.0], "missing: 1 mixed and 2 high-precision runs; a test needs two of each"),
        ([1.0, 1.0, 1.0], [1.0], "missing: 3 mixed and 1 high-precision runs; a test needs two of each"),
        (
            [101.0, 101.0],
            [100.0, 100.0],
            f"holds: mixed minus high precision +1, 90 % interval +1 to +1, 1 allowed{NEITHER}",
        ),
        (
            [99.0, 99.0],
            [100.0, 100.0],
            f"holds: mixed minus high precision -1, 90 % interval -1 to -1, 1 allowed{NEITHER}",
        ),
        (
            [-98.0, -98.0],
            [-100.0, -100.0],
            f"fails: mixed minus high precision +2, 90 % interval +2 to +2, 1 allowed{NEITHER}",
        ),
        (
            [102.0, 108.0],
            [100.0, 100.0],
            # t = 5 / 3 with one degree of freedom; p = 1 - 2 atan(5 / 3) / pi; the interval is 5 -+ 3 * 6.3138
            "cannot be told: mixed minus high precision +5, 90 % interval -13.94 to +23.94, 1 allowed; Welch's t = "
            "1.67, p = 0.344 [more runs make the interval narrower]",
        ),
        (
            [100.9921875, 101.0078125],  # 1 apart, which is allowed, but not all of the interval is
            [100.0, 100.0],
            "cannot be told: mixed minus high precision +1, 90 % interval +0.9507 to +1.049, 1 allowed; Welch's t = "
            "128, p = 0.00497 [more runs make the interval narrower]",
        ),
        (
            [101.9921875, 102.0078125],
            [100.0, 100.0],
            "fails: mixed minus high precision +2, 90 % interval +1.951 to +2.049, 1 allowed; Welch's t = 256, "
            "p = 0.00249",
        ),
    ],
)
def test_mixed_precision_against_high_precision(mixed: list[float], high: list[float | None], expected: str) -> None:
    assert reference(mixed, high) == expected


def tail(t: float, freedom: int) -> float:
    """P(|T| > t) as a finite sum, for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, is_odd = math.cos(angle), freedom % 2
    term, total = (cosine, 0.0) if is_odd else (1.0, 0.0)
    for each in range(1 + is_odd, freedom, 2):
        total += term
        term *= cosine**2 * each / (each + 1)
    within = math.sin(angle) * total
    return 1 - (2 / math.pi * (angle + within) if is_odd else within)


@pytest.mark.parametrize("freedom", [*range(1, 13), 30, 121])
@pytest.mark.parametrize("t", [0.01, 0.3, 0.8, 1.0, 1.4, 2.0, 2.2, 5.0, 20.0])
def test_the_tail_is_the_finite_sum_for_whole_degrees_of_freedom(t: float, freedom: int) -> None:
    assert t_tail(t, freedom) == pytest.approx(tail(t, freedom), abs=1e-12)
    if tail(t, freedom) > 1e-6:
        assert t_quantile(t_tail(t, freedom), freedom) == pytest.approx(t, rel=1e-9)


@pytest.mark.parametrize("freedom", [1.0, 1.1, 1.5, 2.0, 2.5, 3.3, 7.7, 40.0, 500.5])
def test_the_tail_falls_from_one_to_nothing(freedom: float) -> None:
    tails = [t_tail(number / 50, freedom) for number in range(500)]
    assert tails[0] == 1.0
    assert all(before > after > 0 for before, after in pairwise(tails))


def test_the_interval_of_a_difference_with_two_degrees_of_freedom() -> None:
    """Two equal variances of two values each; P(|T| > t) is 1 - t / sqrt(2 + t²), so that t² = 1.62 / 0.19 at 10 %."""
    result = compare([1.0, 3.0], [6.0, 8.0])
    half = math.sqrt(1.62 / 0.19) * math.sqrt(2)
    assert (result.difference, result.freedom) == (-5.0, pytest.approx(2.0))
    assert (result.low, result.high) == (pytest.approx(-5 - half), pytest.approx(-5 + half))
    assert result.t == pytest.approx(-5 / math.sqrt(2))
    assert result.p == pytest.approx(1 - 5 / math.sqrt(2) / math.sqrt(2 + 12.5))


@pytest.mark.parametrize(
    ("values", "relative", "outlier"),
    [
        ([2.0, 2.0], 0.0, None),
        ([2.0, 2.0, 2.0], 0.0, None),
        ([-1.0, 0.0, 1.0], math.inf, None),
        ([0.0, 0.0], 0.0, None),
        ([-2.0, -4.0], 2 / 3, None),
        ([0.0, 0.0, 3.0], 3.0, 3.0),
        ([4.0, 4.0, 4.0, 0.0, 4.0], 4 / 3.2, 0.0),
    ],
)
def test_the_spread_of_runs(values: list[float], relative: float, outlier: float | None) -> None:
    result = spread(values)
    assert (result.number, result.lowest, result.highest) == (len(values), min(values), max(values))
    assert (result.relative, result.outlier) == (pytest.approx(relative), outlier)


def test_a_value_at_the_limit_of_grubbs_is_no_outlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 is one standard deviation of 2 from the mean of 2."""
    for limit, outlier in ((1.0, None), (0.99, 0.0)):
        monkeypatch.setattr(student_t, "grubbs_limit", lambda number, limit=limit: limit)
        assert spread([0.0, 2.0, 4.0]).outlier == outlier


def test_neither_of_two_values_is_an_outlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is 0.7 standard deviations from their mean, whatever they are."""
    monkeypatch.setattr(student_t, "grubbs_limit", lambda number: 0.0)
    assert spread([0.0, 2.0]).outlier is None
