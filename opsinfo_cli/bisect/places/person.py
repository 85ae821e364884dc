"""Trials that a person judges."""

from __future__ import annotations

import time

from ...typed import TYPE_CHECKING
from ..trial import places_of
from ..verdicts import SKIPS
from .place import TrialEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from .place import Trial

ANSWERS = {"pass": 0, "fail": 1, "skip": SKIPS}


class PersonPlace:
    """:param ask: called with the number of a trial and the path of its mixlist; returns a word of :data:`ANSWERS`"""

    slots = 1

    def __init__(self, ask: Callable[[int, str], str]) -> None:
        self._ask = ask
        self._waiting: list[Trial] = []

    def start(self, trial: Trial) -> None:
        """Remember the trial; the person is asked when it is waited for."""
        self._waiting.append(trial)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """Ask about one trial, for as long as it takes."""
        trial = self._waiting.pop()
        begun = time.monotonic()
        places = places_of(trial.folder, trial.files)
        said = self._ask(trial.number, places.get("keep_dtype", places["mixlist"]))
        return [(trial, TrialEnd(ANSWERS[said], seconds=time.monotonic() - begun, tail=said, device="person"))]

    def stop(self) -> None:
        self._waiting.clear()
