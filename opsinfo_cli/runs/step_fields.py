"""Where a line shows the step: `step: 5`, `iter: 5/10`, `Epoch: [e][i/n]`, progress bars."""

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
NEAR = 2048
"""A line is searched for a step up to here."""

_TRIES = 256
_FIELDS = 32

EPOCHS, NAMED, BARS = 3, 2, 1
"""Kinds of fields, the more complete one first."""

Kind = tuple[int, bytes]


class Field(NamedTuple):
    """A step as printed. ``length``: steps per epoch if the line shows the epoch, else 0."""

    kind: Kind
    epoch: int
    step: int
    length: int


class Spot(NamedTuple):
    """Where a text shows a field.

    :param kind: of a progress bar without its length, which is part of the kind
    """

    kind: Kind
    epoch: slice | None
    step: slice
    length: slice | None

    def read(self, text: bytes) -> Field:
        kind, epoch, step, length = self
        if not epoch or not length:
            return Field((BARS, kind[1] + text[length]) if length else kind, 0, int(text[step]), 0)
        steps = int(text[length])
        if not steps and kind[1]:
            return Field((NAMED, kind[1]), 0, int(text[step]), 0)
        return Field(kind, int(text[epoch]), int(text[step]), steps)


def line_spot(line: bytes, begin: int = 0) -> Spot | None:
    """Return where a line shows a step, in a text in which it begins at ``begin``."""
    if match := _WITH_EPOCH.search(line):
        epoch = _part(match, 1 if match[1] else 2, begin)
        return Spot((EPOCHS, b""), epoch, _part(match, 3, begin), _part(match, 4, begin))
    if match := _BAR.search(line):
        return Spot((BARS, b"bar of "), None, _part(match, 1, begin), _part(match, 2, begin))
    match = _STEP.search(line)
    if not match:
        return None
    step, name = _part(match, 2, begin), match[1].lower()
    found = _EPOCH.search(line) if match[3] else None
    if found:
        return Spot((EPOCHS, name), _part(found, 1, begin), step, _part(match, 3, begin))
    return Spot((NAMED, name), None, step, None)


def _part(match: re.Match[bytes], group: int, begin: int) -> slice:
    return slice(begin + match.start(group), begin + match.end(group))


def every_spot(text: bytes) -> list[Spot]:
    """Return where the lines of a text show steps, in order."""
    found = []
    begin = 0
    for line in text.split(b"\n"):
        if len(line) > 4 and any(word in line for word in _ASKED):
            pieces = line.split(b"\r")
            at = begin + sum(map(len, pieces[:-_TRIES])) + len(pieces[:-_TRIES])
            for piece in pieces[-_TRIES:]:
                if spot := line_spot(piece[:NEAR], at):
                    found.append(spot)
                at += len(piece) + 1
        begin += len(line) + 1
    return found


def last_spots(data: bytes, start: int, end: int) -> list[Spot]:
    """Return where the last few steps between two places are, oldest first: logs often alternate two counters."""
    asked = [word for word in _ASKED if data.find(word, start, end) >= 0]
    found: list[Spot] = []
    for _ in range(_TRIES):
        at = max(data.rfind(word, start, end) for word in asked) if asked else -1
        if at < 0 or len(found) == _FIELDS:
            break
        begin = max(data.rfind(b"\n", start, at), data.rfind(b"\r", start, at)) + 1 or start
        stop = data.find(b"\n", at, min(end, at + NEAR))
        near = max(begin, at - NEAR)
        spot = line_spot(data[near : stop if stop >= 0 else min(end, at + NEAR)], near)
        if spot:
            found.append(spot)
        end = begin
        if end <= start:
            break
    return found[::-1]
