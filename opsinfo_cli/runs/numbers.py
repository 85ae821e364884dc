"""The numbers of many lines of a few shapes, split at once."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = re.compile(rb"[\d.+-]+")
_APART = bytes(byte if _NUMBER.match(bytes([byte])) else 32 for byte in range(256))
"""Makes a space of each byte that is no part of a number."""

_MOST = 2
"""To split a line with more numbers for each wanted one costs more than to slice it."""


class Order(NamedTuple):
    """Which of the numbers of a line are wanted."""

    many: int
    """How many a line has."""
    wanted: tuple[int, ...]

    @property
    def is_short(self) -> bool:
        """Whether it is faster to split such lines than to slice them."""
        return self.many <= _MOST * len(self.wanted)


def order_of(shape: bytes, places: tuple[slice, ...]) -> Order | None:
    """Return which numbers of a shape are at some places; None if one is only a part of a number."""
    spans = [match.span() for match in _NUMBER.finditer(shape)]
    wanted = [place.indices(len(shape))[:2] for place in places]
    return Order(len(spans), tuple(map(spans.index, wanted))) if set(wanted) <= set(spans) else None


def number_columns(text: bytes, order: Order) -> list[list[str]]:
    """Return the columns of wanted numbers in lines of which each has its numbers in the same order."""
    numbers = text.translate(_APART).decode("ascii").split()
    return [numbers[at :: order.many] for at in order.wanted]
