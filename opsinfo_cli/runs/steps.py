"""How many steps a run made, from the step fields of whatever it printed."""

from __future__ import annotations

import re

__all__ = ["StepField"]

_STEP = re.compile(
    rb"(?:[Ss]tep|[Ii]ter(?:ation)?)s?[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,8}(\d{1,15})(?:\s{0,8}/\s{0,8}(\d{1,15}))?"
)
_EPOCH = re.compile(rb"[Ee]poch[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,4}(\d{1,9})(?!\.)")
_IMAGENET = re.compile(rb"[Ee]poch:?\s{0,4}\[\s{0,4}(\d{1,9})\]\s{0,4}\[\s{0,8}(\d{1,15})/\s{0,8}(\d{1,15})\]")
_BAR = re.compile(rb"\|\s{0,8}(\d{1,15})/(\d{1,15}) \[")
_ASKED = (b"tep", b"ter", b"poch", b"it/s", b"s/it")
_NEAR = 2048
_LOOK = 1 << 14
_TRIES = 8
_FRONTS = 16


class StepField:
    """The first and the last step field of each window are looked at: enough, and next to free.

    Fields that start anew each epoch count where the line tells the epoch and its length.
    """

    def __init__(self) -> None:
        self._first: tuple[int, int, int] | None = None
        self._last: tuple[int, int, int] | None = None
        self._second: int | None = None
        self._broken = False
        self._fronts = 0

    def at(self, data: bytes, place: int) -> int | None:
        """The step that was printed last before a place; None where there is none nearby."""
        found = self._from_back(data, place)
        if found is None:
            return None
        epoch, step, length = found
        return (epoch - (self._first[0] if self._first else epoch)) * length + step

    @property
    def spacing(self) -> int:
        """How far step fields are apart, as far as is known."""
        return abs(self._second - self._first[1]) if self._first and self._second is not None else 0

    def window(self, data: bytes, limit: int) -> None:
        for found in (self._from_front(data, limit), self._from_back(data, limit)):
            if found:
                self._take(found)

    def _from_front(self, data: bytes, limit: int) -> tuple[int, int, int] | None:
        if self._second is not None or self._fronts >= _FRONTS:  # only where it starts is asked of the front
            return None
        self._fronts += 1
        for line in data[: min(limit, 1 << 16)].split(b"\n"):
            found = _parsed(line[:_NEAR])
            if found and (self._first is None or found != self._first):
                if self._first is not None:
                    return found
                self._first = self._last = found
        return None

    def _from_back(self, data: bytes, limit: int) -> tuple[int, int, int] | None:
        end = limit
        lowest = max(0, limit - _LOOK)
        for _ in range(_TRIES):
            if end <= lowest:
                break
            at = max(data.rfind(word, lowest, end) for word in _ASKED)
            if at < 0:
                return None
            start = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
            stop = data.find(b"\n", at)
            found = _parsed(data[max(start, at - _NEAR) : min(stop if stop >= 0 else limit, at + _NEAR)])
            if found:
                return found
            end = min(start, at)
        return None

    def _take(self, found: tuple[int, int, int]) -> None:
        if self._first is None or self._last is None:
            self._first = self._last = found
            return
        if self._second is None and found != self._first:
            self._second = found[1]
        epoch, step, length = found
        if (epoch, step) < self._last[:2] and epoch <= self._last[0]:
            self._broken |= self._last[1] - step > max(8, self._last[1] // 2)  # another rank may lag a little
            return
        if epoch > self._last[0] and not length and step < self._last[1]:
            self._broken = True
        self._last = found

    @property
    def total(self) -> int | None:
        """None where the fields do not tell."""
        if self._first is None or self._last is None or self._broken:
            return None
        (epoch0, step0, _), (epoch, step, length) = self._first, self._last
        spacing = self.spacing or 1
        begun = 0 if step0 <= spacing else step0 - spacing
        return (epoch - epoch0) * length + step - begun if length else step - begun


def _parsed(line: bytes) -> tuple[int, int, int] | None:
    """(epoch, step, length of the epoch); 0 for what the line does not tell."""
    if match := _IMAGENET.search(line):
        return int(match[1]), int(match[2]), int(match[3])
    match = _BAR.search(line) or _STEP.search(line)
    if not match:
        return None
    epoch = _EPOCH.search(line) if match.re is _STEP else None
    length = int(match[2]) if match[2] else 0
    return (int(epoch[1]) if epoch and length else 0), int(match[1]), length if epoch else 0
