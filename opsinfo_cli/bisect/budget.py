"""The budget of a search, its cost so far, and its expected cost."""

from __future__ import annotations

import re
from math import ceil, log2
from typing import NamedTuple

from ..errors import UsageFault
from .halving import most_runs

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Budget(NamedTuple):
    """:param runs: maximum number of runs; None: unlimited
    :param seconds: time during which runs may be started; None: unlimited
    """

    runs: int | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> Budget:
        """Parse a number of runs (``40``) or a time (``90m``, ``6h``, ``1.5d``).

        :raises UsageFault: if it is neither
        """
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", text)
        if match is None or (not match[2] and "." in match[1]):
            raise UsageFault(f"--budget: `{text}` is neither a number of runs nor a time", hint="40, 90m or 6h")
        if not match[2]:
            return cls(runs=int(match[1]))
        return cls(seconds=float(match[1]) * _UNITS[match[2]])

    def is_spent(self, runs: int, seconds: float) -> bool:
        """Return whether no further run may be started."""
        return (self.runs is not None and runs >= self.runs) or (self.seconds is not None and seconds >= self.seconds)


class Price(NamedTuple):
    """Maximum runs of a search, if the check is monotone and every run has a verdict.

    :param one: if one candidate is needed
    :param three: if three candidates are needed
    :param most: in the worst case
    """

    one: int
    three: int
    most: int


_ENDS = 4


def price(candidates: int, runs: int) -> Price:
    """Return the maximum runs of a search among so many candidates.

    :param runs: runs of the check for each set
    """
    ends = max(_ENDS, 2 * runs)
    deep = ceil(log2(max(2, candidates)))
    most = ends + (most_runs(max(1, candidates)) + candidates) * runs

    def needed(culprits: int) -> int:
        return min(most, ends + (culprits * (deep + 2) + 2) * runs)

    return Price(needed(1), needed(3), most)


def span(seconds: float) -> str:
    """Return a time as text: ``8 s``, ``4 min``, ``2.5 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
