"""Halving: release the candidates that are least likely to be needed, half of the probability at a time.

A group is released for one run. If the check still passes, none of the group is needed. If not, one of the group is
needed, and halving the group finds it in about log2 runs. That is group testing, and its cost depends on the size of
the groups: a group should be clean with a probability of one half. The probability that a candidate is needed follows
from its weight, and from the number of needed candidates, which is estimated from the answers. If many are needed,
groups become single candidates, and the search becomes linear.

Source: M. Sobel, P. A. Groll, "Group testing to eliminate efficiently all defectives in a binomial sample", 1959.
"""

from __future__ import annotations

from math import ceil, exp, expm1, log, log2
from operator import sub
from typing import TYPE_CHECKING, NamedTuple

from .question import Kept, Question

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_LEAST, _MOST = 1e-4, 0.8
"""Bounds of the probability that a single candidate is needed. Chosen, as are the two below: ``benchmarks/searches.py``
measures the runs with others. 1e-6 to 1e-2 and 0.5 to 0.95 change the mean by 0.3 % at most, 1e-2 one culprit of 200 by
10 %."""
_SHARE = 0.8
"""The largest share of candidates that the search expects to be needed; 0.4 to 1 change the mean by 0.1 % at most."""
_FINISH = 0.15
"""How much farther from one half the probability of a group may be if the group would end the search; 0 changes the
mean by 0.2 %, 0.3 by 1.7 %."""


def most_runs(count: int) -> int:
    """The maximum runs of :func:`halve`: linear removal, and a quarter more: none to as much again change the mean by
    0.3 % at most.
    """
    return count + max(_depth(count), count // 4)


def _depth(size: int) -> int:
    """The maximum runs that find one needed candidate in a group."""
    return ceil(log2(size)) + 1 if size > 1 else 0


class _Group(NamedTuple):
    """The last ``size`` of a pool, and for each rate the probability that they are clean."""

    size: int
    likely: list[float]


class _Belief:
    """An estimate of how many candidates are needed, from the answers so far.

    :ivar odds: how probable each rate is, a rate being a number of needed candidates: 1, 2, 4 and so on
    :ivar clean: for each rate and each candidate the logarithm of the probability that it is not needed
    """

    def __init__(self, weights: Sequence[float]) -> None:
        highest, total = len(weights) * _SHARE, sum(weights)
        rates = [1.0]
        while rates[-1] * 2 < highest:
            rates.append(rates[-1] * 2)
        rates.append(highest)
        self.odds = [1 / rate for rate in rates]  # equal odds: the mean by -0.3 %, one culprit of 200 by +13 %
        self.clean = [[log(1 - min(_MOST, max(_LEAST, rate * weight / total))) for weight in weights] for rate in rates]

    def learn(self, likely: Sequence[float], passed: bool) -> None:
        """Take an answer into account.

        :param likely: for each rate the probability that it passes
        """
        odds = [
            max(1e-9, old * (chance if passed else 1 - chance)) for old, chance in zip(self.odds, likely, strict=True)
        ]
        total = sum(odds)
        self.odds = [value / total for value in odds]

    def mean(self, likely: Sequence[float]) -> float:
        """The probability over all rates."""
        return sum(odds * chance for odds, chance in zip(self.odds, likely, strict=True)) / sum(self.odds)

    def group(self, pool: list[int], is_guilty: bool, sizes: range) -> _Group:
        """Return the group at the end of the pool that is clean with a probability near one half.

        :param is_guilty: whether a member of the pool is known to be needed
        """
        totals = [sum(map(row.__getitem__, pool)) for row in self.clean]
        sums = [0.0] * len(totals)
        best, closest = _Group(0, []), 2.0
        for size in range(1, sizes[-1] + 1):
            sums = [total + row[pool[-size]] for total, row in zip(sums, self.clean, strict=True)]
            if size not in sizes:
                continue
            likely = list(map(exp, sums))
            if is_guilty:  # P(group clean | pool not clean) = e^s (e^(T-s) - 1) / (e^T - 1), with sums s and totals T
                rests = map(expm1, map(sub, totals, sums))
                likely = [
                    chance * rest / expm1(total) for chance, rest, total in zip(likely, rests, totals, strict=True)
                ]
            distance = abs(self.mean(likely) - 0.5) - (_FINISH if size == len(pool) else 0)
            if distance < closest - 1e-12:
                best, closest = _Group(size, likely), distance
        return best


def halve(weights: Sequence[float], more: int = 0) -> Generator[Question, bool, tuple[Kept, list[int]]]:
    """Release what is not needed of all candidates, which pass together and fail if all are released.

    :param weights: one for each candidate, in descending order
    :param more: maximum number of questions that follow, the proof of each member aside
    :returns: the set that passes, and its members in the order in which they were shown to be needed
    """
    belief = _Belief(weights)
    unknown = list(range(len(weights)))
    kept = set(unknown)
    guilty: list[int] | None = unknown
    order: list[int] = []
    used, depth = 0, _depth(len(weights))
    while unknown:
        if guilty is not None and len(guilty) == 1:
            order.append(guilty[0])
            unknown.remove(guilty[0])
            guilty = None
            continue
        pool = unknown if guilty is None else guilty
        if guilty is None:
            spare = most_runs(len(weights)) - used - len(unknown)
            sizes = range(1, max(size for size in range(1, len(pool) + 1) if size == 1 or _depth(size) <= spare) + 1)
        else:
            half = 1 << (depth - 1)
            sizes = range(max(1, len(pool) - half), min(len(pool) - 1, half) + 1)
        group = belief.group(pool, guilty is not None, sizes)
        released = pool[-group.size :]
        passed = yield Question(
            frozenset(kept.difference(released)),
            likely=belief.mean(group.likely),
            left=most_runs(len(weights)) - used + len(kept) + more,
        )
        used += 1
        depth = _depth(group.size) if guilty is None else depth - 1
        belief.learn(group.likely, passed)
        if passed:
            kept.difference_update(released)
            unknown = [number for number in unknown if number in kept]
            guilty = None if guilty is None else guilty[: -group.size]
        else:
            guilty = released
    return frozenset(kept), order
