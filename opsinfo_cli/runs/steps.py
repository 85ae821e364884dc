"""The step fields of a log, found window by window."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, compress, islice
from operator import sub

from .columns import Table, integers, kinds_of
from .shapes import Shapes
from .sheet import Sheet
from .step_counters import StepCounters
from .step_fields import (
    FIELDS,
    NEAR,
    Field,
    Kind,
    Row,
    Spot,
    every_spot,
    has_none,
    is_bare,
    last_spots,
    line_spot,
    rows_at,
    steps_at,
)
from .visits import skew_of

_LOOK = 1 << 14
_GAP = 1 << 10
"""Shorter text between two messages is looked up by its shape."""

_WHOLE = 1 << 21
"""The number of bytes at the start that are read line by line."""

_Rows = tuple[dict[Kind, list[Row]], list[int]]
"""Fields by kind, and steps."""


def _last_of(text: bytes) -> list[Spot]:
    return last_spots(text, 0, len(text))


class StepFields(StepCounters):
    """The step fields of a log, found in its windows.

    The first 2 MiB are read line by line, then the end of each window and the text between overflow messages:
    a linear scan for any share of messages.
    """

    def __init__(self) -> None:
        super().__init__()
        self._read = self._upto = 0
        self.since: int | None = None
        """Where a run of messages begins that :meth:`sweep` took at once; it ends at :attr:`at`."""
        self._is_bare = False
        """Whether the last long text had no step."""
        self._lines = Shapes(line_spot)
        self._gaps = Shapes(every_spot)
        """Where short texts between messages show steps."""

    def advance(self, data: bytes, end: int) -> None:
        """Read step fields up to ``end``, from the ``end`` of the previous call for this window."""
        start = self._upto
        if end <= start:
            return
        self._upto = end
        if end - start <= _GAP:
            data = data[start:end]
            spots = self._gaps.of(data)
        elif self._read < _WHOLE:
            data = data[start:end]
            spots = every_spot(data, self._lines.of)
        else:
            spots = self._last(data, start, end)
        for spot in spots:
            self.take(spot.read(data))

    def _last(self, data: bytes, start: int, end: int) -> list[Spot]:
        """Return where the last steps are. After a text without steps, the shapes of the next one are asked first."""
        find = self._lines.of
        if self._is_bare and is_bare(data[start:end], find):
            return []
        near = max(start, end - _LOOK)
        spots = last_spots(data, near, end, find) or last_spots(data, start, near, find)
        self._is_bare = not spots
        return spots

    def sweep(self, gaps: list[bytes], start: int, end: int) -> bool:
        """Take the fields of the texts between equal messages at once, if the step grows by little in each.

        :param start: where the first text begins
        :param end: where the last message ends
        :returns: whether they were taken; if not, :meth:`advance` takes them one by one
        """
        if start < self._upto or max(map(len, gaps)) > _GAP:
            return False
        same = gaps.count(gaps[0]) == len(gaps)
        found = [self._gaps.of(gaps[0])] * len(gaps) if same else self._gaps.of_all(gaps, between=b"\0")
        if any(found) and not self._moved(gaps, found):
            return False
        if not any(found):
            self.since = self._at
        self._upto = end
        return True

    def has_none(self, kinds: Collection[bytes]) -> bool:
        """Whether no line of some shapes has a step. False too if there are too many to tell."""
        return has_none(kinds, self._lines.of)

    def sweep_lines(self, lines: list[bytes], shapes: list[bytes], first: int, most: int, start: int, end: int) -> bool:
        """Take the fields of whole lines between equal messages at once, as :meth:`sweep` does.

        :param shapes: of the lines
        :param first: the number of lines between the first two messages
        :param most: the greatest number of lines between two messages
        """
        if start < self._upto:
            return False
        found = self._lines.of_all(lines, shapes)
        spots = [spot for spot in found if spot]
        if not spots:
            self.since = self._at
        elif not self._take_column(Table.of(list(compress(lines, found)), spots), sum(map(bool, found[:first])), most):
            return False
        self._upto = end
        return True

    def take_between(self, sheet: Sheet, chosen: list[bool]) -> list[int | None] | None:
        """Take the fields of the lines of a window that are not chosen, at once.

        :param chosen: whether each line is a message; their shapes have no step
        :returns: the last step before each message; None if the lines must be read one by one
        """
        find = self._lines.of
        if self._upto >= sheet.limit:
            return [self._at] * chosen.count(True)
        if self._upto or sheet.kinds is None or max(map(len, sheet.kinds)) > NEAR:
            return None
        spots = {shape: find(shape) for shape in sheet.kinds}
        known = [spot for spot in spots.values() if spot]
        if not known:
            self._upto = sheet.limit
            return [self._at] * chosen.count(True)
        shown = list(map(spots.get, sheet.shapes))
        table = Table(list(compress(sheet.lines, shown)), known, lambda: [spot for spot in shown if spot])
        if not self._is_usual(known[0].kind) or not _is_of_one_kind(table):
            return None
        self._upto = sheet.limit
        ats = [self._at, *self.take_table(table)]
        before = compress(accumulate(map(bool, shown)), chosen)
        return list(map(ats.__getitem__, before))

    def _is_usual(self, kind: Kind) -> bool:
        """Whether a counter was read before, and the main one twice or more."""
        main = self._kinds.get(self._main) if self._main else None
        return kind in self._kinds and main is not None and main.second is not None

    def _take_column(self, table: Table[Spot], first: int, most: int) -> bool:
        """Take the fields of lines as :meth:`_take_moved` does, those of the main counter in one epoch at once."""
        kind = table.kinds[0].kind
        track = self._kinds.get(kind)
        column = steps_at(table) if kind == self._main else None
        if column is None or track is None or track.second is None or self._at is None:
            return self._take_moved(self._rows_of_one_kind(table), first, most)
        epoch, steps, length = column
        moves = list(map(sub, steps, (self._at - track.at(Field(kind, epoch, 0, length)), *steps)))
        if min(moves) < 0 or most * max(moves) > skew_of(track.spacing):
            return False
        self.since = self._at + sum(moves[:first])
        self.seen += len(steps)
        track.take_rising((epoch, steps[0], length), (epoch, steps[-1], length), len(steps))
        self._at = track.at(Field(kind, epoch, steps[-1], length))
        return True

    def _moved(self, gaps: list[bytes], found: list[list[Spot]]) -> bool:
        """Take the fields of texts if :meth:`_take_moved` takes them."""
        if self._main is None:
            return False
        rows = None
        if all(len(each) == 1 for each in kinds_of(found)):
            rows = self._rows_of_one_kind(Table.of(gaps, [spot for (spot,) in found]))
        return self._take_moved(rows or self._rows_of_kinds(gaps, found, self._main), 1, 1)

    def _take_moved(self, found: _Rows | None, first: int, most: int) -> bool:
        """Take fields if the main counter grows by little in each text, and no counter is new.

        :param first: the number of steps after which the first message is
        :param most: the greatest number of steps between two messages
        """
        track = self._kinds.get(self._main) if self._main else None
        if found is None or track is None or track.second is None or self._at is None:
            return False
        rows, places = found
        places = [self._at, *places]
        moves = list(map(sub, islice(places, 1, None), places))
        if min(moves) < 0 or most * max(moves) > skew_of(track.spacing):
            return False
        for each, some in rows.items():
            self.take_rows(each, some)
        self.since = places[first]
        return True

    def _rows_of_one_kind(self, table: Table[Spot]) -> _Rows | None:
        """Return what :meth:`_rows_of_kinds` returns; None if each text must be read."""
        kind = table.kinds[0].kind
        if kind not in self._kinds or any(spot.kind != kind or not spot.is_plain for spot in table.kinds):
            return None
        rows = rows_at(table)
        if kind != self._main:
            return {kind: rows}, [self._at or 0] * len(rows)
        base = min(1, self._kinds[kind].first.epoch)
        return {kind: rows}, [(epoch - base) * length + step for epoch, step, length in rows]

    def _rows_of_kinds(self, gaps: list[bytes], found: list[list[Spot]], main: Kind) -> _Rows | None:
        """Return the fields of some texts by kind, and the step after each text; None if one is of a new kind."""
        rows: dict[Kind, list[Row]] = {}
        at, base = self._at or 0, min(1, self._kinds[main].first.epoch)
        places = []
        for gap, spots in zip(gaps, found, strict=True):
            for spot in spots:
                kind, epoch, step, length = spot.read(gap)
                if kind == main:
                    at = (epoch - base) * length + step
                if kind in rows:
                    rows[kind].append((epoch, step, length))
                elif kind in self._kinds:
                    rows[kind] = [(epoch, step, length)]
                else:
                    return None
            places.append(at)
        return rows, places

    def skip(self, end: int) -> None:
        """Skip the text before ``end``: messages, which have no step."""
        self._upto = max(self._upto, end)

    def finish(self, sheet: Sheet) -> None:
        """Read the rest of a window; the next call is for the next window."""
        limit = sheet.limit
        if sheet.kinds is None or self._upto or limit <= _GAP or not self._finish_by_shape(sheet, sheet.kinds):
            self.advance(sheet.data, limit)
        if self._read < _WHOLE <= self._read + limit:
            self._gaps = Shapes(_last_of)
        self._read += limit
        self._upto = 0

    def _finish_by_shape(self, sheet: Sheet, kinds: Collection[bytes]) -> bool:
        """Take what :meth:`advance` takes of a window whose lines have few shapes; returns whether it was taken."""
        find = self._lines.of
        whole = self._read < _WHOLE
        if not whole and self._is_bare and has_none(kinds, find):
            return True
        if max(map(len, kinds)) > NEAR or any(b"\r" in shape for shape in kinds):
            return False
        last = slice(0 if whole else -FIELDS - 1, -1)  # without what follows the last line end
        lines, shapes = sheet.lines[last], sheet.shapes[last]
        if not whole and (len(lines) < FIELDS or sum(map(len, lines)) + FIELDS > _LOOK):
            return False
        spots = {shape: find(shape) for shape in set(shapes)}
        known = [spot for spot in spots.values() if spot]
        table = Table(lines, known, lambda: [spot for spot in map(spots.get, shapes) if spot])
        if len(known) < len(spots) or not _is_of_one_kind(table):
            return False
        self._is_bare = False
        self.take_table(table)
        return True


def _is_of_one_kind(table: Table[Spot]) -> bool:
    """Whether all fields are of one kind, for any digits."""
    first = table.kinds[0]
    if len({(spot.kind, spot.is_plain, spot.epoch is None) for spot in table.kinds}) > 1:
        return False
    return first.is_plain or (first.epoch is not None and 0 not in integers(table.column(3)))
