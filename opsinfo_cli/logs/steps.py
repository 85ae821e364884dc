"""The steps that a log prints: `step: 5`, `iter: 5/10`, `Epoch: [e][i/n]`, progress bars; and how many there were."""

from __future__ import annotations

import re
from typing import NamedTuple

_NEAR = 2048
"""A line is searched for a step up to here."""

_MOST_KINDS = 256
_OFTEN = 20

_FIELDS = 8
"""The newest steps before a message, or at the end of a block, that are read: logs often alternate two counters."""
_TRIES = 256
"""Lines with a word of :data:`_WORD` that are searched for them: all lines of a log may have one, and none a step."""
_TAIL = 1 << 14
"""The last bytes of a block, where they are looked for first."""

EPOCHS, NAMED, BARS = 3, 2, 1
"""Kinds of fields, the more complete one first."""

_WORD = re.compile(rb"[Ss]tep|STEP|[Ii]ter|poch|T(?:RAIN|rain)|it/s|s/it")
_INTEGER = rb"(\d{1,15})(?!\d|\.\d|[eE][-+]?\d)"
_STEP = re.compile(
    rb"(?<![A-Za-z_])(?<!on )(?<!(?i:inner|micro)[ -])(?<!(?i:mini)[ -])(?<!(?i:sub)[ -])"
    rb"((?:global[ -])?(?:(?:global|train|training|current)_)?(?:[Ss]tep|STEP|[Ii]ter(?:ation)?)|"
    rb"(?:global|training|current)_steps)"
    rb"(?:/max_steps)?[\"']?\s{0,4}[:=]?\s{0,4}[\[\"']?\s{0,8}" + _INTEGER + rb"(?:\s{0,8}/\s{0,8}(\d{1,15}))?"
)
_GLOBAL = re.compile(_STEP.pattern.replace(rb"(?:global[ -])?", rb"global[ _-]"))
"""A global step is preferred to other counters before it in the line, such as micro-batches or steps of an epoch."""
_NUMBERED = re.compile(rb"(?:tep|TEP|ter)(?:s|ation)?[\"']?[\s:=\[\"']{0,18}\d")
"""Found where :data:`_STEP` is, in a quarter of its time: most messages say `step` without a number."""
_EPOCH = re.compile(rb"[Ee]poch[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,4}(\d{1,9})(?![\d.])")
_WITH_EPOCH = re.compile(
    rb"(?:[Ee]poch|TRAIN|Train)(?:\(train\))?:?\s{0,4}(?:\[\s{0,4}(\d{1,9})(?:/\d{1,9})?\]:?\s{0,4}|(\d{1,9})\s)"
    rb"\[\s{0,8}(\d{1,15})(?:/\s{0,8}(\d{1,15})|\])"
)
_BAR = re.compile(
    rb"(?:\|\s{0,8}(\d{1,15})/(\d{1,15}|\?)|(?<![^\s\r])(\d{1,15})it) "
    rb"\[[^\]\r\n]{0,40}(?:(?:it|batch(?:es)?|steps?)/s|s/(?:it|batch|step))"
)


class Kind(NamedTuple):
    """``rank``: EPOCHS, NAMED or BARS; ``name``: the word before the number, or the length of a progress bar."""

    rank: int
    name: bytes


class Field(NamedTuple):
    """A step as printed. ``length``: steps per epoch if the line shows the epoch, else 0; ``end``: the number at which
    a counter without an epoch ends, 0 if unknown.
    """

    kind: Kind
    epoch: int
    step: int
    length: int
    end: int = 0


def step_field(line: bytes) -> Field | None:
    """Return the step that a whole line shows."""
    if len(line) > _NEAR:
        line = line[:_NEAR].rpartition(b" ")[0]  # a number must not be cut
    has_bracket = b"[" in line  # most lines have none, which is known in a fraction of the time of a search
    if has_bracket and (match := _WITH_EPOCH.search(line)):
        epoch, step, length = int(match[1] or match[2]), int(match[3]), int(match[4] or 0)
        return Field(Kind(EPOCHS, b""), epoch, step, length)
    if has_bracket and (match := _BAR.search(line)):
        end = int(match[2]) if match[2] and match[2] != b"?" else 0
        return Field(Kind(BARS, b"bar of %d" % end), 0, int(match[1] or match[3]), 0, end)
    match = _NUMBERED.search(line)
    match = match and ((_GLOBAL.search(line) if b"lobal" in line else None) or _STEP.search(line))
    if not match:
        return None
    name, step, end = re.sub(rb"[ -]", b"_", match[1].lower()), int(match[2]), int(match[3] or 0)
    if end and not name.startswith(b"global") and (shown := _EPOCH.search(line)):
        return Field(Kind(EPOCHS, name), int(shown[1]), step, end)
    return Field(Kind(NAMED, name), 0, step, 0, end)


