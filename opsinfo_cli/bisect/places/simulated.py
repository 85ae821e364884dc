"""Trials that a simulation on the CPU judges."""

from __future__ import annotations

import time

from ...typed import TYPE_CHECKING
from .place import TrialEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from .place import Trial


class SimulatedPlace:
    """:param simulate: called with a trial; returns whether it passes, and the measures of the simulation"""

    slots = 1

    def __init__(self, simulate: Callable[[Trial], tuple[bool, str]]) -> None:
        self._simulate = simulate
        self._waiting: list[Trial] = []

    def start(self, trial: Trial) -> None:
        """Remember the trial; it is simulated when it is waited for."""
        self._waiting.append(trial)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """Simulate one trial, for as long as it takes."""
        trial = self._waiting.pop()
        begun = time.monotonic()
        passes, said = self._simulate(trial)
        return [(trial, TrialEnd(0 if passes else 1, seconds=time.monotonic() - begun, tail=said, device="simulation"))]

    def stop(self) -> None:
        self._waiting.clear()
