"""One pass over a log: the lines with a mark go to the formats that have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import IO

from .blocks import Block, blocks
from .count import Overflows
from .evidence import Evidence
from .formats import FORMATS
from .log_format import Strength
from .losses import Losses, StepAt
from .metric import Metric
from .reduced import Reduced
from .startup import MARKS, Startup
from .steps import Steps, step_field
from .training_table import RowTables, TrainingTable

WORDS = tuple(
    b"verflow VERFLOW kip scal Scal found_inf inf_or_nan finite nan_steps Bool, num_updates loss' loss\" log_history "
    b"imgsize".split()
)
"""Every line with a mark of a format contains one of these; a test checks that.

They are searched one by one: an alternation is thirty times slower than a literal string.
"""

_STARTUP = 1 << 26
"""Levels and modes are searched in the first 64 MiB: a run prints them when it starts."""

_LEFT_OUT = re.compile(rb"\n(?:\.{3,}|\xe2\x80\xa6|\[\.\.\.\])[ \t]*(?=\n|$)")
"""A line of an excerpt that stands for others; an array that is printed short has blanks before its dots."""

_EVERY = 1 << 21
"""The number of bytes at the start of which all steps are read, not only the newest ones."""


class Log:
    """The evidence of one log, in constant memory."""

    def __init__(self, metric: Metric | None = None) -> None:
        self.metric = metric
        self.reduced = Reduced()
        self.losses = Losses()
        self._startup = Startup()
        self._steps = Steps()
        self._formats = [kind() for kind in FORMATS]
        self._bytes = 0
        self._is_excerpt = False
        self._table: TrainingTable | None = None
        self._row_tables = RowTables()

    def take(self, block: Block) -> None:
        data = block.data
        if self.metric:
            self.metric.take(data)
        if self._bytes == 0:
            self._table = TrainingTable.of(data)
        self._is_excerpt = self._is_excerpt or _LEFT_OUT.search(b"\n" + data) is not None
        lines = self._table.lines(data) if self._table else self._row_tables.lines(data)
        self._read(Block(lines, block.continues))
        self._bytes += len(data)

    def _read(self, block: Block) -> None:
        data, continues = block
        is_start, every = self._bytes < _STARTUP, self._bytes < _EVERY
        self.losses.take(data, self._step_at(block))
        words = [word for word in WORDS if word in data]
        options = [mark for mark in MARKS if mark in data] if is_start else []
        if words or options or every:
            lines = data.split(b"\n")
            self._steps.begin(lines, int(continues), every)
            if options:
                self._read_options(data, lines, options)
            if words:
                self._read_lines(data, lines, words)
            self._steps.upto(len(lines))
        else:
            self._steps.skip(data, int(continues))
        self.reduced.take(data)

    def _step_at(self, block: Block) -> StepAt:
        """Return what gives the step of a line of the next block: its own, else the newest one before it."""

        def step_at(place: int, evaluated: bool) -> int | None:
            lines, at = block.data.split(b"\n"), block.data.count(b"\n", 0, place)
            steps = deepcopy(self._steps)  # asked for once a log: a format looks steps up in the order of its lines
            steps.begin(lines, int(block.continues), every=False)
            steps.upto(at + (step_field(lines[at]) is not None))
            return steps.at if evaluated else steps.newest  # bars of an evaluation have another length

        return step_at

    def _read_options(self, data: bytes, lines: list[bytes], options: list[bytes]) -> None:
        readers = [
            (mark, reader)
            for reader in self._formats
            for mark in reader.option_marks
            if b" .." in data and mark in data
        ]
        for line in lines:
            if any(map(line.__contains__, options)):
                self._startup.line(line)
                for mark, reader in readers:
                    if mark in line:
                        reader.option(line)

    def _read_lines(self, data: bytes, lines: list[bytes], words: list[bytes]) -> None:
        absent = [word for word in WORDS if word not in words]
        readers = [
            (mark, reader)
            for reader in self._formats
            for mark in reader.marks
            if not any(word in mark for word in absent) and mark in data
        ]
        at = 0
        for line, equal in groupby(lines):
            copies = len(list(equal))
            if any(map(line.__contains__, words)):
                newest, is_read = None, False
                for mark, reader in readers:
                    if mark in line and reader is not newest:  # a line may have several marks of a format
                        before = reader.lines
                        if not (is_read and reader.strength is Strength.NAMED):
                            reader.line(line, self._steps, at, copies)
                        is_read |= reader.lines > before
                        newest = reader
            at += copies

    def evidence(self, steps: int | None = None, ranks: int | None = None) -> Evidence:
        """Return the evidence of the best format, completed from the start of the log.

        :param steps: the number of steps, if known
        :param ranks: the number of ranks that print, if known
        """
        self._read(Block(self._row_tables.rest(), continues=False))
        readers = [reader for reader in self._formats if reader.lines]
        replaced = {name for reader in readers for name in reader.replaces}
        readers = [reader for reader in readers if reader.name not in replaced]
        readers.sort(key=lambda reader: not reader.counts)  # the best evidence first; options alone come last
        for reader in readers:
            reader.printed_ranks = self._startup.ranks
            reader.steps_printed = self._steps.total
        best = readers[0] if readers else None
        evidence = Evidence("unknown")
        if best:
            made = (reader.steps_made for reader in self._formats if reader.name in best.replaces)
            evidence = best.evidence(steps or next(filter(None, made), None), ranks)
        others = [reader.evidence(steps, ranks) for reader in readers[1:] if reader.counts]
        general = {reader.name for reader in readers if reader.is_general}
        count = _with_others(evidence.count, [other for other in others if other.format not in general])
        hides_gaps = best and (not best.numbers_steps or best.strength in (Strength.UPDATES, Strength.ITERATION))
        if self._is_excerpt and hides_gaps and count.proof and not count.doubt:
            doubt = "a line of dots stands for lines that are left out of this log"
            count = replace(count, high=max(count.high, count.steps or self._steps.total or 0), doubt=doubt)
        for other in others:
            evidence.scaling = evidence.scaling or other.scaling
            evidence.fatal = evidence.fatal or other.fatal
            shows_more = evidence.scale.seen == 1 and len({point.at for point in other.scale.points}) > 1
            if (not evidence.scale.seen or shows_more) and not evidence.unreadable:
                evidence.scale, evidence.at_is_step = other.scale, other.at_is_step
                evidence.scale_key = other.scale_key
                if other.scale.changes:  # whatever an option says
                    evidence.scaling, evidence.static_scale = "dynamic", None
        shows_start = self._steps.from_start
        if shows_start is None:  # the options that a run prints first show it, too
            shows_start = bool(steps or self._startup.known)
        if best and not best.numbers_steps and not shows_start:
            count = replace(count, calibrating=0)
        if count.steps is None:
            count = replace(count, steps=steps or self._steps.total)
            if self._steps.note and not steps:
                count = count.with_note(self._steps.note)
            if self._row_tables.rounds_steps and count.steps and not steps:
                count = count.with_note("the log prints steps with three digits")
        evidence.count = count.without_wrong_steps()
        evidence.losses = self.losses
        has_steps, has_tables = self._steps.newest is not None, self._row_tables.found > 0
        is_log = has_steps or has_tables or self.losses.first is not None
        is_shown_once = has_steps and (self.losses.first is not None or (has_tables and self.losses.losses.entries > 0))
        has_losses = is_shown_once or (is_log and self.losses.losses.entries > 1)
        is_read = self._startup.known or any(reader.lines for reader in self._formats)
        evidence.known = is_read or has_losses or bool(self.reduced)
        self._startup.complete(evidence, with_scaling=not (best and best.shows_scaling))
        return evidence


def _with_others(count: Overflows, others: list[Evidence]) -> Overflows:
    """Return the count with what other stacks in the same log prove: counts of two stacks are never added."""
    more = [other for other in others if other.count.proof and other.count.low > count.high]
    if not more:
        return count
    most = max(other.count.low for other in more)
    names = ", ".join(sorted(other.format for other in more))
    return replace(count, high=most).with_note(f"lines of another stack ({names}) show {most} overflows")


def read_log(
    path: str,
    metric: Metric | None = None,
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> Log:
    """:raises Refused: if the log cannot be read"""
    log = Log(metric)
    for block in blocks(path, stdin, seen):
        log.take(block)
    return log
