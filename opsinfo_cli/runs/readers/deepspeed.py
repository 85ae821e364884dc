"""DeepSpeed: overflow messages of one rank, and a cumulative counter of skipped steps."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from ..columns import integers
from ..count import Count
from ..counters import CounterPlaces, Counters, counter_places
from ..occurrences import Occurrences
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .reader import NUMBER, Evidence, Reader, lines_with, message_runs, number, number_or_none

_COUNTER = re.compile(rb"step=(\d{1,15}), skipped=(\d{1,15})")
_SCALES = (
    rb"(?P<told> Attempted loss scale: (?P<from>"
    + NUMBER[1:-1]
    + rb"), (?:reducing to (?P<to>"
    + NUMBER[1:-1]
    + rb")(?![\[\w]))?)?"  # a message of another rank may cut a number off
)
_OVERFLOW = re.compile(rb"\] OVERFLOW! Rank (?P<rank>\d{1,9}) Skipping step\." + _SCALES)
_OPTIMIZER = re.compile(rb"dynamic loss scale overflow! (?:Rank (?P<rank>\d{1,9}) )?Skipping step\." + _SCALES)
_FUSED = re.compile(rb"\[Rank (?P<rank>\d{1,9})\] Overflow detected\. Skipping step\." + _SCALES)
_MOVED = re.compile(rb"(Reduc|Increas)ing dynamic loss scale from " + NUMBER + rb" to " + NUMBER + rb"(?![\[\w])")
_MESSAGES = (
    (_OVERFLOW, b"OVERFLOW! Rank"),
    (_OPTIMIZER, b"scale overflow! "),
    (_FUSED, b"Overflow detected. Skipping"),
)
_MOVE = b"ing dynamic loss scale from"
_FATAL = b"Current loss scale already at minimum"
_CONFIGURED = (b"fp16_enabled ..", b"bfloat16_enabled ..", b"loss_scale ..", b"dynamic_loss_scale_args ..")
_CONFIG = re.compile(
    rb"(?:(\[config\.py:\d{1,6}:print[\w.]{0,40}\])|^)\s{0,8}(fp16_enabled|bfloat16_enabled|loss_scale|dynamic_loss_scale_args)"
    rb" \.{2,} (\S[^\n]{0,200})"
)
_INITIAL = re.compile(rb"'init_scale': " + NUMBER)


def _moves(match: re.Match[bytes]) -> bool:
    return match["to"] is not None and match["from"] != match["to"]


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
    marks = (b"skipped=", *(mark for _, mark in _MESSAGES), _MOVE, _FATAL, *_CONFIGURED)
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
        self._descent = Occurrences()
        self._config = [re.compile(re.escape(mark)) for mark in _CONFIGURED]
        self._places = Shapes(_places_of)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        data, limit = sheet.data, sheet.limit
        if sheet.has(_FATAL) and _FATAL in data[:limit]:
            self.found.fatal = _FATAL.decode()
            self.lines += 1
        before = self.counters.last_step
        if sheet.has(b"skipped="):
            self._counted(sheet)
        if any(map(sheet.has, _CONFIGURED)):  # printed before the first step
            for start, end in lines_with(data, limit, self._config):
                self._configured(data[start:end])
        if any(sheet.has(mark) for _, mark in _MESSAGES) or sheet.has(_MOVE):
            self._messages(sheet, steps, _Counted(data, limit, before))

    def _messages(self, sheet: Sheet, steps: StepFields, counted: _Counted) -> None:
        data, limit = sheet.data, sheet.limit
        fused_steps = None if counted.has_counter else steps  # the counter shows the step, and each message has a rank
        for match, copies in message_runs(_MOVED, _MOVE, data, limit, fused_steps) if sheet.has(_MOVE) else ():
            self.lines += copies
            if steps.at is not None and not counted.has_counter:
                counted.add(match.start(), steps.at)
            self._moved(number(match[2]), number(match[3]), counted.before(match.end()))
        for pattern, mark in _MESSAGES:
            if sheet.has(mark):
                shown = fused_steps if pattern is _FUSED else steps
                for match, copies in message_runs(pattern, mark, data, limit, shown, _moves):
                    self.lines += copies
                    self._overflow(match, copies, counted.before(match.start()), steps)

    def _counted(self, sheet: Sheet) -> None:
        table = sheet.whole_table(self._places, b"skipped=")
        if table:
            steps, skipped = table.column(0), table.column(1)
        else:
            rows = _COUNTER.findall(sheet.data, 0, sheet.limit)
            steps, skipped = [step for step, _ in rows], [skipped for _, skipped in rows]
        self.lines += len(steps)
        self.counters.add_rows(list(map(int, steps)), integers(skipped))

    def _moved(self, before: float, after: float, at: int | None) -> None:
        if self._move == (before, after):
            return
        self._move = before, after
        self.found.scaling, self.found.level = "dynamic", "fp16"
        place = self.place(at, self.scale.changes)
        self.scale.add(place, before)
        self.scale.add(place, after)

    def _overflow(self, match: re.Match[bytes], copies: int, counted: int | None, steps: StepFields) -> None:
        """:param counted: the step of the counter before the message"""
        rank = match.groupdict().get("rank")
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


class _Counted:
    """The step before each place of a window: the one that the counter shows, if the log has a counter."""

    def __init__(self, data: bytes, limit: int, before: int) -> None:
        """:param before: the step of the counter at the end of the window before, 0 if there is none"""
        found = list(_COUNTER.finditer(data, 0, limit))
        self._places = [match.start() for match in found]
        self.has_counter = before > 0 or bool(found)
        self._steps = [before if self.has_counter else None, *(int(match[1]) for match in found)]

    def add(self, place: int, step: int) -> None:
        """Add a step that is shown by other lines; places come in order."""
        self._places.append(place)
        self._steps.append(step)

    def before(self, place: int) -> int | None:
        """Return the step; None if none is known."""
        return self._steps[bisect_left(self._places, place)]
