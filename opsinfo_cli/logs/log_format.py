"""What a format of `formats/` is: the lines that it reads, and what they prove."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import ClassVar

from .count import Overflows
from .evidence import Evidence
from .flags import Flags
from .occurrences import Occurrences
from .steps import Steps

NUMBER = rb"([-+]?(?:\d{1,60}\.?\d{0,60}(?:[eE][-+]?\d{1,4})?|inf|nan))"


_MOST_RUNS = 64


def whole_number(match: re.Match[bytes], group: int | str) -> float | None:
    """Return a number of a message; None if another rank's message may have cut it off, as in `to 163Gradient ...`."""
    text, line, end = match[group], match.string, match.end(group)
    if text is None or (b"." not in text and line[end : end + 1].isalpha()):
        return None
    return float(text)


def rounding(text: bytes) -> float:
    """Return how far a number may be from its printed digits, cut off or rounded."""
    return 10.0 ** -len(text.partition(b".")[2]) if text.replace(b".", b"").isdigit() else 0.0


class Strength(IntEnum):
    """How well a format shows overflows, best first; of the formats that read a line of a log the best one counts."""

    COUNTER = 1
    FLAG = 2
    UPDATES = 3
    ITERATION = 4
    MESSAGE = 5
    NAMED = 6
    SCALE = 7
    LOSS = 8


class LogFormat:
    """One format; its object keeps what it read of one log, in constant memory."""

    name: ClassVar[str]
    reads: ClassVar[str]
    """The logs that it reads, as text for people."""
    strength: ClassVar[Strength]
    marks: ClassVar[tuple[bytes, ...]]
    """A line with one of them goes to :meth:`line`. Each such line also has a word of :data:`.log.WORDS`."""
    option_marks: ClassVar[tuple[bytes, ...]] = ()
    """A line with one of them at the start of a log goes to :meth:`option`."""
    replaces: ClassVar[tuple[str, ...]] = ()
    """Formats whose lines say nothing in a log of this one, except how many steps there were."""
    shows_scaling: ClassVar[bool] = False
    """Whether its own options show the scaling better than :class:`.startup.Startup`."""
    is_general: ClassVar[bool] = False
    """Whether it reads values by their names, whoever prints them: beside a framework's own lines they do not count."""
    floor: ClassVar[float] = 1.0
    grows_each_step: ClassVar[bool] = False
    """Whether its scaler grows by a little in each clean step, not after a number of them."""

    def __init__(self) -> None:
        self.lines = 0
        """Lines or messages understood."""
        self.printed_ranks: tuple[int, ...] = ()
        """Numbers of ranks that the log prints at its start; a log of several nodes has more ranks."""
        self.steps_printed: int | None = None
        """The number of steps that any lines of the log show; set before :meth:`evidence`."""
        self.found = Evidence(self.name, floor=self.floor, grows_each_step=self.grows_each_step)
        self.scale = self.found.scale

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        """Read a line.

        :param steps: ``steps.upto(at)`` gives the step before it
        :param at: its number in the block
        :param copies: how often it follows itself, from several ranks
        """
        raise NotImplementedError

    def option(self, line: bytes) -> None:
        """Read a line that a run prints when it starts."""

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        """Return the overflows.

        :param steps: the number of steps, if known
        :param ranks: the number of ranks that print, if known
        """
        raise NotImplementedError

    @property
    def counts(self) -> bool:
        """Whether anything that counts overflows was read, not only options."""
        return self.lines > 0

    @property
    def steps_made(self) -> int | None:
        """The steps that the lines of this format count."""
        return None

    @property
    def numbers_steps(self) -> bool:
        """Whether the lines that were counted show their step, and so whether the log has the start of the run."""
        return False

    def place(self, at: int | None, messages: int) -> int:
        """Return the place of a message in the run: the last step printed before it, else the number of its first copy.

        :param messages: how many were there before it
        """
        if at is None:
            return messages + 1
        self.found.at_is_step = True
        return at

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        self.found.count = self.tally(steps, ranks)
        self.found.lines = self.lines
        if self.scale.changes:  # whatever an option says
            self.found.scaling, self.found.static_scale = "dynamic", None
        return self.found


class FallFormat(LogFormat):
    """A format whose ranks print the new scale at each overflow."""

    strength = Strength.MESSAGE
    level: ClassVar[str] = "fp16"

    def __init__(self) -> None:
        super().__init__()
        self.occurrences = Occurrences()

    def fell(self, scale: float | None, steps: Steps, copies: int) -> None:
        """Take copies of one message; ``steps`` is at their place."""
        self.found.scaling = "dynamic"
        before = self.occurrences.total
        is_new = self.occurrences.add(scale, steps.at, steps.spacing, copies)
        if is_new and scale is not None:
            self.scale.fell_to(self.place(steps.at, before), scale)

    def moved(self, before: float, after: float, steps: Steps, copies: int, *, one_rank: bool = False) -> None:
        """Take copies of one message with the scale before the overflow, too."""
        self.found.scaling, self.found.level = "dynamic", self.level
        if self.occurrences.add(after, steps.at, steps.spacing, copies) or one_rank:
            place = self.place(steps.at, self.lines)
            self.scale.add(place, before)
            self.scale.add(place, after)
        self.lines += copies

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        return self.occurrences.count(steps, ranks, self.steps_printed is not None)


class FlagFormat(LogFormat):
    """A format whose lines have a flag of a step, and the scale that it used."""

    strength = Strength.FLAG

    def __init__(self) -> None:
        super().__init__()
        self.flags = Flags()
        self._earlier: list[Overflows] = []
        """Of the runs before that of ``flags``, if several wrote to this log."""

    def add_flag(self, step: int | None, overflow: bool, scale: bytes | None, copies: int) -> None:
        """Take copies of one flag."""
        if step is not None and self.flags.begins_again(step) and len(self._earlier) < _MOST_RUNS:
            self._earlier.append(self.flags.count(None, None))
            again = Flags()
            again.averaged, again.each_step = self.flags.averaged, self.flags.each_step
            self.flags = again
        for _ in range(copies):
            if self.flags.add(step, overflow) and scale is not None:
                self.found.at_is_step = step is not None
                self.scale.add(self.flags.printed if step is None else step, float(scale))

    @property
    def numbers_steps(self) -> bool:
        return self.flags.numbers_steps

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        if not self._earlier:
            return self.flags.count(steps, ranks, self.steps_printed)
        counts = [*self._earlier, self.flags.count(None, ranks)]
        logged = [count.logged or count.steps or 0 for count in counts]
        doubt = next((count.doubt for count in counts if count.doubt), None)
        total = Overflows(
            sum(count.low for count in counts),
            sum(count.high for count in counts),
            steps or sum(count.steps or 0 for count in counts),
            counts[0].calibrating,
            f"flags of {len(counts)} runs in one log",
            logged=sum(logged) if doubt else None,
            even=all(count.even or not count.doubt for count in counts),
            doubt=doubt,
            proof=counts[0].proof,
        )
        return total.with_note(
            f"the steps begin again: {len(counts)} runs, or ranks one after the other, are in the log"
        )


def number_or_none(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
