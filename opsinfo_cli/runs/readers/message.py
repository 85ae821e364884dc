"""A message of a format, and where the shape of a line has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..numbers import Order, order_of
from ..shapes import Shapes

Places = Callable[[re.Match[bytes]], "tuple[slice, ...] | None"]


class MessageLayout(NamedTuple):
    """Where the lines of one shape have a message and its numbers."""

    message: slice
    numbers: tuple[slice, ...]
    order: Order | None
    """Which of the numbers of a line these are; None if one is only a part of a number."""


class Message:
    """A message of a format. What is found in a shape is kept for the next window and the next log."""

    def __init__(self, pattern: re.Pattern[bytes], mark: bytes, places_of: Places = lambda match: None) -> None:
        """:param mark: text that each message has once
        :param places_of: returns where a message shows numbers, given the match of its shape; None if messages must be
            taken one by one
        """
        self.pattern = pattern
        self.mark = mark
        self._places_of = places_of
        self._found = Shapes(pattern.search)
        self._layouts = Shapes(self._layout)

    def found(self, shape: bytes) -> re.Match[bytes] | None:
        return self._found.of(shape)

    def layout(self, shape: bytes) -> MessageLayout | None:
        """Return the layout of the lines of a shape; None if their messages must be taken one by one."""
        return self._layouts.of(shape)

    def _layout(self, shape: bytes) -> MessageLayout | None:
        match = self.found(shape)
        places = self._places_of(match) if match else None
        if match is None or places is None:
            return None
        return MessageLayout(slice(*match.span()), places, order_of(shape, places))


def number_places(match: re.Match[bytes], *groups: int | str) -> tuple[slice, ...] | None:
    """Return where groups of a shape are, if they are there and have digits; a value may be `inf` or `nan`.

    The slice of a group at the end of its shape is open, so that shapes of different lengths have the same slice.
    """
    if not all(match[group] and b"0" in match[group] for group in groups):
        return None
    ends = (None if match.end(group) == len(match.string) else match.end(group) for group in groups)
    return tuple(slice(match.start(group), end) for group, end in zip(groups, ends, strict=True))
