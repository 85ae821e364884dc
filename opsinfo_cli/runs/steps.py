"""The number of steps of a run, from the step fields in its log."""

from __future__ import annotations

import re
from typing import NamedTuple

_INTEGER = rb"(\d{1,15})(?!\d|\.\d)"
_STEP = re.compile(
    rb"(?<![A-Za-z_])(?<!on )((?:(?:global|train|training|current)_)?(?:[Ss]tep|STEP|[Ii]ter(?:ation)?)|"
    rb"(?:global|training)_steps)"
    rb"[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,8}" + _INTEGER + rb"(?:\s{0,8}/\s{0,8}(\d{1,15}))?"
)
_EPOCH = re.compile(rb"[Ee]poch[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,4}(\d{1,9})(?!\.)")
_WITH_EPOCH = re.compile(
    rb"(?:[Ee]poch|TRAIN|Train)(?:\(train\))?:?\s{0,4}(?:\[\s{0,4}(\d{1,9})(?:/\d{1,9})?\]:?\s{0,4}|(\d{1,9})\s)"
    rb"\[\s{0,8}(\d{1,15})/\s{0,8}(\d{1,15})"
)
_BAR = re.compile(rb"\|\s{0,8}(\d{1,15})/(\d{1,15}) \[[^\]\r\n]{0,40}(?:it/s|s/it)")
_ASKED = (b"step", b"Step", b"STEP", b"iter", b"Iter", b"poch", b"TRAIN", b"Train", b"it/s", b"s/it")
_NEAR = 2048
_LOOK = 1 << 14
_TRIES = 256
_FIELDS = 32
_WHOLE = 1 << 21
"""The number of bytes at the start that are read line by line."""

_MOST_KINDS = 256
_OFTEN = 20
_EPOCHS, _NAMED, _BARS = 3, 2, 1


class _Field(NamedTuple):
    """A step as printed. ``length``: steps per epoch if the line shows the epoch, else 0."""

    kind: tuple[int, bytes]
    epoch: int
    step: int
    length: int


class _Track:
    """The first, second and last value of one kind of field, such as ``iter`` or ``Epoch: [e][i/n]``."""

    def __init__(self, first: _Field) -> None:
        self.first = self.last = first
        self.second: int | None = None
        self.seen = 1
        self.broken = False

    def take(self, found: _Field) -> None:
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

    @property
    def spacing(self) -> int:
        return abs(self.second - self.at(self.first)) if self.second is not None else 0

    def at(self, found: _Field) -> int:
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
        from_zero = int(first == 0 and self.first.kind[0] != _BARS)
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
        self._kinds: dict[tuple[int, bytes], _Track] = {}
        self._read = self._upto = 0
        self._at: int | None = None
        self._main: tuple[int, bytes] | None = None

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
        if self._read < _WHOLE:
            self._every(data[start:end])
            return
        fields = self._from_back(data, max(start, end - _LOOK), end)
        if not fields and end - start > _LOOK:
            fields = self._from_back(data, start, end - _LOOK)
        for found in fields:
            self._take(found)

    def read(self, line: bytes) -> None:
        """Read one line."""
        found = _parsed(line[:_NEAR])
        if found:
            self._take(found)

    def skip(self, end: int) -> None:
        """Skip the text before ``end``: messages, which have no step."""
        self._upto = max(self._upto, end)

    def finish(self, data: bytes, limit: int) -> None:
        """Read the rest of a window; the next call is for the next window."""
        self.advance(data, limit)
        self._read += limit
        self._upto = 0

    def _every(self, part: bytes) -> None:
        for line in part.split(b"\n"):
            if len(line) > 4 and any(word in line for word in _ASKED):
                for piece in line.split(b"\r")[-_TRIES:]:
                    found = _parsed(piece[:_NEAR])
                    if found:
                        self._take(found)

    def _from_back(self, data: bytes, start: int, end: int) -> list[_Field]:
        """Return the last few fields, oldest first: logs often alternate two counters."""
        asked = [word for word in _ASKED if data.find(word, start, end) >= 0]
        fields: list[_Field] = []
        for _ in range(_TRIES):
            at = max(data.rfind(word, start, end) for word in asked) if asked else -1
            if at < 0 or len(fields) == _FIELDS:
                break
            begin = max(data.rfind(b"\n", start, at), data.rfind(b"\r", start, at)) + 1 or start
            stop = data.find(b"\n", at, min(end, at + _NEAR))
            found = _parsed(data[max(begin, at - _NEAR) : stop if stop >= 0 else min(end, at + _NEAR)])
            if found:
                fields.append(found)
            end = begin
            if end <= start:
                break
        return fields[::-1]

    def _take(self, found: _Field) -> None:
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

    def _best(self) -> tuple[int, bytes] | None:
        """Prefer epochs with a length, then named fields, then bars; within each, the most frequent field."""
        kinds = self._kinds
        moving = [kind for kind in kinds if kinds[kind].second is not None]
        usable = [kind for kind in moving if not kinds[kind].broken] or moving or list(kinds)

        def telling(kind: tuple[int, bytes]) -> tuple[int, int, int]:
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


def _shown(kind: tuple[int, bytes]) -> str:
    return kind[1].decode("ascii", "replace") or "Epoch: [e][i/n]"


def _parsed(line: bytes) -> _Field | None:
    if match := _WITH_EPOCH.search(line):
        return _Field((_EPOCHS, b""), int(match[1] or match[2]), int(match[3]), int(match[4]))
    if match := _BAR.search(line):
        return _Field((_BARS, b"bar of " + match[2]), 0, int(match[1]), 0)
    match = _STEP.search(line)
    if not match:
        return None
    length = int(match[3]) if match[3] else 0
    epoch = _EPOCH.search(line) if length else None
    if epoch:
        return _Field((_EPOCHS, match[1].lower()), int(epoch[1]), int(match[2]), length)
    return _Field((_NAMED, match[1].lower()), 0, int(match[2]), 0)
