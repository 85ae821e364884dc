"""Copies of one message that are close together: each rank prints it for the same overflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress, count, islice, pairwise, repeat
from operator import eq, gt, ne, not_

from .columns import picked

_MOST_SIZES = 4096
_OPEN = 4
_SKEW = 16


def skew_of(spacing: int) -> int:
    """Return how many steps apart the copies of one message may be printed.

    :param spacing: the distance between printed steps
    """
    return max(_SKEW, 4 * spacing)


@dataclass(slots=True)
class _Visit:
    """Copies of one message that the ranks print for one overflowed step."""

    value: float | None
    at: int
    copies: int


@dataclass
class Visits:
    """The visits of a scale to its values: a copy belongs to one of the last four visits to its value.

    :param sizes: how many visits had which number of copies; the key says whether they were to the lowest value so far
    :param lowest: the lowest value
    :param lead: how many visits belong to the first descent
    """

    sizes: Counter[tuple[bool, int]] = field(default_factory=Counter)
    lowest: float | None = None
    lead: int = 0
    _open: list[_Visit] = field(default_factory=list)
    """The newest first."""
    _at: int = 0
    _in_lead: bool = True

    def add(self, value: float | None, begin: int, step: int, copies: int, skew: int) -> bool:
        """Add copies that are printed from one step to another; returns whether a visit begins with them."""
        if begin > self._at + skew:  # clean steps in between end the first descent
            self._in_lead = False
        self._at = max(self._at, step)
        for visit in self._open:
            if visit.value == value and abs(begin - visit.at) <= skew:
                visit.copies += copies
                visit.at = max(visit.at, step)
                return False
        self._begin(value, step, copies)
        return True

    def _begin(self, value: float | None, step: int, copies: int) -> None:
        self._open.insert(0, _Visit(value, step, copies))
        if len(self._open) > _OPEN:
            closed = self._open.pop()
            self._count_size((closed.value == self.lowest, closed.copies), 1)
        if value is None or value != value:
            return
        lower = self.lowest is None or value < self.lowest
        if lower:
            self.lowest = value
        self._in_lead = self._in_lead and lower
        self.lead += self._in_lead

    def add_rows(
        self, values: list[float], steps: list[int], skew: int, closed: list[bool] | None = None
    ) -> list[bool]:
        """Add single copies in order, with a value that is a number each; returns what :meth:`add` does for each.

        :param closed: whether :meth:`rose` is called before each
        """
        if self.lowest is None:
            return self._add_first(values, steps, skew, closed)
        if closed and True in closed:
            risen = closed.index(True)
            new = self.add_rows(values[:risen], steps[:risen], skew) if risen else []
            self.rose()
            return new + self._add_parts(values[risen:], steps[risen:], skew, closed[risen:])
        opened = [visit.value for visit in reversed(self._open)]
        falls = all(map(gt, (self.lowest, *values), values))
        if falls or _are_new(opened, values):
            new = [True] * len(values)
            sizes = [*(visit.copies for visit in reversed(self._open)), *[1] * len(values)][:-_OPEN]
            newest = map(_Visit, values[-_OPEN:], steps[-_OPEN:], repeat(1))
            self._open = [*reversed(list(newest)), *self._open][:_OPEN]
        else:
            new, sizes = self._add_each(values, steps, skew)
        begun = picked(values, new)
        lows = self._lows(begun, falls)
        at_lowest = map(eq, (*opened, *begun), islice(lows, _OPEN - len(opened), None))
        self._count_closed(list(islice(at_lowest, len(sizes))), sizes)
        if self._in_lead:
            self._add_lead(begun, lows, new, steps, skew)
        self.lowest = lows[-1]
        self._at = max(self._at, max(steps))
        return new

    def _lows(self, begun: list[float], falls: bool) -> list[float]:
        """Return the lowest value before each visit that begins, and after the last one."""
        assert self.lowest is not None
        if falls:
            return [self.lowest, *begun]
        if begun and min(begun) < self.lowest:
            return list(accumulate(begun, min, initial=self.lowest))
        return [self.lowest] * (len(begun) + 1)

    def _add_each(self, values: list[float], steps: list[int], skew: int) -> tuple[list[bool], list[int]]:
        """Add copies one by one; returns what :meth:`add` returns for each, and the sizes of the visits that end.

        With names for each of the four visits, this takes half the time that it takes with a list of them.
        """
        missing = _OPEN - len(self._open)
        opened = [*self._open, *[_Visit(None, 0, 0)] * missing]
        first, second, third, fourth = (visit.value for visit in opened)
        at_first, at_second, at_third, at_fourth = (visit.at for visit in opened)
        ones, twos, threes, fours = (visit.copies for visit in opened)
        new: list[bool] = []
        sizes: list[int] = []
        for value, step in zip(values, steps, strict=True):
            is_new = False
            if value == first and -skew <= step - at_first <= skew:
                ones += 1
                if step > at_first:
                    at_first = step
            elif value == second and -skew <= step - at_second <= skew:
                twos += 1
                if step > at_second:
                    at_second = step
            elif value == third and -skew <= step - at_third <= skew:
                threes += 1
                if step > at_third:
                    at_third = step
            elif value == fourth and -skew <= step - at_fourth <= skew:
                fours += 1
                if step > at_fourth:
                    at_fourth = step
            else:
                is_new = True
                sizes.append(fours)
                first, second, third, fourth = value, first, second, third
                at_first, at_second, at_third, at_fourth = step, at_first, at_second, at_third
                ones, twos, threes, fours = 1, ones, twos, threes
            new.append(is_new)
        newest = [
            _Visit(first, at_first, ones),
            _Visit(second, at_second, twos),
            _Visit(third, at_third, threes),
            _Visit(fourth, at_fourth, fours),
        ]
        self._open = newest[: _OPEN - missing + len(sizes)]
        return new, sizes[missing:]

    def _add_first(self, values: list[float], steps: list[int], skew: int, closed: list[bool] | None) -> list[bool]:
        """Add the first copy with a value, and the others as :meth:`add_rows` does."""
        if closed and closed[0]:
            self.rose()
        new = [self.add(values[0], steps[0], steps[0], 1, skew)]
        return new + self.add_rows(values[1:], steps[1:], skew, closed and closed[1:]) if len(values) > 1 else new

    def _add_parts(self, values: list[float], steps: list[int], skew: int, closed: list[bool]) -> list[bool]:
        """Add copies after the first descent, while no visit is open; returns what :meth:`add` returns for each."""
        if all(closed):
            new, sizes = [True] * len(values), [1] * (len(values) - 1)
            self._open = [_Visit(values[-1], steps[-1], 1)]
            stops: Iterator[int] = count(1)
        else:
            new, sizes, stops = self._add_apart(values, steps, skew, list(accumulate(map(int, closed))))
        begun = picked(values, new)
        lows = self._lows(begun, falls=False)
        at_lowest = map(eq, begun, map(lows.__getitem__, stops))
        self._count_closed(list(islice(at_lowest, len(sizes))), sizes)
        self.lowest = lows[-1]
        self._at = max(self._at, max(steps))
        return new

    def _add_apart(
        self, values: list[float], steps: list[int], skew: int, parts: list[int]
    ) -> tuple[list[bool], list[int], Iterator[int]]:
        """Add copies of parts between which the scale rose, as if these were far from each other.

        :param parts: the number of the part of each
        :returns: what :meth:`_add_each` does, and for each visit how many had begun when it ended
        """
        apart = max(steps) - min(steps) + skew + 1
        made = [step + part * apart for step, part in zip(steps, parts, strict=True)]
        new, sizes = self._add_each(values, made, skew)
        parts = picked(parts, new)
        last = parts.count(parts[-1])
        sizes += [visit.copies for visit in reversed(self._open[last:])]
        self._open = [_Visit(visit.value, visit.at - parts[-1] * apart, visit.copies) for visit in self._open[:last]]
        changes = compress(count(1), map(ne, islice(parts, 1, None), parts))
        bounds = pairwise([0, *changes, len(parts)])
        stops = chain.from_iterable(repeat(stop, stop - begin) for begin, stop in bounds)
        return new, sizes, map(min, stops, count(_OPEN))

    def _add_lead(self, begun: list[float], lows: list[float], new: list[bool], steps: list[int], skew: int) -> None:
        """Add the visits that belong to the first descent: until one is not lower, or clean steps are in between.

        :param begun: the values of the visits that begin
        :param lows: the lowest value before each
        """
        clean = len(steps)
        if max(steps) > self._at + skew:
            before = map(skew.__add__, accumulate(steps, max, initial=self._at))
            clean = next(compress(count(), map(gt, steps, before)), clean)
        lower = list(map(gt, lows, islice(begun, sum(new[:clean]))))
        self.lead += lower.index(False) if False in lower else len(lower)
        self._in_lead = clean == len(steps) and False not in lower

    def _count_closed(self, at_lowest: list[bool], sizes: list[int]) -> None:
        """:param at_lowest: whether each visit was to the lowest value so far"""
        for is_lowest, closed in ((True, compress(sizes, at_lowest)), (False, compress(sizes, map(not_, at_lowest)))):
            for size, visits in Counter(closed).items():
                self._count_size((is_lowest, size), visits)

    def _count_size(self, kind: tuple[bool, int], visits: int) -> None:
        if kind in self.sizes or len(self.sizes) < _MOST_SIZES:
            self.sizes[kind] += visits

    def rose(self) -> None:
        """Note that the scale grew: later visits are not the first descent, and an earlier value is a new visit."""
        self._in_lead = False
        self.end()

    def end(self) -> None:
        """Close all visits."""
        for visit in self._open:
            self._count_size((visit.value == self.lowest, visit.copies), 1)
        self._open = []


def _are_new(opened: list[float | None], values: list[float]) -> bool:
    """Whether each value begins a visit, because it differs from the four before it."""
    both = [*opened, *values]
    return not any(any(map(eq, both, islice(both, apart, None))) for apart in range(1, _OPEN + 1))
