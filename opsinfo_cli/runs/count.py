"""How many steps overflowed: what each kind of log line is counted by."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import gcd

__all__ = ["Count", "Counters", "Flags", "Occurrences"]

_MOST_VALUES = 4096
_SURE = 3


@dataclass(frozen=True)
class Count:
    """Overflowed steps of a run, between ``low`` and ``high``: the same where the log tells.

    :param calibrating: those of the first descent of the scale, which starts too high on purpose
    :param steps: all steps, None where the log does not tell
    :param basis: what was counted, in words
    :param doubt: why it is no measurement, where it is none
    """

    low: int
    high: int
    steps: int | None
    calibrating: int
    basis: str
    ranks: int | None = None
    doubt: str | None = None


class Occurrences:
    """Messages printed once per overflow on every rank that writes to the log.

    A step is counted once. The number of ranks is read off the values: on its way down the scale takes each value
    once, so each is printed once by every rank. Counting values rather than runs of equal ones holds where a
    buffered rank prints late.
    """

    def __init__(self) -> None:
        self.total = 0
        self.values: dict[float, int] = {}
        self._lowest: float | None = None
        self._strict = self._loose = self._at = 0
        self._open = self._strict_open = True

    def add(self, value: float | None, at: int | None = None, spacing: int = 0) -> None:
        """:param value: the scale after it, which tells steps apart
        :param at: the step printed last before it, ``spacing`` being how far those are apart
        """
        self.total += 1
        if (at or 0) > self._at + max(1, spacing):  # clean steps lie between: the first descent is over
            self._open = False
        self._at = max(self._at, at or 0)
        if value is None or value != value:
            return
        if value in self.values or len(self.values) < _MOST_VALUES:
            self.values[value] = self.values.get(value, 0) + 1
        if not self._open:
            return
        if self._lowest is None or value < self._lowest:
            self._lowest = value
            self._loose += 1
            self._strict += self._strict_open
        elif value == self._lowest:
            self._strict_open = False
        else:
            self._open = False

    def rose(self) -> None:
        """The scale grew: what comes now is no calibration."""
        self._open = False

    def count(self, steps: int | None, ranks: int | None) -> Count:
        low_ranks, high_ranks = (ranks, ranks) if ranks else self._ranks()
        low, high = -(-self.total // high_ranks), -(-self.total // low_ranks)
        sure = high_ranks if low_ranks == high_ranks else None
        calibrating = self._strict if sure == 1 else self._loose
        basis = f"{self.total} messages" + (f" of {sure} ranks" if sure and sure > 1 else "")
        return Count(low, high, steps, min(calibrating, low), basis, sure)

    def _ranks(self) -> tuple[int, int]:
        """The fewest and the most ranks that fit."""
        counts = list(self.values.values())
        if self.total == 0:
            return 1, 1
        if not counts or sum(counts) != self.total:
            return 1, self.total
        common = gcd(*counts)
        if common == 1 and min(counts) > 1 and counts.count(min(counts)) >= _SURE:
            common = min(counts)  # the log was cut while ranks were printing
        if common == 1:
            return 1, 1
        return (common, common) if counts.count(common) >= _SURE else (1, common)


class Flags:
    """Lines that say of one step whether it overflowed, each rank its own."""

    _REMEMBERED = 4096

    def __init__(self) -> None:
        self.printed = self.overflows = 0
        self.unnumbered = 0
        self.first: int | None = None
        self.last: int | None = None
        self._grid = 0
        self._clean: int | None = None
        self._off_grid: list[int] = []
        self._leading = 0
        self._in_lead = True
        self._recent: OrderedDict[int, bool] = OrderedDict()

    def add(self, step: int | None, overflow: bool) -> bool:
        """:returns: whether the step is new, not another rank's word on one already known"""
        if step is None:
            self.unnumbered += 1
        elif self._known(step, overflow):
            return False
        else:
            self._place(step, overflow)
        self.printed += 1
        self.overflows += overflow
        if not overflow:
            self._in_lead = False
        self._leading += self._in_lead
        return True

    def _known(self, step: int, overflow: bool) -> bool:
        if step not in self._recent:
            self._recent[step] = overflow
            if len(self._recent) > self._REMEMBERED:
                self._recent.popitem(last=False)
            return False
        if overflow and not self._recent[step]:  # a rank that overflowed alone
            self._recent[step] = True
            self.overflows += 1
        return True

    def _place(self, step: int, overflow: bool) -> None:
        self.first = step if self.first is None else min(self.first, step)
        self.last = step if self.last is None else max(self.last, step)
        if overflow:
            if len(self._off_grid) < self._REMEMBERED:
                self._off_grid.append(step)
        else:
            if self._clean is not None:
                self._grid = gcd(self._grid, abs(step - self._clean))
            self._clean = step

    def count(self, steps: int | None, ranks: int | None) -> Count:
        calibrating = min(self._leading, self.overflows)
        if self.unnumbered:
            total = steps or self.unnumbered // (ranks or 1)
            over = -(-self.overflows // (ranks or 1))
            basis = f"{self.unnumbered} lines, one a step"
            return Count(over, over, total, calibrating, basis, ranks)
        if self.first is None or self.last is None:
            return Count(0, 0, steps, 0, "no step")
        begun = 0 if 0 < self.first <= max(1, self._grid) else self.first - 1
        spanned = steps or self.last - begun
        basis = f"flags of {self.printed} steps, {self.first} to {self.last}"
        if self.printed >= spanned or self._every_overflow_printed():
            return Count(self.overflows, self.overflows, spanned, calibrating, basis)
        doubt = f"sampled: {self.overflows} of {self.printed} printed steps overflowed, of {spanned} steps made"
        return Count(self.overflows, spanned, spanned, calibrating, basis, doubt=doubt)

    def _every_overflow_printed(self) -> bool:
        """Whether overflows are printed beside the regular lines, as YOLOX does: then none is missing."""
        if self._grid < 2 or self._clean is None:
            return False
        return any((step - self._clean) % self._grid for step in self._off_grid)


class Counters:
    """Lines with a counter of skipped steps, cumulative (DeepSpeed) or reset at each line (Megatron).

    A log that begins in the middle of a run, after a resume, is counted from its first line on.
    """

    def __init__(self, cumulative: bool) -> None:
        self.cumulative = cumulative
        self.lines = 0
        self._steps = self._overflows = self._leading = 0
        self._in_lead = True
        self._first: tuple[int, int] | None = None
        self._at: tuple[int, int] | None = None
        self._spacing = 0

    def add(self, step: int, skipped: int) -> bool:
        """:returns: whether the line is new, not a rank's copy of the one before"""
        if self._at is not None and step == self._at[0]:
            return False
        self.lines += 1
        if self._at is None:
            self._first = (step, skipped)
        elif step < self._at[0]:  # a restart appended to the same file
            self._settle(self._spacing)
            self._first = (step, skipped)
        else:
            self._spacing = step - self._at[0]
            self._settle(self._spacing)
            self._interval(step - self._at[0], skipped - self._at[1] if self.cumulative else skipped, skipped)
        self._at = (step, skipped)
        return True

    def _settle(self, spacing: int) -> None:
        """Count the first line, now that the distance of lines tells what it covers."""
        if self._first is None:
            return
        (step, skipped), self._first = self._first, None
        resumed = 0 < spacing < step
        if not resumed:
            self._interval(step, skipped, skipped)
        elif not self.cumulative:
            self._interval(spacing, skipped, skipped)

    def _interval(self, made: int, over: int, skipped: int) -> None:
        over = min(made, over if over >= 0 else skipped)  # below zero: the counter began anew
        self._steps += made
        self._overflows += over
        if self._in_lead:
            self._leading += over
            self._in_lead = over >= made > 0

    def count(self, steps: int | None, ranks: int | None) -> Count:
        self._settle(self._spacing)
        kind = "cumulative" if self.cumulative else "reset at each line"
        basis = f"{self.lines} lines with a counter of skipped steps, {kind}"
        total = steps or self._steps
        over = min(self._overflows, total)
        return Count(over, over, total, min(self._leading, over), basis)
