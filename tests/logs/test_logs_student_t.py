"""Student's t compared with published tables, and the verdicts of the statistical tests."""

from __future__ import annotations

import pytest

from opsinfo_cli.logs.student_t import compare, grubbs_limit, t_quantile, t_tail


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


def test_constant_samples_have_no_t() -> None:
    result = compare([1.0, 1.0], [2.0, 2.0])
    assert (result.t, result.p, result.low, result.high) == (None, None, -1.0, -1.0)
