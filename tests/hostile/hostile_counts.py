"""Sizes: the small ones of CI and the full ones of ``tests/long``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CI", "LONG", "Counts"]


@dataclass(frozen=True)
class Counts:
    """
    :param many: items of which a normal file has a few
    :param long: characters of a string that has ten in a normal file
    :param mixes: the longest nestings are of every so many mixes of brackets; 1 is all of them
    :param seconds: of processor time for one run with so many: what looks at all the others for each needs more
    """

    many: int
    long: int
    mixes: int
    seconds: int


CI = Counts(many=6_000, long=2 << 20, mixes=5, seconds=10)
LONG = Counts(many=40_000, long=8 << 20, mixes=1, seconds=15)
