"""Count overflowed steps from messages that every rank prints once per step."""

from __future__ import annotations

from collections import Counter
from math import gcd

from .count import Count
from .visits import Visits, skew_of

_MOST_VALUES = 4096
_SURE = 3


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
        self._visits = Visits()
        self._placed = False

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
        return self._visits.add(value, step if since is None else since, step, copies, skew_of(spacing))

    def add_rows(
        self, values: list[float], ats: list[int | None], spacing: int, rises: list[bool] | None = None
    ) -> list[bool]:
        """Add messages in order, each of one copy with a value that is a number.

        :param ats: the last step before each message, or None for each
        :param rises: whether the scale rose before each, as :meth:`rose` notes
        :returns: what :meth:`add` returns for each
        """
        self.total += len(values)
        is_placed = ats[-1] is not None
        self._placed |= is_placed
        known = self.values
        printed = values if len(known) < _MOST_VALUES else filter(known.__contains__, values)
        for value, copies in Counter(printed).items():
            self._printed(value, copies)
        steps = [at or 0 for at in ats] if is_placed else [0] * len(ats)
        return self._visits.add_rows(values, steps, skew_of(spacing), rises)

    def _printed(self, value: float, copies: int) -> None:
        if value in self.values or len(self.values) < _MOST_VALUES:
            self.values[value] = self.values.get(value, 0) + copies

    def rose(self) -> None:
        """Note that the scale grew: later overflows are not calibration, and an earlier value is a new overflow."""
        self._visits.rose()

    def count(self, steps: int | None, ranks: int | None, placed: bool = False) -> Count:
        """:param ranks: the number of ranks that print; None to derive it
        :param placed: whether the log prints steps, even if only after the messages
        """
        self._placed |= placed
        self._visits.end()
        low, high, sure = self._bounds(ranks)
        basis = f"{self.total} messages" + (f" of {sure} ranks" if sure and sure > 1 else "")
        count = Count(
            low,
            high,
            steps,
            min(self._visits.lead, low),
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
        above = Counter({size: number for (lowest, size), number in self._visits.sizes.items() if not lowest})
        whole: Counter[int] = Counter()
        for (_, size), number in self._visits.sizes.items():
            whole[size] += number
        trusted = above or whole
        if not above and (len(whole) > 1 or max(whole) > 1) and self._is_floor():
            return self._rounded(1, self.total)
        size, often = max(trusted.items(), key=lambda item: (item[1], -item[0]))
        if 2 * often < sum(trusted.values()):
            return -(-self.total // max(whole)), self._overflows(min(trusted), whole), None
        return self.total // size, self._overflows(size, whole), size  # more if some messages are missing

    def _is_floor(self) -> bool:
        return self._visits.lowest is not None and self._visits.lowest <= 1.0

    @staticmethod
    def _overflows(size: int, whole: Counter[int]) -> int:
        """Return the overflows if each visit is at least one, and one more per full set of ranks."""
        return sum(-(-each // size) * number for each, number in whole.items())

    def _from_values(self) -> tuple[int, int, int | None]:
        """Return bounds from the copies of each value, for a log without steps."""
        counts = Counter(self.values.values())
        common = gcd(*counts)
        size, often = max(counts.items(), key=lambda item: (item[1], -item[0]))
        if often >= _SURE and 2 * often >= sum(counts.values()):
            return self.total // size, self._overflows(size, counts), size
        if common == 1:
            return self.total, self.total, 1
        return self._rounded(common if counts[common] >= _SURE else 1, common)
