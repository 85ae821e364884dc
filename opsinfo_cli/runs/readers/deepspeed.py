"""DeepSpeed: overflow messages of one rank, and a cumulative counter of skipped steps."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from operator import ne

from ..columns import integers, picked
from ..count import Count
from ..counters import CounterPlaces, Counters, counter_places
from ..occurrences import Occurrences
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .counter_steps import CounterSteps
from .message import Message, number_places
from .message_runs import message_runs
from .messages import Messages
from .reader import NUMBER, Evidence, Reader, lines_with, number, number_or_none

_COUNTER = re.compile(rb"step=(\d{1,15}), skipped=(\d{1,15})")
_SCALES = (
    rb"(?P<told> Attempted loss scale: (?P<from>"
    + NUMBER[1:-1]
    + rb"), (?:reducing to (?P<to>"
    + NUMBER[1:-1]
    + rb")(?![\[\w]))?)?"  # a message of another rank may cut a number off
)
_BEFORE_WINDOW = -1
_FATAL = b"Current loss scale already at minimum"
_CONFIGURED = (b"fp16_enabled ..", b"bfloat16_enabled ..", b"loss_scale ..", b"dynamic_loss_scale_args ..")
_CONFIG = re.compile(
    rb"(?:(\[config\.py:\d{1,6}:print[\w.]{0,40}\])|^)\s{0,8}(fp16_enabled|bfloat16_enabled|loss_scale|dynamic_loss_scale_args)"
    rb" \.{2,} (\S[^\n]{0,200})"
)
_INITIAL = re.compile(rb"'init_scale': " + NUMBER)


def _overflow(text: bytes, mark: bytes) -> Message:
    """:param text: the pattern of a message before the scales"""
    return Message(re.compile(text + _SCALES), mark, _scales_of)


def _moves(match: re.Match[bytes]) -> bool:
    return match["to"] is not None and match["from"] != match["to"]


def _scales_of(match: re.Match[bytes]) -> tuple[slice, ...] | None:
    """Return where a message shows the scales, and the rank if it has one; None if the message must be searched for."""
    return _uncounted_places(match, "from", "to", *(["rank"] if match["rank"] else []))


def _uncounted_places(match: re.Match[bytes], *groups: int | str) -> tuple[slice, ...] | None:
    return None if b"skipped=" in match.string else number_places(match, *groups)


_OVERFLOW = _overflow(rb"\] OVERFLOW! Rank (?P<rank>\d{1,9}) Skipping step\.", b"OVERFLOW! Rank")
_OPTIMIZER = _overflow(
    rb"dynamic loss scale overflow! (?:Rank (?P<rank>\d{1,9}) )?Skipping step\.", b"scale overflow! "
)
_FUSED = _overflow(rb"\[Rank (?P<rank>\d{1,9})\] Overflow detected\. Skipping step\.", b"Overflow detected. Skipping")
_MESSAGES = (_OVERFLOW, _OPTIMIZER, _FUSED)
_MOVED = Message(
    re.compile(rb"(Reduc|Increas)ing dynamic loss scale from " + NUMBER + rb" to " + NUMBER + rb"(?![\[\w])"),
    b"ing dynamic loss scale from",
    lambda match: _uncounted_places(match, 2, 3),
)


def _places_of(shape: bytes) -> CounterPlaces | None:
    return counter_places(shape, _COUNTER, b"skipped=")


class DeepSpeed(Reader):
    """`step=<n>, skipped=<k>` counts from the start of the run; one rank prints `[deepspeed] OVERFLOW! Rank <r> ...`.

    Source: deepspeedai/DeepSpeed, deepspeed/runtime/engine.py, _report_progress; deepspeed/runtime/fp16/loss_scaler.py,
    update_scale (before version 0.9 deepspeed/runtime/zero/stage3.py, _overflow_clean_up, and stage_1_and_2.py, step);
    deepspeed/runtime/config.py for the configuration printed at the start. With hysteresis 2, the default
    (deepspeed/runtime/constants.py), the first overflow of a series does not lower the scale.

    Without ZeRO, deepspeed/runtime/fp16/fused_optimizer.py and unfused_optimizer.py, step and _update_scale: each rank
    prints `Reducing dynamic loss scale from <s> to <x>`, or `Increasing ...`, and rank 0 `Overflow detected. Skipping
    step. ...`, or each rank `fp16 dynamic loss scale overflow! Skipping step. ...` without its number. In early
    versions stages 1 and 2 print that with the number.
    """

    name = "deepspeed"
    reads = "DeepSpeed (`step=<n>, skipped=<k>`, `OVERFLOW! Rank <r> ...`)"
    marks = (b"skipped=", *(message.mark for message in _MESSAGES), _MOVED.mark, _FATAL, *_CONFIGURED)
    window_default = 1000

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=True)
        self.overflows = 0
        """Messages of one rank, or of all ranks if they do not show which."""
        self.rank: bytes | None = None
        self._is_unranked = False
        self._move: tuple[float, float] | None = None
        """The newest move of the scale that a message showed; each rank prints it."""
        self._moves_seen = 0
        self._descent = Occurrences()
        self._config = [re.compile(re.escape(mark)) for mark in _CONFIGURED]
        self._places = Shapes(_places_of)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        data, limit = sheet.data, sheet.limit
        if sheet.has(_FATAL) and _FATAL in data[:limit]:
            self.found.fatal = _FATAL.decode()
            self.lines += 1
        before = self.counters.last_step
        places, counts = self._counted(sheet) if sheet.has(b"skipped=") else ([], [])
        if any(map(sheet.has, _CONFIGURED)):  # printed before the first step
            for start, end in lines_with(data, limit, self._config):
                self._configured(data[start:end])
        if any(sheet.has(message.mark) for message in (*_MESSAGES, _MOVED)):
            self._messages(sheet, steps, CounterSteps(places, counts, before))

    def _messages(self, sheet: Sheet, steps: StepFields, counted: CounterSteps) -> None:
        data, limit = sheet.data, sheet.limit
        fused_steps = None if counted.has_counter else steps  # the counter shows the step, and each message has a rank
        if sheet.has(_MOVED.mark):
            self._moves_of(sheet, fused_steps, counted)
        for message in _MESSAGES:
            shown = fused_steps if message is _FUSED else steps
            if not sheet.has(message.mark) or self._overflowed_often(Messages(message, sheet), shown, steps, counted):
                continue
            for match, copies in message_runs(message.pattern, message.mark, data, limit, shown, _moves):
                self.lines += copies
                self._overflow(match, copies, counted.at(match.start()), steps)

    def _counted(self, sheet: Sheet) -> tuple[list[int], list[int]]:
        """Return the places of the counter in a window, and the step at each."""
        table = sheet.whole_table(self._places, b"skipped=")
        if table:
            begins = sheet.begins_of(b"skipped=")
            places = [begin + step.start for begin, step in zip(begins, table.values(0), strict=True)]
            steps, skipped = list(map(int, table.column(0))), integers(table.column(1))
        else:
            found = list(_COUNTER.finditer(sheet.data, 0, sheet.limit))
            places = [match.start() for match in found]
            steps, skipped = [int(match[1]) for match in found], [int(match[2]) for match in found]
        self.lines += len(steps)
        self.counters.add_rows(steps, skipped)
        return places, steps

    def _moves_of(self, sheet: Sheet, steps: StepFields | None, counted: CounterSteps) -> None:
        """:param steps: None if the counter shows the step"""
        if steps:
            counted.add([_BEFORE_WINDOW], [steps.at])
        if self._moved_often(Messages(_MOVED, sheet), steps, counted):
            return
        for match, copies in message_runs(_MOVED.pattern, _MOVED.mark, sheet.data, sheet.limit, steps):
            self.lines += copies
            if steps:
                counted.add([match.start()], [steps.at])
            self._moved(number(match[2]), number(match[3]), counted.at(match.end()))

    def _moved(self, before: float, after: float, at: int | None) -> None:
        if self._move == (before, after):
            return
        self._move = before, after
        self.found.scaling, self.found.level = "dynamic", "fp16"
        place = self.place(at, self._moves_seen)
        self._moves_seen += 1
        self.scale.add(place, before)
        self.scale.add(place, after)

    def _moved_often(self, messages: Messages, steps: StepFields | None, counted: CounterSteps) -> bool:
        """Take the moves of a window at once; returns whether they were taken: see :meth:`.Messages.scales`."""
        found = messages.scales(steps)
        if found is None:
            return False
        self.lines += len(found.ats)
        if steps:
            counted.add(messages.begins, found.ats)
        ats = list(map(counted.at, map((1).__add__, messages.begins)))
        moves = list(zip(*found.columns, strict=True))
        new = list(map(ne, moves, (self._move, *moves)))
        if any(new):
            before, after = (picked(column, new) for column in found.columns)
            places = self.places(picked(ats, new), count(self._moves_seen + 1), [True] * len(after))
            self._move = moves[-1]
            self._moves_seen += len(after)
            self.found.scaling, self.found.level = "dynamic", "fp16"
            self.scale.changed_rows(places, before, after)
        return True

    def _overflowed_often(
        self, messages: Messages, shown: StepFields | None, steps: StepFields, counted: CounterSteps
    ) -> bool:
        """Take the messages of a window at once; returns whether they were taken: see :meth:`.Messages.scales`.

        :param shown: the steps, if messages are placed by them
        """
        found = messages.scales(shown)
        if found is None:
            return False
        self.lines += len(found.ats)
        before, after, *ranks = found.columns
        ats = found.ats
        if counted.is_known:
            ats = [at if step is None else step for step, at in zip(map(counted.at, messages.begins), ats, strict=True)]
        if ranks:
            self.rank = self.rank or b"%d" % ranks[0][0]
            mine = list(map(float(self.rank).__eq__, ranks[0]))
            ats, before, after = picked(ats, mine), picked(before, mine), picked(after, mine)
        else:
            self._is_unranked = True
        if ats:
            self._overflowed_at(ats, before, after, steps.spacing, is_ranked=bool(ranks))
        return True

    def _overflowed_at(
        self, ats: list[int | None], before: list[float], after: list[float], spacing: int, *, is_ranked: bool
    ) -> None:
        """Take messages with the step before each, and the scale before and after it."""
        self.found.scaling, self.found.level = "dynamic", "fp16"
        new = self._descent.add_rows(after, ats, spacing)
        wanted = [True] * len(new) if is_ranked else new
        if not self._move and any(wanted):
            places = self.places(ats, count(self.overflows + 1), wanted)
            self.scale.changed_rows(places, picked(before, wanted), picked(after, wanted))
        self.overflows += len(new)

    def _overflow(self, match: re.Match[bytes], copies: int, counted: int | None, steps: StepFields) -> None:
        """:param counted: the step of the counter before the message"""
        rank = match["rank"]
        if rank is None:
            self._is_unranked = True
        else:
            self.rank = self.rank or rank
            if rank != self.rank:
                return
            if match["told"] is None:
                self.found.precision = "bfloat16"
        before = self.overflows
        self.overflows += copies
        at, since = (counted, None) if counted is not None else (steps.at, steps.since)
        if match["told"]:
            self.found.scaling, self.found.level = "dynamic", "fp16"
        new = self._descent.add(number(match["to"]) if match["to"] else None, at, steps.spacing, copies, since)
        if match["told"] and not self._move and (new or rank):
            place = self.place(at, before)
            self.scale.add(place, number(match["from"]))
            if match["to"]:
                self.scale.add(place, number(match["to"]))

    def _configured(self, line: bytes) -> None:
        match = _CONFIG.search(line)
        if not match:
            return
        key, value = match[2], match[3]
        if (
            key == b"loss_scale" and not match[1] and not self.found.precision
        ):  # an argument of Megatron has the same form
            return
        self.lines += 1
        if key == b"dynamic_loss_scale_args":
            self.found.scaling = self.found.scaling or "dynamic"
            initial = _INITIAL.search(value)
            if initial:
                self.scale.add(0, number(initial[1]))
        elif key == b"loss_scale":
            self.found.scaling = "dynamic" if value.strip() in (b"0", b"0.0") else "static"
            if self.found.scaling == "static":
                self.found.static_scale = number_or_none(value)
        elif value.startswith(b"True"):
            self.found.level = "fp16" if key == b"fp16_enabled" else "bf16"
            self.found.precision = "float16" if key == b"fp16_enabled" else "bfloat16"

    @property
    def counts(self) -> bool:
        return self.counters.last_step > 0 or self.overflows > 0

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        """Count the messages as steps, because one rank prints; those that show no rank are of each rank."""
        descent = self._descent.count(steps, ranks if self._is_unranked else 1, self.steps_printed)
        if self.counters.last_step == 0:  # printed once, before the first step
            if self._is_unranked:
                return descent
            proof = "the log has messages of skipped steps" if self.overflows else None
            basis = f"{self.overflows} messages"
            return Count(self.overflows, self.overflows, steps, descent.calibrating, basis, proof=proof)
        count = self.counters.count(steps)
        low, high = (descent.low, descent.high) if self._is_unranked else (self.overflows, self.overflows)
        if low <= count.high:
            return count
        made = count.steps if steps else max(count.steps or 0, low)  # the counter is printed every few steps
        return replace(count, low=low, high=high, steps=made, basis=f"{count.basis}; {self.overflows} messages")

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = super().evidence(steps, ranks)
        if found.level == "bf16" and found.scaling == "dynamic":
            found.scaling = None  # the configuration has a scaler that is not used
        return found