class _FieldTrack:
    """The first, second and last value of one kind of field; the number of steps follows from them."""

    def __init__(self, first: Field) -> None:
        self.first = self.last = first
        self.second: int | None = None
        self.seen = 1
        self.before = 0
        """Steps of the epochs before, if the fields do not show how long an epoch is: at least so many."""
        self.begin = self.at(first)
        self.broken = False
        """Whether the field restarted without an epoch."""

    def take(self, field: Field) -> None:
        self.seen += 1
        last = self.last
        if self.second is None and (field.epoch, field.step) != (self.first.epoch, self.first.step):
            self.second = self.at(field)
        if (field.epoch, field.step) < (last.epoch, last.step) and field.epoch <= last.epoch:
            is_again = last.step - field.step > max(8, last.step // 2)  # another rank may lag slightly
            if not (is_again and last.end == field.end and 0 < 0.9 * last.end <= last.step):
                self.broken |= is_again
                return
            self.before += last.end
        elif field.epoch > last.epoch and not field.length:
            if field.epoch > last.epoch + 1:
                self.broken |= field.step < last.step
            self.before += last.step + (self.first.step == 0)
        elif self.before and last.end and field.step - last.step > max(last.end // 2, 2 * self.spacing):
            return  # of a rank that still is in the epoch before
        self.last = field

    @property
    def spacing(self) -> int:
        return abs(self.second - self.begin) if self.second is not None else 0

    def at(self, field: Field) -> int:
        """Return the steps since the start of the first epoch, which is numbered 0 or 1."""
        return self.before + (field.epoch - min(1, self.first.epoch)) * field.length + field.step

    @property
    def total(self) -> int | None:
        """The number of steps; None if the fields restart without showing an epoch."""
        if self.broken:
            return None
        first, last = self.begin, self.last
        if self.second is None:
            return first if self.first.kind.name.startswith(b"global") else None
        begun = 0 if first <= 2 * self.spacing else first - self.spacing  # otherwise the log begins after a resume
        from_zero = int(first == 0 and self.first.kind.rank != BARS)
        if last.length:
            return self.at(last) - last.step + min(last.step + from_zero, last.length) - begun
        return self.before + last.step + from_zero - begun


class StepCounters:
    """A counter for each kind of step field; the most complete kind is used.

    ``at``: the last step printed before the current place; None if none was printed. ``newest``: the same, of any kind
    of field.
    """

    def __init__(self) -> None:
        self.at: int | None = None
        self.newest: int | None = None
        self._kinds: dict[Kind, _FieldTrack] = {}
        self._main: Kind | None = None

    @property
    def spacing(self) -> int:
        """The distance between step fields; 0 if unknown."""
        return self._kinds[self._main].spacing if self._main else 0

    def take(self, field: Field) -> None:
        track = self._kinds.get(field.kind)
        if track:
            track.take(field)
        elif len(self._kinds) < _MOST_KINDS:
            self._kinds[field.kind] = track = _FieldTrack(field)
            self._main = self._best()
        else:
            return
        self.newest = max(0, track.at(field))
        if field.kind == self._main:
            self.at = self.newest

    def _best(self) -> Kind | None:
        """Prefer epochs with a length, then named fields, then bars; within each, the most frequent field."""
        moving = [kind for kind, track in self._kinds.items() if track.second is not None]
        usable = [kind for kind in moving if not self._kinds[kind].broken] or moving or list(self._kinds)

        def completeness(kind: Kind) -> tuple[int, int, int]:
            return kind.rank, self._kinds[kind].seen, self._kinds[kind].last.step

        return max(usable, key=completeness, default=None)

    @property
    def total(self) -> int | None:
        """The number of steps; None if the fields do not show it."""
        best = self._best()
        return self._kinds[best].total if best else None

    @property
    def from_start(self) -> bool | None:
        """Whether the first step that the log prints is one of the first of the run; None if that cannot be told."""
        track = self._kinds[best] if (best := self._best()) else None
        if track is None or track.second is None:
            return None
        return track.begin <= 2 * track.spacing

    @property
    def note(self) -> str | None:
        """A note if another counter of the log disagrees; else None."""
        best, total = self._best(), self.total
        if best is None or total is None:
            return None
        for kind, track in self._kinds.items():
            other = track.total
            if kind == best or kind.rank != best.rank or track.seen < _OFTEN or not other:
                continue
            if abs(other - total) > max(1, total // 10):
                return f"steps are `{_kind_text(best)}` ({total}); `{_kind_text(kind)}` shows {other}"
        return None


def _kind_text(kind: Kind) -> str:
    return kind.name.decode("ascii", "replace") or "Epoch: [e][i/n]"


class Steps(StepCounters):
    """The step at each place of a log. The newest steps before a place are looked up backwards, on whole lines only."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._done = 0
        self._every = False

    def begin(self, lines: list[bytes], first: int, every: bool) -> None:
        """Begin a block.

        :param first: the first line that is whole
        :param every: whether all steps are read, not only the newest
        """
        self._lines, self._done, self._every = lines, first, every

    def upto(self, at: int) -> Steps:
        """Read the steps before a line of the block; ``at`` and ``spacing`` are then those of this place."""
        if at > self._done:
            self._read(self._lines[self._done : at])
            self._done = at
        return self

    def skip(self, block: bytes, first: int) -> None:
        """Read the newest steps of a block that no format needs: in its last lines, else in all of them."""
        self._every = False
        begin = block.rfind(b"\n", 0, max(0, len(block) - _TAIL)) + 1
        if not (begin and self._read(block[begin:].split(b"\n"))):
            self._read(block.split(b"\n")[first:])

    def _read(self, lines: list[bytes]) -> bool:
        """:returns: whether one of the lines has a step"""
        fields: list[Field] = []
        tries = 0
        for line in reversed(lines):
            if len(line) > 4 and _WORD.search(line, 0, _NEAR):
                tries += 1
                if field := step_field(line):
                    fields.append(field)
                if not self._every and (len(fields) == _FIELDS or tries == _TRIES):
                    break
        for field in reversed(fields):
            self.take(field)
        return bool(fields)
