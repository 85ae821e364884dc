"""fairseq: a message per overflow on the first rank, and a counter of updates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ..count import Overflows
from ..log_format import NUMBER, LogFormat, Strength, rounding
from ..occurrences import Occurrences
from ..steps import Steps

_OVERFLOW = re.compile(rb"overflow detected, (?:ignoring gradient, )?setting loss scale to: " + NUMBER)
_UPDATES = re.compile(rb"num_updates\"?[=: ]{1,2}\"?(\d{1,15})")
_SCALE = re.compile(rb"[^\w](?:train_)?loss_scale\"?[=: ]{1,2}\"?" + NUMBER)
_BATCHES = re.compile(rb"epoch 0{0,2}1:\s{1,8}(\d{1,12}) / \d")
"""An overflow makes no update of its batch, and no other batch is without one, but those out of memory."""
_SKEW = 16
_FATAL = re.compile(rb"Minimum loss scale reached \(" + NUMBER)


class Fairseq(LogFormat):
    """`NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: <x>`; `WARNING: overflow detected,
    setting loss scale to: <x>` before version 0.9.

    Source: facebookresearch/fairseq, fairseq/optim/dynamic_loss_scaler.py, check_overflow (the message and the floor of
    1e-4); fairseq/trainer.py, train_step (each overflow is printed); fairseq/distributed/utils.py (only the first rank
    prints). `num_updates` does not count the steps that overflowed: all steps are the updates and the overflows.
    `loss_scale` is printed in float16 runs only.
    """

    name = "fairseq"
    reads = "fairseq (`overflow detected, ... setting loss scale to: <x>`, `num_updates`)"
    strength = Strength.UPDATES
    marks = (b"overflow detected, ", b"Minimum loss scale", b"num_updates")
    floor = 1e-4

    def __init__(self) -> None:
        super().__init__()
        self._occurrences = Occurrences()
        self._updates: int | None = None
        self._apart = 0
        """The greatest distance between two printed updates."""
        self._first = 0
        self._earlier = 0
        """Updates of the runs before, if several wrote to this log."""
        self._newest = 0.0
        self._updated = True
        """Whether updates were printed after the newest message."""
        self._prints_scale = False
        self._unseen = 0
        """Batches of the first epoch that made no update, of which no message is in this log."""

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        if b"Minimum loss scale" in line and _FATAL.search(line):
            self.found.fatal = "Minimum loss scale reached"
            self.lines += 1
        events = sorted([*_OVERFLOW.finditer(line), *_UPDATES.finditer(line)], key=re.Match.start)
        begins = [0, *(event.end() for event in events)]
        ends = [*(event.start() for event in events[1:]), len(line)]
        for event, begin, end in zip(events, begins, ends, strict=False):
            if event.re is _OVERFLOW:
                for _ in range(copies):  # one rank prints: each copy is an overflow
                    self.lines += 1
                    self._occurrences.add(float(event[1]), self._updates, self._apart)
                    self._fell_to(float(event[1]))
                continue
            self.lines += copies
            self._updated = True
            self._update(int(event[1]))
            if (batches := _BATCHES.search(line, begin, event.start())) and not self._earlier:
                unseen = int(batches[1]) - int(event[1]) - self._occurrences.total
                self._unseen = max(self._unseen, unseen) if unseen > 1 else self._unseen
            opening = line.rfind(b"{", begin, event.start())  # of a dictionary, whose order may be any
            before = _SCALE.search(line, opening, event.start()) if opening >= 0 else None
            if match := _SCALE.search(line, event.end(), end) or before:
                self._prints_scale = True
                self._print_scale(float(match[1]), rounding(match[1]))

    def _update(self, updates: int) -> None:
        if self._updates is None:
            self._first = updates
        elif updates <= self._first and updates + max(_SKEW, self._apart) < self._updates:  # another run in the file
            self._earlier += self._updates - self._begun
            self._first = self._updates = updates
        else:
            self._apart = max(self._apart, updates - self._updates)
        self._updates = max(self._updates or 0, updates)

    @property
    def _begun(self) -> int:
        """The updates before the log, if it begins after a resume."""
        return self._first - self._apart if 0 < 3 * self._apart < 2 * self._first else 0

    def _fell_to(self, scale: float) -> None:
        """Take the scale of a message. With a tolerance (`--fp16-scale-tolerance`) the scale may stay as it is; it can
        only have grown in between if there were updates.
        """
        add = self.scale.add if scale == self._newest and not self._updated else self.scale.fell_to
        self._add_scale(scale, add)
        self._updated = False

    def _print_scale(self, scale: float, error: float) -> None:
        """Take a printed scale: the average of the interval, unless it did not change, and rounded."""
        final = self.scale.final
        if final is not None and abs(scale - final) <= error:
            scale = final
        if scale > self._newest > 0:
            self._occurrences.rose()
        if final is None or not final < scale < 2 * final:
            self._add_scale(scale, self.scale.add)

    def _add_scale(self, scale: float, add: Callable[[int, float], None]) -> None:
        self.found.scaling, self.found.level, self.found.at_is_step = "dynamic", "fp16", True
        self._newest = scale
        add((self._updates or 0) + self._occurrences.total, scale)

    @property
    def numbers_steps(self) -> bool:
        return self._updates is not None

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        count = self._occurrences.count(None, ranks or 1)
        fell = self.scale.halvings
        if fell > count.low:  # the messages are not in this log
            doubt = "the log has no messages of its overflows"
            count = replace(count, low=fell, high=max(fell, self._updates or 0), doubt=doubt)
        if self._unseen:
            doubt = f"messages of {self._unseen} batches of the first epoch that made no update are not in this log"
            count = replace(count, high=count.high + self._unseen, doubt=doubt)
        begun = self._begun
        is_one = self._updates is not None and not self._apart  # the log may begin anywhere
        if steps is None and self._updates is not None and not is_one:
            steps = self._earlier + self._updates - begun + count.low
        if begun or is_one:
            count = replace(count, calibrating=0)
        proof = "fairseq prints each overflow of a run that prints `loss_scale`" if self._prints_scale else None
        return replace(count, steps=steps, proof=count.proof or proof)
