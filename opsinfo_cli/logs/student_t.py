"""Student's t distribution, Grubbs' and Welch's test and the binomial distribution, with the standard library only.

The distribution comes from the regularised incomplete beta function by its continued fraction (Lentz's method;
Abramowitz and Stegun 26.5.8, 26.7.1), which is good to about 1e-12.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from ..core.document import Count


def t_tail(t: float, freedom: float) -> float:
    """Return P(|T| > t), the two-sided probability."""
    if math.isinf(t):
        return 0.0
    return _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_quantile(two_sided: float, freedom: float) -> float:
    """Return the t with P(|T| > t) = ``two_sided``."""
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > two_sided:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > two_sided else (low, middle)
    return (low + high) / 2


def binomial_tail(successes: int, trials: int, probability: float) -> float:
    """Return P(X >= successes) of ``trials`` that each succeed with ``probability`` (Abramowitz and Stegun 26.5.24)."""
    return _beta(successes, trials - successes + 1, probability) if successes else 1.0


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


@dataclass(frozen=True)
class Spread:
    """Statistics of the runs' metrics."""

    number: Count
    """Number of runs."""
    mean: float
    """The mean."""
    deviation: float
    """The standard deviation."""
    lowest: float
    """The lowest metric."""
    highest: float
    """The highest metric."""
    relative: float | None
    """The range divided by the absolute value of the mean; null if the mean is 0."""
    outlier: float | None
    """A metric that Grubbs' test (5 %) marks as an outlier; null if there is none."""


def spread(values: list[float]) -> Spread:
    """:param values: at least two, all finite"""
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    low, high = min(values), max(values)
    relative = (high - low) / abs(mean) if mean else (None if high > low else 0.0)
    furthest = max(values, key=lambda value: abs(value - mean))
    far = len(values) > 2 and deviation > 0 and abs(furthest - mean) / deviation > grubbs_limit(len(values))
    return Spread(len(values), mean, deviation, low, high, relative, furthest if far else None)


def grubbs_limit(number: int) -> float:
    """Return Grubbs' two-sided critical value at 5 %, in standard deviations from the mean, for ``number`` values."""
    t = t_quantile(0.05 / number, number - 2)
    return (number - 1) / math.sqrt(number) * math.sqrt(t * t / (number - 2 + t * t))


@dataclass(frozen=True)
class MeanComparison:
    """Comparison of the means: mixed minus high precision."""

    difference: float
    """The difference of the means."""
    t: float | None
    """Welch's t; null if neither side varies."""
    freedom: float | None
    """The degrees of freedom."""
    p: float | None
    """The two-sided p-value."""
    low: float
    """The lower end of the 90 % confidence interval."""
    high: float
    """The upper end of the 90 % confidence interval."""


def compare(first: list[float], second: list[float]) -> MeanComparison:
    """Return Welch's t test. A 90 % interval within a limit equals two one-sided equivalence tests at 5 %.

    :param first, second: at least two values each, all finite
    """
    difference = statistics.fmean(first) - statistics.fmean(second)
    a, b = (statistics.variance(values) / len(values) for values in (first, second))
    if a + b == 0:
        return MeanComparison(difference, None, None, None, difference, difference)
    error = math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a * a / (len(first) - 1) + b * b / (len(second) - 1))
    t = difference / error
    half = t_quantile(0.10, freedom) * error
    return MeanComparison(difference, t, freedom, t_tail(abs(t), freedom), difference - half, difference + half)
