"""Where a line shows the step: `step: 5`, `iter: 5/10`, `Epoch: [e][i/n]`, progress bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import accumulate, repeat
from typing import NamedTuple

from .columns import Table, integers
from .shapes import ZEROS

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
FIELDS = 32
"""The last steps of a window that are read."""

EPOCHS, NAMED, BARS = 3, 2, 1
"""Kinds of fields, the more complete one first."""

Kind = tuple[int, bytes]
Row = tuple[int, int, int]
"""Epoch, step and steps per epoch of a field."""


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

    @property
    def is_plain(self) -> bool:
        """Whether every text of this shape has a field of this kind."""
        return not self.length or self.kind == (EPOCHS, b"")

    def read(self, text: bytes) -> Field:
        kind, epoch, step, length = self
        if not epoch or not length:
            return Field((BARS, kind[1] + text[length]) if length else kind, 0, int(text[step]), 0)
        steps = int(text[length])
        if not steps and kind[1]:
            return Field((NAMED, kind[1]), 0, int(text[step]), 0)
        return Field(kind, int(text[epoch]), int(text[step]), steps)

    def moved(self, by: int) -> Spot:
        """Return the place in a text in which this one begins at ``by``."""
        kind, epoch, step, length = self
        return Spot(kind, _later(epoch, by), slice(step.start + by, step.stop + by), _later(length, by))


def rows_at(table: Table[Spot]) -> list[Row]:
    """Return the epoch, the step and the steps per epoch of each text; the places are of one kind, and plain."""
    if table.kinds[0].epoch is None or table.kinds[0].length is None:
        return list(zip(repeat(0), map(int, table.column(2)), repeat(0), strict=False))
    return list(zip(integers(table.column(1)), map(int, table.column(2)), integers(table.column(3)), strict=True))


def steps_at(table: Table[Spot]) -> tuple[int, list[int], int] | None:
    """Return the epoch, the step of each text and the steps per epoch.

    :returns: None if the texts are of several epochs or kinds, or their places are not plain
    """
    kinds = table.kinds
    if any(spot.kind != kinds[0].kind or not spot.is_plain for spot in kinds):
        return None
    fixed = [table.column(at) for at in (1, 3)] if kinds[0].epoch else [[b"0"], [b"0"]]
    if any(each.count(each[0]) < len(each) for each in fixed):
        return None
    epoch, length = (int(each[0]) for each in fixed)
    return epoch, list(map(int, table.column(2))), length


SpotOf = Callable[[bytes], "Spot | None"]
"""What finds the step of a line."""


def line_spot(line: bytes) -> Spot | None:
    """Return where a line shows a step."""
    if match := _WITH_EPOCH.search(line):
        epoch = _part(match, 1 if match[1] else 2)
        return Spot((EPOCHS, b""), epoch, _part(match, 3), _part(match, 4))
    if match := _BAR.search(line):
        return Spot((BARS, b"bar of "), None, _part(match, 1), _part(match, 2))
    match = _STEP.search(line)
    if not match:
        return None
    step, name = _part(match, 2), match[1].lower()
    found = _EPOCH.search(line) if match[3] else None
    if found:
        return Spot((EPOCHS, name), _part(found, 1), step, _part(match, 3))
    return Spot((NAMED, name), None, step, None)


def _part(match: re.Match[bytes], group: int) -> slice:
    return slice(match.start(group), match.end(group))


def _later(part: slice | None, by: int) -> slice | None:
    return slice(part.start + by, part.stop + by) if part else None


def every_spot(text: bytes, spot_of: SpotOf = line_spot) -> list[Spot]:
    """Return where the lines of a text show steps, in order."""
    if len(text) > NEAR and b"\r" not in text:
        shapes = text.translate(ZEROS).split(b"\n")
        known = {shape: spot_of(shape[:NEAR]) for shape in set(shapes)}
        begins = accumulate((len(shape) + 1 for shape in shapes), initial=0)
        return [spot.moved(at) for spot, at in zip(map(known.get, shapes), begins, strict=False) if spot]
    found = []
    begin = 0
    for line in text.split(b"\n"):
        if len(line) > 4 and any(word in line for word in _ASKED):
            pieces = line.split(b"\r")
            at = begin + sum(map(len, pieces[:-_TRIES])) + len(pieces[:-_TRIES])
            for piece in pieces[-_TRIES:]:
                if spot := spot_of(piece[:NEAR]):
                    found.append(spot.moved(at))
                at += len(piece) + 1
        begin += len(line) + 1
    return found


def _without(lines: list[bytes], spot_of: SpotOf) -> int:
    """Return how many lines have a word of a step; 0 if one of them has a step, or is too long to tell."""
    if not lines or max(map(len, lines)) > NEAR or any(map(spot_of, lines)) or any(b"\r" in line for line in lines):
        return 0
    return sum(any(word in line for word in _ASKED) for line in lines)


def is_bare(text: bytes, spot_of: SpotOf) -> bool:
    """Whether no line of a text has a step. False too if its lines have too many shapes to look at, or are too long."""
    return has_none(set(text.translate(ZEROS).split(b"\n")), spot_of)


def has_none(shapes: Collection[bytes], spot_of: SpotOf) -> bool:
    """Whether lines of some shapes have no step, as :func:`is_bare` says."""
    if len(shapes) > _TRIES or max(map(len, shapes)) > NEAR:
        return False
    return not any(b"\r" in shape or spot_of(shape) for shape in shapes)


def last_spots(data: bytes, start: int, end: int, spot_of: SpotOf = line_spot) -> list[Spot]:
    """Return where the last few steps between two places are, oldest first: logs often alternate two counters."""
    lines = data[start:end].rsplit(b"\n", _TRIES)[1:]
    tried = _without(lines, spot_of)
    if tried:
        end -= sum(map(len, lines)) + len(lines) - 1
    asked = {word: at for word in _ASKED if (at := data.rfind(word, start, end)) >= 0} if tried < _TRIES else {}
    found: list[Spot] = []
    for _ in range(_TRIES - tried):
        for word, at in asked.items():  # each word is searched for over the text once
            if at + len(word) > end:
                asked[word] = data.rfind(word, start, end)
        at = max(asked.values(), default=-1)
        if at < 0 or len(found) == FIELDS:
            break
        begin = max(data.rfind(b"\n", start, at), data.rfind(b"\r", start, at)) + 1 or start
        stop = data.find(b"\n", at, min(end, at + NEAR))
        near = max(begin, at - NEAR)
        spot = spot_of(data[near : stop if stop >= 0 else min(end, at + NEAR)])
        if spot:
            found.append(spot.moved(near))
        end = begin
    return found[::-1]
