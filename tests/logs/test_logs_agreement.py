"""The verdict on several runs: the worst of each point, their agreement, and their means against high precision."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.logs import student_t
from opsinfo_cli.logs.count import Overflows
from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.points import Facts
from opsinfo_cli.logs.student_t import compare, spread, t_quantile, t_tail
from opsinfo_cli.logs.training_run import RunEvidence, TrainingRun
from opsinfo_cli.logs.verdict import Verdict, judge


def run(name: str, value: float | None = None, low: int = 0, level: str | None = "O2") -> RunEvidence:
    """A run of 1000 steps, all of them measured."""
    found = Evidence("apex", level=level, scaling="dynamic")
    found.count = Overflows(low, low, 1000, 0, "flags", proof="flags")
    found.scale.add(1, 8.0)
    found.losses.losses.entries = 1000
    return RunEvidence(TrainingRun(name, (name,)), found, None if value is None else float(value))


def point(verdict: Verdict, name: str) -> str:
    (shown,) = (each for each in verdict.points if each.name == name)
    return f"{shown.status}: {shown.says}" + (f" [{shown.hint}]" if shown.hint else "")


VERDICTS = json.loads((Path(__file__).parent / "verdicts.json").read_text("utf-8"))


@pytest.mark.parametrize("asked", [pytest.param(each, id=each["name"]) for each in VERDICTS])
def test_a_verdict_has_its_word_and_points(asked: dict[str, Any]) -> None:
    """Welch's t of 102 and 108 against 100: 5 / 3 with one degree of freedom; p = 1 - 2 atan(5 / 3) / pi."""
    ours, others = [
        [run(**{"name": f"run {number}", **each}) for number, each in enumerate(asked.get(side, ()))]
        for side in ("runs", "reference")
    ]
    verdict = judge(ours, others, Facts(), metric=asked.get("metric", True))
    assert {name: point(verdict, name) for name in asked["points"]} == asked["points"]
    assert verdict.word == asked.get("word", verdict.word)
    unknown = [each.name for each in verdict.points if each.status not in ("holds", "fails")]
    assert (verdict.missing, verdict.failing) == (unknown, [e.name for e in verdict.points if e.status == "fails"])


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
        ([-1.0, 0.0, 1.0], None, None),
        ([0.0, 0.0], 0.0, None),
        ([-2.0, -4.0], 2 / 3, None),
        ([0.0, 0.0, 3.0], 3.0, 3.0),
        ([4.0, 4.0, 4.0, 0.0, 4.0], 4 / 3.2, 0.0),
    ],
)
def test_the_spread_of_runs(values: list[float], relative: float | None, outlier: float | None) -> None:
    result = spread(values)
    assert (result.number, result.lowest, result.highest) == (len(values), min(values), max(values))
    assert (result.relative, result.outlier) == (relative and pytest.approx(relative), outlier)


def test_a_value_at_the_limit_of_grubbs_is_no_outlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 is one standard deviation of 2 from the mean of 2."""
    for limit, outlier in ((1.0, None), (0.99, 0.0)):
        monkeypatch.setattr(student_t, "grubbs_limit", lambda number, limit=limit: limit)
        assert spread([0.0, 2.0, 4.0]).outlier == outlier


def test_neither_of_two_values_is_an_outlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is 0.7 standard deviations from their mean, whatever they are."""
    monkeypatch.setattr(student_t, "grubbs_limit", lambda number: 0.0)
    assert spread([0.0, 2.0]).outlier is None
