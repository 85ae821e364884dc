"""BMTrain: a message per overflow on the first rank."""

from __future__ import annotations

import re
from itertools import count

from ..columns import picked
from ..count import Count
from ..occurrences import Occurrences
from ..sheet import Sheet
from ..steps import StepFields
from .message import Message, number_places
from .messages import Messages, Scales
from .reader import NUMBER, Reader, number

_OVERFLOW = Message(
    re.compile(rb"Gradient overflow, change scale from " + NUMBER + rb" to " + NUMBER),
    b"Gradient overflow, change scale",
    lambda match: number_places(match, 1, 2),
)


def _moves(match: re.Match[bytes]) -> bool:
    return match[1] != match[2]


class BMTrain(Reader):
    """`Gradient overflow, change scale from <s> to <x>`.

    Source: OpenBMB/BMTrain, bmtrain/optim/optim_manager.py, OptimManager.step; print_rank prints on rank 0 only. A
    scale of 1 or less is not lowered, and no overflow is looked for.
    """

    name = "bmtrain"
    reads = "BMTrain (`Gradient overflow, change scale from <s> to <x>`)"
    marks = (_OVERFLOW.mark,)
    window_default = 1024

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        messages = Messages(_OVERFLOW, sheet)
        found = messages.scales(steps)
        if found:
            self._changed(found, steps.spacing)
            return
        for match, copies in messages.runs(steps, _moves):
            self.overflow_words += copies
            self.found.scaling, self.found.level = "dynamic", "fp16"
            self.occurrences.add(number(match[2]), steps.at, steps.spacing, copies, steps.since)
            place = self.place(steps.at, self.lines)
            for scale in (number(match[1]), number(match[2])):
                self.scale.add(place, scale)
            self.lines += copies

    def _changed(self, found: Scales, spacing: int) -> None:
        """Take the messages of a window at once."""
        before, after = found.columns
        places = self.places(found.ats, count(self.lines + 1), found.firsts)
        self.lines += len(after)
        self.overflow_words += len(after)
        self.found.scaling, self.found.level = "dynamic", "fp16"
        self.occurrences.add_rows(after, found.ats, spacing)
        self.scale.changed_rows(places, picked(before, found.firsts), picked(after, found.firsts))

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return self.occurrences.count(steps, ranks or 1)
