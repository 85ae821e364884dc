"""What is found in a line, kept by the shape of the line: the line with each digit replaced by 0."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Generic, TypeVar

Found = TypeVar("Found")

ZEROS = bytes.maketrans(b"123456789", b"000000000")
"""What makes the shape of a text."""

_MOST = 1024
_LONGEST = 1024
"""Longer texts are not kept, so that the memory of a reader stays small."""


class Shapes(Generic[Found]):
    """What ``find`` finds in texts. Texts of one shape are searched once.

    A log has few shapes, and a search costs ten times what it costs to look a shape up. ``find`` gets the shape and
    returns places, not numbers: it must find the same places in every text of a shape.
    """

    def __init__(self, find: Callable[[bytes], Found]) -> None:
        self._find = find
        self._known: dict[bytes, Found] = {}

    def of(self, text: bytes) -> Found:
        """Return what was found in a text."""
        shape = text.translate(ZEROS)
        try:
            return self._known[shape]
        except KeyError:
            return self._learned(shape)

    def of_all(self, texts: list[bytes], shapes: list[bytes] | None = None, between: bytes = b"\n") -> list[Found]:
        """Return what was found in each text.

        :param shapes: the shape of each text, if known
        :param between: a byte that the texts hardly ever hold
        """
        if shapes is None:
            shapes = between.join(texts).translate(ZEROS).split(between)
        if len(shapes) != len(texts):
            return [self.of(text) for text in texts]
        try:
            return list(map(self._known.__getitem__, shapes))
        except KeyError:
            known = map(self._known.get, shapes, repeat(None))
            return [
                self._learned(shape) if found is None else found for shape, found in zip(shapes, known, strict=True)
            ]

    def _learned(self, shape: bytes) -> Found:
        known = self._known
        if shape in known:
            return known[shape]
        found = self._find(shape)
        if len(shape) <= _LONGEST:
            if len(known) >= _MOST:
                known.clear()
            known[shape] = found
        return found
