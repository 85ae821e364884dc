"""One counter of a log: its first, second and last value, from which the number of steps follows."""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter

from .step_fields import BARS, Field, Row


class Track:
    """The first, second and last value of one kind of field, such as ``iter`` or ``Epoch: [e][i/n]``."""

    def __init__(self, first: Field) -> None:
        self.first = self.last = first
        self.second: int | None = None
        self.seen = 1
        self.broken = False

    def take(self, found: Field) -> None:
        self.seen += 1
        last = self.last
        if self.second is None and (found.epoch, found.step) != (self.first.epoch, self.first.step):
            self.second = self.at(found)
        if (found.epoch, found.step) < (last.epoch, last.step) and found.epoch <= last.epoch:
            self.broken |= last.step - found.step > max(8, last.step // 2)  # another rank may lag slightly
            return
        if found.epoch > last.epoch and not found.length and found.step < last.step:
            self.broken = True
        self.last = found

    def take_rows(self, rows: list[Row]) -> None:
        """Take fields in order; those that only grow are added at once."""
        taken = 0
        while self.second is None and taken < len(rows):
            self.take(Field(self.first.kind, *rows[taken]))
            taken += 1
        rows = rows[taken:]
        if not rows:
            return
        last = (self.last.epoch, self.last.step)
        same_epoch = rows[0][0] == rows[-1][0] == last[0]
        if rows[0][:2] >= last and (same_epoch or all(map(itemgetter(2), rows))) and sorted(rows) == rows:
            self.last = Field(self.first.kind, *rows[-1])
        elif max(rows)[:2] < last:
            self.broken |= last[1] - min(row[1] for row in rows) > max(8, last[1] // 2)
        elif len(rows) == 1:
            self.take(Field(self.first.kind, *rows[0]))
            return
        else:
            half = len(rows) // 2
            self.take_rows(rows[:half])
            self.take_rows(rows[half:])
            return
        self.seen += len(rows)

    def take_steps(self, steps: list[int]) -> None:
        """Take fields without an epoch, in order."""
        taken = 0
        while self.second is None and taken < len(steps):
            self.take(Field(self.first.kind, 0, steps[taken], 0))
            taken += 1
        later = steps[taken:]
        if not later:
            return
        self.seen += len(later)
        if not self.broken and (later[0] < self.last.step or sorted(later) != later):
            before = accumulate(later, max, initial=self.last.step)
            self.broken = any(high - step > max(8, high // 2) for high, step in zip(before, later, strict=False))
        self.last = Field(self.first.kind, 0, max(self.last.step, max(later)), 0)

    def take_rising(self, first: Row, last: Row, many: int) -> None:
        """Take fields of one epoch of which none is below the one before it; the second value is known."""
        self.take_rows([first])
        self.take_rows([last])
        self.seen += many - 2

    @property
    def spacing(self) -> int:
        return abs(self.second - self.at(self.first)) if self.second is not None else 0

    def at(self, found: Field) -> int:
        """Return the steps since the start of the first epoch, which is numbered 0 or 1."""
        return (found.epoch - min(1, self.first.epoch)) * found.length + found.step

    @property
    def total(self) -> int | None:
        """The number of steps; None if the fields restart without showing an epoch."""
        if self.broken:
            return None
        first, last = self.at(self.first), self.last
        if self.second is None:
            return first if self.first.kind[1].startswith(b"global") else None
        begun = 0 if first <= 2 * self.spacing else first - self.spacing  # otherwise the log begins after a resume
        from_zero = int(first == 0 and self.first.kind[0] != BARS)
        if last.length:
            return self.at(last) - last.step + min(last.step + from_zero, last.length) - begun
        return last.step + from_zero - begun
