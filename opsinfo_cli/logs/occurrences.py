"""Count overflowed steps from messages that every rank prints once per step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd

from .count import Overflows

_MOST_VALUES = 4096
_MOST_SIZES = 4096
_OPEN = 4
_SKEW = 16
_SURE = 3
_GROWS = 1000
"""No scaler of these stacks grows after fewer clean steps, so that a value that comes later is another overflow."""


@dataclass(slots=True)
class _Visit:
    """Copies of one message that the ranks print for one overflowed step; ``at``: the step of the newest."""

    value: float | None
    at: int
    copies: int


class Occurrences:
    """Counts each overflowed step once, for any number of ranks.

    The scale can return to a value only after it grew, which takes at least a hundred clean steps. So copies with one
    value that are close together come from the ranks, and their number is the number of ranks: a copy belongs to one
    of the last four visits of the scale to its value. If the log shows no steps between messages, the values give the
    number of ranks: a falling scale takes each value once, so each is printed once by every rank.

    Whatever the number of ranks, each value of a falling scale is at least one overflow.

    ``total``: messages. ``together``: the most messages on one line; at least that many ranks print into the log.
    """

    def __init__(self) -> None:
        self.total = 0
        self.together = 1
        self._values: dict[float, int] = {}
        self._placed = False
        self._open: list[_Visit] = []
        """The newest first."""
        self._sizes: Counter[tuple[bool, int]] = Counter()
        """How many visits had which number of copies; the key says whether they were to the lowest value so far."""
        self._lowest: float | None = None
        self._lead = 0
        """Visits of the first descent."""
        self._in_lead = True
        self._newest_step = 0
        self._sure = 0
        """Visits to a value that the scale could not have had before: it had no time to grow, or did not have it."""
        self._last: dict[float | None, int] = {}
        """The newest step with a value, since the scale was known to grow."""
        self._alone = 0
        """Messages without another one since the step printed before."""

    def add(self, value: float | None, at: int | None = None, spacing: int = 0, copies: int = 1) -> bool:
        """Count copies of one message.

        :param value: the scale after the overflow; None if the message has none
        :param at: the last step printed before the message; None if the log prints none
        :param spacing: the distance between printed steps
        :returns: whether the message is the first of its overflow
        """
        self.total += copies
        self._placed |= at is not None
        if value is not None and value == value and (value in self._values or len(self._values) < _MOST_VALUES):
            self._values[value] = self._values.get(value, 0) + copies
        step = at or 0
        self._alone += at is not None and copies == 1 and (step > self._newest_step or self.total == 1)
        if step > self._newest_step + max(_SKEW, 4 * spacing):  # clean steps in between end the first descent
            self._in_lead = False
        self._newest_step = max(self._newest_step, step)
        apart = max(_SKEW, min(4 * spacing, _GROWS - 1))
        for visit in self._open:
            if visit.value == value and abs(step - visit.at) <= apart:
                visit.copies += copies
                visit.at = max(visit.at, step)
                return False
        self._sure += value not in self._last or step - self._last[value] >= _GROWS
        if value in self._last or len(self._last) < _MOST_VALUES:
            self._last[value] = step
        self._open.insert(0, _Visit(value, step, copies))
        if len(self._open) > _OPEN:
            self._close(self._open.pop())
        if value is not None and value == value:
            is_lower = self._lowest is None or value < self._lowest
            if is_lower:
                self._lowest = value
            self._in_lead = self._in_lead and is_lower
            self._lead += self._in_lead
        return True

    def _close(self, visit: _Visit) -> None:
        size = (visit.value == self._lowest, visit.copies)
        if size in self._sizes or len(self._sizes) < _MOST_SIZES:
            self._sizes[size] += 1

    def rose(self) -> None:
        """Note that the scale grew: later overflows are not calibration, and an earlier value is a new overflow."""
        self._in_lead = False
        self._last.clear()
        self._close_all()

    def _close_all(self) -> None:
        for visit in self._open:
            self._close(visit)
        self._open = []

    def count(self, steps: int | None, ranks: int | None, placed: bool = False) -> Overflows:
        """:param ranks: the number of ranks that print; None to derive it
        :param placed: whether the log prints steps, even if only after the messages
        """
        self._placed |= placed
        self._close_all()
        low, high, sure = self._bounds(ranks)
        low = max(low, min(len(self._values), high))
        basis = f"{self.total} messages" + (f" of {sure} ranks" if sure and sure > 1 else "")
        proof = "the log has messages of skipped steps" if self.total else None
        count = Overflows(low, high, steps, min(self._lead, low), basis, sure, proof=proof)
        if self.together > 1:
            count = count.with_note(f"up to {self.together} messages on one line: several ranks print into the log")
        if low != high:
            count = count.with_note("copies from other ranks cannot be distinguished from repeated overflows")
        return count

    def _bounds(self, ranks: int | None) -> tuple[int, int, int | None]:
        """Return the fewest and the most overflows, and the number of ranks if it is certain."""
        if self.total == 0:
            return 0, 0, ranks
        if ranks is not None:
            return self._rounded(ranks, ranks)
        if sum(self._values.values()) != self.total:  # messages without a value
            if self._alone == self.total and not self._values:  # steps stand between all of them
                return self.total, self.total, 1
            return self._rounded(self.together, self.total)
        return self._from_visits() if self._placed else self._from_values()

    def _rounded(self, fewest: int, most: int) -> tuple[int, int, int | None]:
        low = max(1, self.total // most)
        return low, -(-self.total // fewest), most if fewest == most else None

    def _from_visits(self) -> tuple[int, int, int | None]:
        """Return bounds from the sizes of visits; at the lowest value, consecutive overflows share a visit."""
        above = Counter({size: number for (is_lowest, size), number in self._sizes.items() if not is_lowest})
        whole: Counter[int] = Counter()
        for (_, size), number in self._sizes.items():
            whole[size] += number
        at_floor = self._lowest is not None and self._lowest <= 1.0
        if not above and (len(whole) > 1 or max(whole) > 1) and at_floor:
            return self._rounded(1, self.total)
        trusted = above or whole
        size, often = max(trusted.items(), key=lambda item: (item[1], -item[0]))
        if 2 * often < sum(trusted.values()):
            return -(-self.total // max(whole)), _most(min(trusted), whole), None
        low = self.total // size if often > 1 else min(self.total // size, self._sure)
        if self._alone == self.total:  # steps stand between all of them: each may be an overflow, or of a late rank
            return low, self.total, size if low == self.total else None
        return low, _most(size, whole), size  # more if some messages are missing

    def _from_values(self) -> tuple[int, int, int | None]:
        """Return bounds from the copies of each value, for a log without steps."""
        counts = Counter(self._values.values())
        common = gcd(*counts)
        size, often = max(counts.items(), key=lambda item: (item[1], -item[0]))
        if often >= _SURE and 2 * often >= sum(counts.values()):
            return self.total // size, _most(size, counts), size
        if common == 1:  # one rank, unless some messages of several are missing
            is_one = counts[1] > 1 or self.total == 1
            return self.total if is_one else len(self._values), self.total, 1 if is_one else None
        return self._rounded(common if counts[common] >= _SURE else 1, common)


def _most(ranks: int, sizes: Counter[int]) -> int:
    """Return the overflows if each visit is at least one, and one more per full set of ranks."""
    return sum(-(-size // ranks) * number for size, number in sizes.items())
