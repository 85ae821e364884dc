"""Student's t compared with published tables, and the verdicts of the statistical tests."""

from __future__ import annotations

import math

import pytest

from opsinfo_cli.runs.student_t import compare, grubbs_limit, spread, t_quantile, t_tail


@pytest.mark.parametrize(
    ("freedom", "two_sided", "t"),
    [
        (1, 0.05, 12.7062),
        (2, 0.05, 4.3027),
        (5, 0.01, 4.0321),
        (10, 0.05, 2.2281),
        (30, 0.10, 1.6973),
        (120, 0.05, 1.9799),
    ],
)
def test_quantiles_of_the_printed_tables(freedom: float, two_sided: float, t: float) -> None:
    assert t_quantile(two_sided, freedom) == pytest.approx(t, abs=5e-5)
    assert t_tail(t, freedom) == pytest.approx(two_sided, rel=1e-4)


@pytest.mark.parametrize(("number", "limit"), [(3, 1.1543), (4, 1.4812), (6, 1.8871), (10, 2.2900), (20, 2.7082)])
def test_grubbs_limits_of_the_printed_tables(number: int, limit: float) -> None:
    assert grubbs_limit(number) == pytest.approx(limit, abs=1e-4)


def density(t: float, freedom: float) -> float:
    front = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
    return front * (1 + t * t / freedom) ** (-(freedom + 1) / 2)


def test_welchs_test_on_a_worked_example() -> None:
    """Means 2.5 and 6, variances 5/3 by 4 and 10 by 5: t = -3.5 / sqrt(29/12)."""
    result = compare([1, 2, 3, 4], [2, 4, 6, 8, 10])
    assert result.t == pytest.approx(-3.5 / math.sqrt(29 / 12))
    assert result.freedom == pytest.approx((29 / 12) ** 2 / ((5 / 12) ** 2 / 3 + 1))
    step, size = 1e-4, abs(result.t)
    within = sum(density((number + 0.5) * step, result.freedom) for number in range(int(size / step))) * step
    assert result.p == pytest.approx(1 - 2 * within, abs=1e-4)


def test_constant_samples_have_no_t() -> None:
    result = compare([1.0, 1.0], [2.0, 2.0])
    assert (result.t, result.p, result.low, result.high) == (None, None, -1.0, -1.0)


def test_an_outlier_is_named() -> None:
    assert spread([76.1, 76.2, 76.15, 76.1, 76.12, 70.0]).outlier == 70.0
    assert spread([76.1, 76.2, 76.15, 76.1, 76.12]).outlier is None
    assert math.isinf(spread([-1.0, 1.0]).relative)
