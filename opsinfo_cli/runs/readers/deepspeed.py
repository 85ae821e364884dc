"""DeepSpeed: overflow messages of one rank, and a cumulative counter of skipped steps."""

from __future__ import annotations

import re
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
    + rb"))?)?"
)
_OVERFLOW = re.compile(rb"\] OVERFLOW! Rank (?P<rank>\d{1,9}) Skipping step\." + _SCALES)
_FUSED = re.compile(rb"dynamic loss scale overflow! (?:Rank (?P<rank>\d{1,9}) )?Skipping step\." + _SCALES)
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
    deepspeed/runtime/config.py for the configuration printed at the start. `fp16 dynamic loss scale overflow!` comes
    from deepspeed/runtime/fp16/fused_optimizer.py and unfused_optimizer.py, step, without a rank, and in early versions
    from stages 1 and 2 on every rank, with its number. With hysteresis 2, the default (deepspeed/runtime/constants.py),
    the first overflow of a series does not lower the scale.
    """

    name = "deepspeed"
    reads = "DeepSpeed (`step=<n>, skipped=<k>`, `OVERFLOW! Rank <r> ...`)"
    marks = (b"skipped=", b"OVERFLOW! Rank", b"scale overflow! ", _FATAL, *_CONFIGURED)
    window_default = 1000

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=True)
        self.overflows = 0
        self.rank: bytes | None = None
        self._descent = Occurrences()
        self._config = [re.compile(re.escape(mark)) for mark in _CONFIGURED]
        self._places = Shapes(_places_of)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        data, limit = sheet.data, sheet.limit
        if sheet.has(_FATAL) and _FATAL in data[:limit]:
            self.found.fatal = _FATAL.decode()
            self.lines += 1
        if sheet.has(b"skipped="):
            self._counted(sheet)
        for pattern, mark in ((_OVERFLOW, b"OVERFLOW! Rank"), (_FUSED, b"scale overflow! ")):
            if sheet.has(mark):
                for match, copies in message_runs(pattern, mark, data, limit, steps, _moves):
                    self.lines += copies
                    self._overflow(match, copies, steps)
        if any(map(sheet.has, _CONFIGURED)):
            for start, end in lines_with(data, limit, self._config):
                self._configured(data[start:end])

    def _counted(self, sheet: Sheet) -> None:
        table = sheet.whole_table(self._places, b"skipped=")
        if table:
            steps, skipped = table.column(0), table.column(1)
        else:
            rows = _COUNTER.findall(sheet.data, 0, sheet.limit)
            steps, skipped = [step for step, _ in rows], [skipped for _, skipped in rows]
        self.lines += len(steps)
        self.counters.add_rows(list(map(int, steps)), integers(skipped))

    def _overflow(self, match: re.Match[bytes], copies: int, steps: StepFields) -> None:
        rank = match.groupdict().get("rank")
        if rank is not None:
            self.rank = self.rank or rank
            if rank != self.rank:
                return
            if match["told"] is None:
                self.found.precision = "bfloat16"
        self.overflows += copies
        at, since = (self.counters.last_step, None) if self.counters.lines else (steps.at, steps.since)
        if match["told"]:
            self.found.scaling, self.found.level = "dynamic", "fp16"
            place = self.place(at, self.overflows)
            self.scale.add(place, number(match["from"]))
            if match["to"]:
                self.scale.add(place, number(match["to"]))
        self._descent.add(number(match["to"]) if match["to"] else None, at, steps.spacing, copies, since)

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
        """Count the messages as steps, because one rank prints."""
        if self.counters.last_step == 0:  # printed once, before the first step
            proof = "the log has messages of skipped steps" if self.overflows else None
            lead = self._descent.count(None, 1).calibrating
            return Count(self.overflows, self.overflows, steps, lead, f"{self.overflows} messages", proof=proof)
        count = self.counters.count(steps)
        if self.overflows <= count.high:
            return count
        basis = f"{count.basis}; {self.overflows} messages"
        return replace(count, low=self.overflows, high=self.overflows, basis=basis)

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = super().evidence(steps, ranks)
        if found.level == "bf16" and found.scaling == "dynamic":
            found.scaling = None  # the configuration has a scaler that is not used
        return found
