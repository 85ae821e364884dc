"""Counters of steps in a log, by kind of field: where each is, and which one counts."""

from __future__ import annotations

from .columns import Table
from .step_fields import Field, Kind, Row, Spot, rows_at
from .track import Track

_MOST_KINDS = 256
_OFTEN = 20


class StepCounters:
    """A counter for each kind of step field; the most complete kind is used."""

    def __init__(self) -> None:
        self.seen = 0
        """Fields read so far."""
        self._kinds: dict[Kind, Track] = {}
        self._at: int | None = None
        self._main: Kind | None = None

    @property
    def at(self) -> int | None:
        """The last step printed before the current place; None if none was printed."""
        return self._at

    @property
    def spacing(self) -> int:
        """The distance between step fields; 0 if unknown."""
        track = self._kinds.get(self._main) if self._main else None
        return track.spacing if track else 0

    def take(self, found: Field) -> None:
        self.seen += 1
        track = self._kinds.get(found.kind)
        if track:
            track.take(found)
        elif len(self._kinds) < _MOST_KINDS:
            self._kinds[found.kind] = track = Track(found)
            self._main = None
        else:
            return
        if self._main is None:
            self._main = self._best()
        if found.kind == self._main:
            self._at = max(0, track.at(found))

    def take_table(self, table: Table[Spot]) -> list[int]:
        """Take the fields of lines, which are of one kind, and plain; returns what :meth:`take_rows` returns."""
        kind, epoch, _, length = table.kinds[0]
        if kind not in self._kinds or epoch or length:
            return self.take_rows(kind, rows_at(table))
        steps = list(map(int, table.column(2)))
        self._kinds[kind].take_steps(steps)
        self.seen += len(steps)
        if kind != self._main:
            return [self._at or 0] * len(steps)
        self._at = steps[-1]
        return steps

    def take_rows(self, kind: Kind, rows: list[Row]) -> list[int]:
        """Take fields of one kind, in order; returns the step of each, or the last one printed if others count."""
        later = rows
        if kind not in self._kinds:
            self.take(Field(kind, *rows[0]))
            later = rows[1:]
        track = self._kinds.get(kind)
        if track and later:
            track.take_rows(later)
        self.seen += len(later)
        if not track or kind != self._main:
            return [self._at or 0] * len(rows)
        base = min(1, track.first.epoch)
        ats = [(epoch - base) * length + step for epoch, step, length in rows]
        if min(ats) < 0:
            ats = [max(0, at) for at in ats]
        self._at = ats[-1]
        return ats

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
