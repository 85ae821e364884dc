"""Count overflowed steps from messages that every rank prints once per step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd

from .count import Count

_MOST_VALUES = 4096
_OPEN = 4
_SURE = 3
_SKEW = 16
_CLOSED = -(1 << 60)
"""The place of a visit to which no message is near."""


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


class Occurrences:
    """Counts each overflowed step once, for any number of ranks.

    The scale can return to a value only after it grew, which takes at least a hundred clean steps. So copies
    with one value that are close together come from the ranks, and their number is the number of ranks. If the
    log shows no steps between messages, the values give the number of ranks: a falling scale takes each value
    once, so each is printed once by every rank.
    """

    def __init__(self) -> None:
        self.total = 0
        self.values: dict[float, int] = {}
        self.together = 1
        """The most messages on one line: at least that many ranks print into the log."""
        self._sizes: Counter[tuple[bool, int]] = Counter()
        self._open: list[_Visit] = []
        self._lowest: float | None = None
        self._placed = False
        self._lead = self._at = 0
        self._in_lead = True

    def add(
        self,
        value: float | None,
        at: int | None = None,
        spacing: int = 0,
        copies: int = 1,
        since: int | None = None,
    ) -> bool:
        """Count copies of one message.

        :param value: the scale after the overflow; None if the message has none
        :param at: the last step printed before the message; None if the log prints none
        :param spacing: the distance between printed steps
        :param since: where the first copy is, if the copies are spread, each near to the one before it
        :returns: whether the message is the first of its overflow
        """
        self.total += copies
        self._placed |= at is not None
        step = at or 0
        if value is not None and value == value:
            self._printed(value, copies)
        return self._visited(value, step if since is None else since, step, copies, skew_of(spacing))

    def add_rows(self, values: list[float], ats: list[int | None], spacing: int) -> list[bool]:
        """Add messages in order, each of one copy with a value that is a number.

        :param ats: the last step before each message, or None for each
        :returns: what :meth:`add` returns for each
        """
        self.total += len(values)
        self._placed |= ats[-1] is not None
        for value, copies in Counter(values).items():
            self._printed(value, copies)
        skew = skew_of(spacing)
        newest = {visit.value: visit for visit in reversed(self._open)}
        new: list[bool] = []
        for value, step in zip(values, [at or 0 for at in ats], strict=True):
            visit = newest.get(value)
            if visit is not None and -skew <= step - visit.at <= skew:
                visit.copies += 1
                if step > visit.at:
                    visit.at = step
                    self._at = max(self._at, step)
                new.append(False)
                continue
            is_new = self._visited(value, step, step, 1, skew)
            if is_new:
                newest[value] = self._open[0]
            new.append(is_new)
        return new

    def _printed(self, value: float, copies: int) -> None:
        if value in self.values or len(self.values) < _MOST_VALUES:
            self.values[value] = self.values.get(value, 0) + copies

    def _visited(self, value: float | None, begin: int, step: int, copies: int, skew: int) -> bool:
        """Add copies to the visit that they belong to; returns whether it begins with them."""
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
            self._close(self._open.pop())
        if value is None or value != value:
            return
        lower = self._lowest is None or value < self._lowest
        if lower:
            self._lowest = value
        self._in_lead = self._in_lead and lower
        self._lead += self._in_lead

    def _close(self, visit: _Visit) -> None:
        visit.at = _CLOSED
        if len(self._sizes) < _MOST_VALUES:
            self._sizes[(visit.value == self._lowest, visit.copies)] += 1

    def _close_all(self) -> None:
        for visit in self._open:
            self._close(visit)
        self._open = []

    def rose(self) -> None:
        """Note that the scale grew: later overflows are not calibration, and an earlier value is a new overflow."""
        self._in_lead = False
        self._close_all()

    def count(self, steps: int | None, ranks: int | None, placed: bool = False) -> Count:
        """:param ranks: the number of ranks that print; None to derive it
        :param placed: whether the log prints steps, even if only after the messages
        """
        self._placed |= placed
        self._close_all()
        low, high, sure = self._bounds(ranks)
        basis = f"{self.total} messages" + (f" of {sure} ranks" if sure and sure > 1 else "")
        count = Count(
            low,
            high,
            steps,
            min(self._lead, low),
            basis,
            sure,
            proof="the log has messages of skipped steps" if self.total else None,
        )
        if self.together > 1:
            count = count.noted(f"up to {self.together} messages on one line: several ranks print into the log")
        if low != high:
            count = count.noted("copies from other ranks cannot be distinguished from repeated overflows")
        return count

    def _bounds(self, ranks: int | None) -> tuple[int, int, int | None]:
        """Return the fewest and the most overflows, and the number of ranks if it is certain."""
        if self.total == 0:
            return 0, 0, ranks
        if ranks is not None:
            return self._rounded(ranks, ranks)
        if sum(self.values.values()) != self.total:  # messages without a value
            return self._rounded(self.together, self.total)
        return self._from_visits() if self._placed else self._from_values()

    def _rounded(self, fewest: int, most: int) -> tuple[int, int, int | None]:
        low = max(1, self.total // most)
        return low, -(-self.total // fewest), most if fewest == most else None

    def _from_visits(self) -> tuple[int, int, int | None]:
        """Return bounds from the sizes of visits; at the lowest value, consecutive overflows share a visit."""
        above = Counter({size: number for (lowest, size), number in self._sizes.items() if not lowest})
        whole: Counter[int] = Counter()
        for (_, size), number in self._sizes.items():
            whole[size] += number
        trusted = above or whole
        if not above and (len(whole) > 1 or max(whole) > 1) and self._is_floor():
            return self._rounded(1, self.total)
        size, often = max(trusted.items(), key=lambda item: (item[1], -item[0]))
        if 2 * often < sum(trusted.values()):
            return -(-self.total // max(whole)), self._visits(min(trusted), whole), None
        return self.total // size, self._visits(size, whole), size  # more if some messages are missing

    def _is_floor(self) -> bool:
        return self._lowest is not None and self._lowest <= 1.0

    @staticmethod
    def _visits(size: int, whole: Counter[int]) -> int:
        """Return the overflows if each visit is at least one, and one more per full set of ranks."""
        return sum(-(-each // size) * number for each, number in whole.items())

    def _from_values(self) -> tuple[int, int, int | None]:
        """Return bounds from the copies of each value, for a log without steps."""
        counts = Counter(self.values.values())
        common = gcd(*counts)
        size, often = max(counts.items(), key=lambda item: (item[1], -item[0]))
        if often >= _SURE and 2 * often >= sum(counts.values()):
            return self.total // size, self._visits(size, counts), size
        if common == 1:
            return self.total, self.total, 1
        return self._rounded(common if counts[common] >= _SURE else 1, common)
