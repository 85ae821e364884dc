"""Lines with a counter of skipped steps, cumulative (DeepSpeed) or reset at each line (Megatron)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from .count import Overflows
from .student_t import binomial_tail

_MOST_TRACKS = 16
_LIMIT, _BY_CHANCE = 0.005, 0.001


@dataclass
class _EngineTrack:
    """The lines of one engine, from one start on. ``step``, ``skipped`` and ``rest`` are those of its newest line.

    ``overflows``, ``steps``: of its settled lines; ``first``: its first line, until the next one shows how many steps
    it covers; ``leading``: overflows of the first descent; ``before``: those of the interval before, while all
    intervals so far belong to the first descent; ``lines``: how many there are; ``regular``: the greatest number of
    steps from each to the next: a counter that is reset covers no more; ``most``: what one of them has counted;
    ``after_first``: how far the second is from a first at 1.
    """

    step: int
    skipped: int
    rest: bytes
    first: tuple[int, int] | None
    used: int
    steps: int = 0
    overflows: int = 0
    leading: int = 0
    spacing: int = 0
    in_lead: bool = True
    before: int | None = None
    lines: int = 1
    regular: int = 0
    most: int = 1
    after_first: int = 0

    def covered(self, regular: int) -> int:
        """Return how many steps the lines certainly cover, if the counter is reset at each.

        :param regular: of all tracks
        """
        each = max(self.regular or regular, self.most)
        if not self.after_first:
            return min(self.steps, each * self.lines)
        return min(self.steps, each * (self.lines - 1) + (self.after_first >= each))

    def interval(self, made: int, overflows: int, skipped: int) -> None:
        overflows = min(made, overflows if overflows >= 0 else skipped)  # below zero: the counter was reset
        self.steps += made
        self.overflows += overflows
        if made and self.in_lead:
            half = 2 * overflows >= made
            self.in_lead = overflows > 0 and (half or self.before is None or overflows < self.before)
            self.leading += overflows if self.in_lead else 0
            self.before = overflows


class Counters:
    """Sums a counter. A log that begins after a resume is counted from its first line, but for a cumulative counter:
    what it counted before belongs to the run, unless more of the steps overflowed since.

    Two engines of one process, such as actor and critic, and two runs that write to one file, have a counter each:
    their lines take turns, or show one step twice. They are never added; the one with the largest share counts. After a
    restart the old counter does not go on, so its steps and those after it are added.
    """

    def __init__(self, cumulative: bool) -> None:
        self.cumulative = cumulative
        self.lines = 0
        self._tracks: list[_EngineTrack] = []
        self._newest: _EngineTrack | None = None
        self._is_same_step = False
        """Whether two lines with one step differed: the lines of the engines follow each other in one order."""
        self._turns = 0
        """How often a line continued a track after another track was begun."""
        self._dropped = _EngineTrack(0, 0, b"", None, 0)
        """The sum of old tracks."""
        self._dropped_covered = 0
        self._spacing = self._regular = 0
        self._begun = 0, 0
        """Steps and overflows of the run before a log that begins after a resume."""

    @property
    def last_step(self) -> int:
        """The step of the newest line, 0 if there is none."""
        return self._newest.step if self._newest else 0

    @property
    def engines(self) -> int:
        """The number of counters that the log has at the same time."""
        taking_turns = self._turns > 0 or (self._is_same_step and self.lines == len(self._tracks))
        return len(self._tracks) if taking_turns else 1

    @property
    def all_overflows(self) -> int:
        """The overflows of all engines."""
        return self._dropped.overflows + sum(track.overflows for track in self._tracks)

    def add(self, step: int, skipped: int, rest: bytes = b"") -> bool:
        """:param rest: what tells lines of two engines from copies of other ranks
        :returns: whether the line is new, not another rank's copy of the previous one
        """
        newest = self._newest
        if newest and newest.step == step and newest.rest == rest:
            return False
        if self._is_same_step and any(track.step == step and track.rest == rest for track in self._tracks):
            return False
        self.lines += 1  # of which each track keeps its newest as ``used``
        track = newest if newest and newest.step < step and len(self._tracks) == 1 else self._track_of(step)
        if track is None:
            self._is_same_step = self._is_same_step or (newest is not None and newest.step == step)
            for other in self._tracks:
                self._settle(other)
            self._newest = _EngineTrack(step, skipped, rest, (step, skipped), self.lines, most=max(1, skipped))
            self._tracks.append(self._newest)
            if len(self._tracks) > _MOST_TRACKS:
                old = self._tracks.pop(0)
                self._dropped.steps += old.steps
                self._dropped.overflows += old.overflows
                self._dropped.leading += old.leading
                self._dropped_covered += old.covered(self._regular)
            return True
        self._turns += track is not newest
        track.spacing = self._spacing = step - track.step
        self._settle(track)
        made = step - track.step
        is_first = track.lines == 1 and track.step <= 1  # printed besides the regular ones
        track.after_first = made if is_first else track.after_first
        track.regular, self._regular = (
            gcd(each, step if is_first else made) for each in (track.regular, self._regular)
        )
        track.lines += 1
        track.most = max(track.most, skipped)
        track.interval(made, skipped - track.skipped if self.cumulative else skipped, skipped)
        track.step, track.skipped, track.rest, track.used = step, skipped, rest, self.lines
        self._newest = track
        return True

    def _track_of(self, step: int) -> _EngineTrack | None:
        """Return the track that a line with this step continues."""
        fitting = [track for track in self._tracks if track.step < step]
        if self._is_same_step or not fitting:
            return fitting[0] if fitting else None
        return max(fitting, key=lambda track: (step - track.step == track.spacing, track.step - step, track.used))

    def _settle(self, track: _EngineTrack) -> None:
        if track.first is None:
            return
        (step, skipped), track.first = track.first, None
        spacing = track.spacing or self._spacing
        resumed = 0 < spacing < step
        track.in_lead = track.in_lead and not resumed
        if not self.cumulative:
            track.interval(spacing if resumed else step, skipped, skipped)
        elif not resumed or track is self._tracks[0]:  # it counts from the start of the run, where a restart goes on
            track.interval(step, skipped, skipped)
            self._begun = (step, skipped) if resumed else self._begun

    def count(self, steps: int | None) -> Overflows:
        engines = self.engines
        for track in self._tracks:
            self._settle(track)
        kind = "cumulative" if self.cumulative else "reset at each line"
        basis = f"{self.lines} lines with a counter of skipped steps ({kind})"
        counted = [*self._tracks, self._dropped]
        if engines > 1:
            counted = [max(self._tracks, key=lambda track: (track.overflows / max(1, track.steps), track.steps))]
        total = steps or sum(track.steps for track in counted)
        overflows = min(sum(track.overflows for track in counted), total)
        leading = min(sum(track.leading for track in counted), overflows)
        made, since = total - self._begun[0], overflows - self._begun[1]
        if engines == 1 and since * total > overflows * made > 0 and binomial_tail(since, made, _LIMIT) < _BY_CHANCE:
            total, overflows = made, since  # it became worse, hardly by chance
        proof = "the log prints a counter of skipped steps"
        count = Overflows(overflows, overflows, total, leading, basis, proof=proof)
        if not self.cumulative:
            covered = sum(track.covered(self._regular) for track in counted if track is not self._dropped)
            covered += self._dropped_covered * (engines == 1)
            if covered < total:
                doubt = f"sampled: the counter covers {covered} of {total} steps"
                high = min(total, overflows + total - covered)
                count = replace(count, high=high, logged=max(covered, overflows), doubt=doubt)
        note = f"{engines} counters take turns, of {engines} engines or runs: that with the largest share counts"
        return count.with_note(note) if engines > 1 else count
