"""What every log reader is: lines in, evidence out, in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from ..count import Count, Counters, Flags, Occurrences
from ..trajectory import Trajectory

__all__ = ["NUMBER", "Evidence", "Reader", "number"]

NUMBER = rb"([-+]?(?:\d{1,60}\.?\d{0,60}(?:[eE][-+]?\d{1,4})?|inf|nan))"


def number(text: bytes) -> float:
    return float(text)


@dataclass
class Evidence:
    """What one log says of mixed precision, whatever wrote it.

    :param format: the reader that understood it
    :param level: the opt level or precision mode, as printed
    :param precision: ``float16`` or ``bfloat16``
    :param scaling: ``dynamic`` or ``static``; None where the log does not tell
    :param floor: the scale below which, or at which, the scaler of this format is at its end
    :param fatal: a message with which the run gave up
    """

    format: str
    level: str | None = None
    precision: str | None = None
    scaling: str | None = None
    static_scale: float | None = None
    floor: float = 1.0
    fatal: str | None = None
    window: int | None = None
    at_is_step: bool = False
    count: Count | None = None
    scale: Trajectory = field(default_factory=Trajectory)
    lines: int = 0


class Reader:
    """One log format. :meth:`line` is given lines that hold one of :data:`marks`."""

    name: ClassVar[str]
    marks: ClassVar[tuple[bytes, ...]]
    floor: ClassVar[float] = 1.0
    window: ClassVar[int | None] = None
    """Clean steps after which this scaler grows, by default."""
    own_steps: ClassVar[bool] = False
    """Whether its lines tell how many steps were made."""

    def __init__(self) -> None:
        self.lines = 0
        self.at: int | None = None
        """The step printed last before a line, where the reader's own lines tell none."""
        self.spacing = 0
        """How far such steps are apart."""
        self.found = Evidence(self.name, floor=self.floor, window=self.window)
        self.scale = self.found.scale

    def line(self, line: bytes) -> bool:
        """:returns: whether the line was of this format"""
        raise NotImplementedError

    def place(self, messages: int) -> int:
        """Where in the run a message without a step of its own stands: at the step printed last, else at its number."""
        if self.at is None:
            return messages
        self.found.at_is_step = True
        return self.at

    def tally(self) -> Occurrences | Flags | Counters:
        raise NotImplementedError

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        self.found.count = self.tally().count(steps, ranks)
        self.found.lines = self.lines
        if self.found.scaling is None and self.scale.changes and self.scale.lowest < math.inf:
            self.found.scaling = "dynamic"
        return self.found
