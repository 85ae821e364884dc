"""A matcher for patterns with many wildcards, in time proportional to pattern length times path length.

A regular expression with many stars tries every way to split a path among them. Here all ways are followed at once:
one bit for each place in the pattern that a prefix of the path can reach.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple


class PatternStep(NamedTuple):
    """One part of a pattern.

    :param letter: a regular expression for one matching character; empty for a gate, which matches without one
    :param loops: whether it matches any number of such characters, including none
    """

    letter: str
    loops: bool = False


GATE = PatternStep("")
"""Leads to the next step, or to the step after the two that follow it."""


class WildcardMatcher:
    """:param steps: the parts of a pattern, in order"""

    def __init__(self, steps: Sequence[PatternStep]) -> None:
        self._steps = steps
        self._loops = self._where(lambda step: step.loops)
        self._gates = self._where(lambda step: step is GATE)
        self._letters = {step.letter: re.compile(step.letter, re.DOTALL) for step in steps if step.letter}
        self._passing: dict[str, int] = {}

    def fullmatch(self, path: str) -> bool:
        """Whether the whole of a path matches."""
        places = self._opened(1)
        for character in path:
            passed = places & self._passes(character)
            places = self._opened((passed & ~self._loops) << 1 | passed & self._loops)
            if not places:
                return False
        return bool(places >> len(self._steps) & 1)

    def _opened(self, places: int) -> int:
        """Return the places, and those that are reached from them without a character."""
        while True:
            gates = places & self._gates
            more = places | (places & self._loops) << 1 | gates << 1 | gates << 3
            if more == places:
                return places
            places = more

    def _passes(self, character: str) -> int:
        """Return the steps that match a character, one bit each."""
        if character not in self._passing:
            fitting = {letter for letter, regex in self._letters.items() if regex.fullmatch(character)}
            self._passing[character] = self._where(lambda step: step.letter in fitting)
        return self._passing[character]

    def _where(self, holds: Callable[[PatternStep], bool]) -> int:
        return int("".join("1" if holds(step) else "0" for step in reversed(self._steps)) or "0", 2)
