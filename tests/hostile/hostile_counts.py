"""Sizes: the small ones of CI and the full ones of ``tests/long``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CI", "LONG", "Counts"]


@dataclass(frozen=True)
class Counts:
    """
    :param many: number of items, of which a normal file has a few
    :param long: length of a string that has ten characters in a normal file
    :param mixes: every Nth mix of brackets is nested deepest; 1 is all of them
    :param seconds: processor time of one run with ``many`` items; work that is quadratic in them takes longer
    """

    many: int
    long: int
    mixes: int
    seconds: int


CI = Counts(many=4_000, long=2 << 20, mixes=5, seconds=6)
LONG = Counts(many=40_000, long=8 << 20, mixes=1, seconds=40)
