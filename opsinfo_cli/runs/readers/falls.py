"""Messages that show the scale after an overflow."""

from __future__ import annotations

from ..columns import picked
from ..occurrences import Occurrences
from ..steps import StepFields
from .messages import Messages, Places
from .reader import Reader


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

    def fell_often(self, messages: Messages, places_of: Places, steps: StepFields) -> bool:
        """Take the messages of a window at once; returns whether they were taken: see :meth:`.Messages.scales`."""
        found = messages.scales(places_of, steps)
        if found is None:
            return False
        (scales,) = found.columns
        self.lines += len(scales)
        self.overflow_words += messages.count(b"verflow")
        self.scale_words += messages.count(b"cale")
        self.found.scaling = "dynamic"
        before = self.occurrences.total
        new = self.occurrences.add_rows(scales, found.ats, steps.spacing)
        if any(new):
            self.scale.fell_to_rows(self.places(found.ats, before, new), picked(scales, new))
        return True
