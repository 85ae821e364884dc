"""The lines of a window that have messages, and their places."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import compress, count, islice, pairwise
from operator import not_, or_, sub

from ..sheet import Sheet
from ..steps import StepFields

_LONGEST = 1 << 10
_FEW = 4


class MessageLines:
    """The lines of a window that have a message."""

    def __init__(self, kinds: set[bytes], sheet: Sheet) -> None:
        """:param kinds: the shapes of lines with a message"""
        self.sheet = sheet
        self.texts: list[bytes]
        """Each line with a message."""
        self.chosen: list[bool]
        """Whether each line of the window has a message."""
        if sheet.is_all_of(kinds):
            self.texts = sheet.lines[:-1]
            self.chosen = [*[True] * len(self.texts), False]
            return
        copied = sheet.copied_lines_of(kinds)
        self.chosen = list(map(copied.__contains__, sheet.lines) if copied else map(kinds.__contains__, sheet.shapes))
        self.texts = list(compress(sheet.lines, self.chosen))

    @cached_property
    def places(self) -> list[int]:
        """The number of each line with a message."""
        return list(compress(count(), self.chosen))

    def parted(self, firsts: list[bool]) -> list[bool]:
        """Return whether each message is the first of equal ones without other lines between them.

        :param firsts: whether each does not equal the one before it
        """
        if self.places[-1] - self.places[0] < len(self.places):
            return firsts
        apart = map(sub, islice(self.places, 1, None), self.places)
        return [True, *map(or_, islice(firsts, 1, None), map((1).__lt__, apart))]

    def runs(
        self, first: int, stop: int, at_once: bool, steps: StepFields | None, place: LinePlace | None
    ) -> Iterator[int]:
        """Yield the number of messages of each run among equal ones, with ``steps`` at its place."""
        if steps is None:
            yield stop - first
            return
        if place:
            place.advance(self.places[first], self.places[first - 1] if first else None)
        if self.places[stop - 1] - self.places[first] < stop - first:
            yield stop - first
            return
        gaps = map(sub, islice(self.places, first + 1, stop), islice(self.places, first, None))
        breaks = compress(count(first + 1), map((1).__lt__, gaps))
        second = next(breaks, stop)
        yield second - first
        if at_once and place is None:
            yield stop - second
            return
        later = [second, *breaks]
        if at_once and place and len(later) >= _FEW and self._swept(second, stop, steps, place):
            yield stop - second
            steps.since = None
            return
        for begin, end in pairwise([*later, stop]):
            if place:
                place.advance(self.places[begin], self.places[begin - 1])
            yield end - begin

    def _swept(self, second: int, stop: int, steps: StepFields, place: LinePlace) -> bool:
        """Whether the steps before the messages from ``second`` on were taken at once."""
        begin, end = self.places[second - 1], self.places[stop - 1]
        most = max(map(sub, islice(self.places, second, stop), islice(self.places, second - 1, None))) - 1
        others = list(map(not_, self.chosen[begin:end]))
        lines = list(compress(self.sheet.lines[begin:end], others))
        if most * (max(map(len, lines)) + 1) >= _LONGEST:
            return False
        shapes = list(compress(self.sheet.shapes[begin:end], others))
        in_first = self.places[second] - begin - 1
        return steps.sweep_lines(lines, shapes, in_first, most, *place.ends_of(begin, end))


class LinePlace:
    """Brings the steps to the place of a message; knows where in a window its lines begin."""

    def __init__(self, sheet: Sheet, steps: StepFields) -> None:
        self._sheet = sheet
        self._steps = steps
        self._line = self._begin = 0

    def _begin_of(self, line: int) -> int:
        """Return where a line begins that is not before the last one asked for."""
        between = self._sheet.lines[self._line : line]
        self._begin += sum(map(len, between)) + len(between)
        self._line = line
        return self._begin

    def end_of(self, line: int) -> int:
        return self._begin_of(line) + len(self._sheet.lines[line])

    def ends_of(self, first: int, last: int) -> tuple[int, int]:
        """Return the ends of two lines. The first one is not before the last line asked for; the next may follow it."""
        end = self.end_of(first)
        between = self._sheet.lines[first + 1 : last + 1]
        return end, end + sum(map(len, between)) + len(between)

    def skip(self, line: int) -> None:
        self._steps.skip(self.end_of(line))

    def advance(self, line: int, before: int | None) -> None:
        """Read the steps up to a message.

        :param before: the line of the message before it
        """
        if line == 0 or before == line - 1:
            return
        if before is not None and before >= self._line:
            self.skip(before)
        self._steps.advance(self._sheet.data, self._begin_of(line))
