"""Messages that show the scale after an overflow."""

from __future__ import annotations

import re
from itertools import accumulate, compress, islice
from operator import not_

from ..columns import picked
from ..occurrences import Occurrences
from ..steps import StepFields
from .messages import Fact, Messages
from .reader import Reader


def _always(match: re.Match[bytes]) -> bool:
    return True


class FallReader(Reader):
    """A format whose ranks print the new scale at each overflow."""

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()
        self.scale.behind = 1

    def fell(self, scale: float, steps: StepFields, copies: int) -> None:
        """Take copies of one message; ``steps`` is at their place."""
        before = self.occurrences.total
        if self.occurrences.add(scale, steps.at, steps.spacing, copies, steps.since):
            self.scale.fell_to(self.place(steps.at, before), scale)

    def moved_often(self, messages: Messages, steps: StepFields, is_fall: Fact = _always) -> bool:
        """Take the messages of a window at once; returns whether they were taken: see :meth:`.Messages.scales`.

        :param is_fall: whether a message shows a scale after an overflow, not one that grew, given its shape
        """
        found = messages.scales(steps)
        if found is None:
            return False
        (scales,) = found.columns
        self.lines += len(scales)
        self.overflow_words += messages.count(b"verflow")
        self.scale_words += messages.count(b"cale")
        self.found.scaling = "dynamic"
        fell = messages.facts(is_fall)
        before = self.occurrences.total
        new = self._falls(scales, found.ats, fell, steps.spacing)
        if any(new):
            places = self.places(found.ats, accumulate(fell, initial=before + 1), new)
            self.scale.moved_rows(places, picked(scales, new), picked(fell, new))
        return True

    def _falls(self, scales: list[float], ats: list[int | None], fell: list[bool], spacing: int) -> list[bool]:
        """Add the overflows among moves; returns whether each move is a rise, or the first message of its overflow."""
        if all(fell):
            return self.occurrences.add_rows(scales, ats, spacing)
        rises = [False, *map(not_, fell)]
        falls, fall_ats = list(compress(scales, fell)), list(compress(ats, fell))
        if falls:
            new = iter(self.occurrences.add_rows(falls, fall_ats, spacing, list(compress(rises, fell))))
        if rises[-1]:
            self.occurrences.rose()
        return [is_rise or next(new) for is_rise in islice(rises, 1, None)]
