"""The steps before the places of a window."""

from __future__ import annotations

from bisect import bisect_left


class CounterSteps:
    """The step before each place of a window: the one that the counter of skipped steps shows, else the ones added."""

    def __init__(self, places: list[int], steps: list[int], before: int) -> None:
        """:param places: where the window has the counter
        :param steps: the step that it shows at each place
        :param before: its step at the end of the window before, 0 if there is none
        """
        self.has_counter = before > 0 or bool(places)
        self._places = places
        self._steps: list[int | None] = [before if self.has_counter else None, *steps]

    def add(self, places: list[int], steps: list[int | None]) -> None:
        """Add steps that other lines show; places come in order."""
        self._places += places
        self._steps += steps

    @property
    def is_known(self) -> bool:
        """Whether a step is known at any place."""
        return self._steps[-1] is not None

    def at(self, place: int) -> int | None:
        """Return the step before a place; None if none is known."""
        return self._steps[bisect_left(self._places, place)]
