"""The number of steps of a run, from the step fields in its log."""

from __future__ import annotations

from itertools import islice
from operator import le, sub

from .occurrences import skew_of
from .shapes import Shapes
from .step_fields import BARS, Field, Kind, Row, Spot, every_spot, is_bare, last_spots, line_spot

_LOOK = 1 << 14
_GAP = 1 << 10
"""Shorter text between two messages is looked up by its shape."""

_WHOLE = 1 << 21
"""The number of bytes at the start that are read line by line."""

_MOST_KINDS = 256
_OFTEN = 20


def _last_of(text: bytes) -> list[Spot]:
    return last_spots(text, 0, len(text))


class _Track:
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
        """Take fields in order; those that only go on need no look at each."""
        taken = 0
        while self.second is None and taken < len(rows):
            self.take(Field(self.first.kind, *rows[taken]))
            taken += 1
        rows = rows[taken:]
        if not rows:
            return
        last = (self.last.epoch, self.last.step)
        same_epoch = rows[0][0] == rows[-1][0] == last[0]
        if (
            rows[0][:2] >= last
            and (same_epoch or all(row[2] for row in rows))
            and all(map(le, rows, islice(rows, 1, None)))
        ):
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


class StepFields:
    """Step fields of all kinds; the most complete kind is used.

    The first 2 MiB are read line by line, then the end of each window and the text between overflow messages:
    a linear scan for any share of messages.
    """

    def __init__(self) -> None:
        self.seen = 0
        """Fields read so far."""
        self._kinds: dict[Kind, _Track] = {}
        self._read = self._upto = 0
        self._at: int | None = None
        self._main: Kind | None = None
        self.since: int | None = None
        """Where a run of messages begins that :meth:`sweep` took at once; it ends at :attr:`at`."""
        self._is_bare = False
        """Whether the last long text had no step."""
        self._lines = Shapes(line_spot)
        self._gaps = Shapes(every_spot)
        """Where short texts between messages show steps."""

    @property
    def at(self) -> int | None:
        """The last step printed before the current place; None if none was printed."""
        return self._at

    @property
    def spacing(self) -> int:
        """The distance between step fields; 0 if unknown."""
        track = self._kinds.get(self._main) if self._main else None
        return track.spacing if track else 0

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
            self._take(spot.read(data))

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
        """Take the fields of the texts between equal messages at once, if the step goes on by little in each.

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

    def _moved(self, gaps: list[bytes], found: list[list[Spot]]) -> bool:
        """Take the fields if the main counter goes on by little in each text, and no counter is new."""
        main = self._main
        track = self._kinds.get(main) if main else None
        if track is None or track.second is None or self._at is None:
            return False
        rows: dict[Kind, list[Row]] = {}
        at, base = self._at, min(1, track.first.epoch)
        places = [at]
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
                    return False
            places.append(at)
        moves = list(map(sub, islice(places, 1, None), places))
        if min(moves) < 0 or max(moves) > skew_of(track.spacing):
            return False
        for kind, some in rows.items():
            self.take_rows(kind, some)
        self.since = places[1]
        return True

    def take_rows(self, kind: Kind, rows: list[Row]) -> list[int]:
        """Take fields of one kind, in order; returns the step of each, or the last one printed if others count."""
        later = rows
        if kind not in self._kinds:
            self._take(Field(kind, *rows[0]))
            later = rows[1:]
        track = self._kinds.get(kind)
        if track and later:
            track.take_rows(later)
        self.seen += len(later)
        if not track or kind != self._main:
            return [self._at or 0] * len(rows)
        base = min(1, track.first.epoch)
        ats = [max(0, (epoch - base) * length + step) for epoch, step, length in rows]
        self._at = ats[-1]
        return ats

    def skip(self, end: int) -> None:
        """Skip the text before ``end``: messages, which have no step."""
        self._upto = max(self._upto, end)

    def finish(self, data: bytes, limit: int) -> None:
        """Read the rest of a window; the next call is for the next window."""
        self.advance(data, limit)
        if self._read < _WHOLE <= self._read + limit:
            self._gaps = Shapes(_last_of)
        self._read += limit
        self._upto = 0

    def _take(self, found: Field) -> None:
        self.seen += 1
        track = self._kinds.get(found.kind)
        if track:
            track.take(found)
        elif len(self._kinds) < _MOST_KINDS:
            self._kinds[found.kind] = track = _Track(found)
            self._main = None
        else:
            return
        if self._main is None:
            self._main = self._best()
        if found.kind == self._main:
            self._at = max(0, track.at(found))

    def _best(self) -> Kind | None:
        """Prefer epochs with a length, then named fields, then bars; within each, the most frequent field."""
        kinds = self._kinds
        moving = [kind for kind in kinds if kinds[kind].second is not None]
        usable = [kind for kind in moving if not kinds[kind].broken] or moving or list(kinds)

        def telling(kind: Kind) -> tuple[int, int, int]:
            track = kinds[kind]
            return kind[0], track.seen, track.last.step

        return max(usable, key=telling, default=None)

    @property
    def total(self) -> int | None:
        """The number of steps; None if the fields do not show it."""
        best = self._best()
        return self._kinds[best].total if best else None

    @property
    def note(self) -> str | None:
        """A note if another counter of the log disagrees; else None."""
        best, total = self._best(), self.total
        if best is None or total is None:
            return None
        for kind, track in self._kinds.items():
            other = track.total
            if kind == best or kind[0] != best[0] or track.seen < _OFTEN or not other:
                continue
            if abs(other - total) > max(1, total // 10):
                return f"steps are `{_shown(best)}` ({total}); `{_shown(kind)}` shows {other}"
        return None


def _shown(kind: Kind) -> str:
    return kind[1].decode("ascii", "replace") or "Epoch: [e][i/n]"
