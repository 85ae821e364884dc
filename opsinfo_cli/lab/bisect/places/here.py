"""Trials that this process judges itself, one at a time: by a simulation, or by asking a person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..trial import TrialEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..trial import Trial


class HerePlace:
    """:param judge: called with a trial; returns its exit status and a note for the journal
    :param device: the judge, for the journal
    """

    slots = 1

    def __init__(self, judge: Callable[[Trial], tuple[int, str]], device: str) -> None:
        self._judge = judge
        self._device = device
        self._waiting: list[Trial] = []

    def start(self, trial: Trial) -> None:
        """Remember the trial; it is judged when it is waited for."""
        self._waiting.append(trial)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """Judge one trial, for as long as it takes."""
        trial = self._waiting.pop()
        begun = time.monotonic()
        code, note = self._judge(trial)
        return [(trial, TrialEnd(code, seconds=time.monotonic() - begun, tail=note, device=self._device))]

    def stop(self) -> None:
        self._waiting.clear()
