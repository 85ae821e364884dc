"""DeepSpeed: overflow messages of one rank, and a cumulative counter of skipped steps."""

from __future__ import annotations

import re
from dataclasses import replace

from ..count import Overflows
from ..counters import Counters
from ..evidence import Evidence
from ..log_format import NUMBER, LogFormat, Strength, number_or_none
from ..occurrences import Occurrences
from ..steps import Steps
from ..trajectory import Trajectory

_COUNTER = re.compile(rb"step=(\d{1,15}), skipped=(\d{1,15})(?=([^\n]{0,200}))")
_SCALES = (
    rb"(?P<shown> Attempted loss scale: (?P<from>"
    + NUMBER[1:-1]
    + rb"), (?:reducing to (?P<to>"
    + NUMBER[1:-1]
    + rb")(?![\[\w]))?)?(?P<ends>\s*(?:$|\[))?"  # a message of another rank may cut a number off
)
_OVERFLOWS = {
    b"OVERFLOW! Rank": rb"\] OVERFLOW! Rank (?P<rank>\d{1,9}) Skipping step\.",
    b"scale overflow! ": rb"dynamic loss scale overflow! (?:Rank (?P<rank>\d{1,9}) )?Skipping step\.",
    b"Overflow detected. Skipping": rb"\[Rank (?P<rank>\d{1,9})\] Overflow detected\. Skipping step\.",
}
_PATTERNS = {mark: re.compile(text + _SCALES) for mark, text in _OVERFLOWS.items()}
_MOVED = re.compile(
    rb"(?:Reduc|Increas)ing dynamic loss scale from " + NUMBER + rb" to " + NUMBER + rb"(?![\[\w])",
)
_ATTEMPTED = b"Attempted loss"
_OF_APEX = b"OVERFLOW! Skipping step. Attempted"
_PADDING = re.compile(rb" {4,}")
"""Terminals and copies break lines with blanks, also within a word."""
_FATAL = b"Current loss scale already at minimum"
_CONFIG = re.compile(
    rb"(?:(\[config\.py:\d{1,6}:print[\w.]{0,40}\])|^)\s{0,8}(fp16_enabled|bfloat16_enabled|loss_scale|dynamic_loss_scale_args)"
    rb" \.{2,} (\S[^\n]{0,200})"
)
_INITIAL = re.compile(rb"'init_scale': " + NUMBER)


class DeepSpeed(LogFormat):
    """`step=<n>, skipped=<k>` counts from the start of the run; one rank prints `[deepspeed] OVERFLOW! Rank <r> ...`.

    Source: deepspeedai/DeepSpeed, deepspeed/runtime/engine.py, _report_progress; deepspeed/runtime/fp16/loss_scaler.py,
    update_scale (before version 0.9 deepspeed/runtime/zero/stage3.py, _overflow_clean_up, and stage_1_and_2.py, step);
    deepspeed/runtime/config.py for the configuration printed at the start. With hysteresis 2, the default
    (deepspeed/runtime/constants.py), the first overflow of a series does not lower the scale.

    Without ZeRO, deepspeed/runtime/fp16/fused_optimizer.py and unfused_optimizer.py, step and _update_scale: each rank
    prints `Reducing dynamic loss scale from <s> to <x>`, or `Increasing ...`, and rank 0 `Overflow detected. Skipping
    step. ...`, or each rank `fp16 dynamic loss scale overflow! Skipping step. ...` without its number. In early
    versions stages 1 and 2 print that with the number. Megatron's scale and counter are not in use then.
    """

    name = "deepspeed"
    reads = "DeepSpeed (`step=<n>, skipped=<k>`, `OVERFLOW! Rank <r> ...`)"
    strength = Strength.COUNTER
    marks = (b"skipped=", *_OVERFLOWS, _ATTEMPTED, b"ing dynamic loss scale from", _FATAL)
    option_marks = (b"fp16_enabled ..", b"bfloat16_enabled ..", b"loss_scale ..", b"dynamic_loss_scale_args ..")
    replaces = ("megatron",)
    shows_scaling = True

    def __init__(self) -> None:
        super().__init__()
        self._counters = Counters(cumulative=True)
        self._overflows = 0
        """Messages of one rank, or of all ranks if they do not show which."""
        self._rank: bytes | None = None
        self._is_unranked = False
        self._bare = 0
        """Messages that end after `Skipping step.`: bfloat16 has no scale to print."""
        self._attempted = self._shown = 0
        """Lines with a loss scale, be it one of a message that a copy broke, and messages that were read with one."""
        self._move: tuple[float, float] | None = None
        """The newest move of the scale that a message showed; each rank prints it."""
        self._moves = self._lowered = 0
        self._descent = Occurrences()

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        if _FATAL in line:
            self.found.fatal = _FATAL.decode()
            self.lines += 1
        is_attempted = _ATTEMPTED in line and _OF_APEX not in line
        self._attempted += copies * is_attempted
        before = self.lines
        line = _PADDING.sub(b"", line) if _ATTEMPTED in line and b"Attempted loss scale:" not in line else line
        for match in _MOVED.finditer(line):
            self.lines += copies
            self._add_move(float(match[1]), float(match[2]), self._at(steps, at))
        for mark, pattern in _PATTERNS.items():
            for match in pattern.finditer(line) if mark in line else ():
                self.lines += copies
                self._shown += copies * (match["shown"] is not None)
                moves = match["to"] is not None and match["from"] != match["to"]
                for number in [1] * copies if moves else [copies]:  # each move is an overflow
                    self._overflow(match, number, self._at(steps, at), steps.spacing)
        self.lines += copies * (is_attempted and self.lines == before)
        for match in _COUNTER.finditer(line) if b"skipped=" in line else ():
            self.lines += copies
            if self.scale.points and not self._counters.lines and (self._moves or self._overflows):
                self.scale.move_to_start()
                self.found.at_is_step = True
            self._counters.add(int(match[1]), int(match[2]), match[3])

    def _at(self, steps: Steps, at: int) -> int | None:
        return self._counters.last_step if self._counters.lines else steps.upto(at).at

    def _add_move(self, before: float, after: float, at: int | None) -> None:
        if self._move == (before, after):
            return
        self._move = before, after
        place = self.place(at, self._moves)
        self._moves += 1
        self._lowered += after < before
        self.scale.add(place, before)
        self.scale.add(place, after)

    def _overflow(self, match: re.Match[bytes], copies: int, at: int | None, spacing: int) -> None:
        rank, shown = match["rank"], match["shown"]
        if rank is None:
            self._is_unranked = True
        else:
            self._rank = self._rank or rank
            if rank != self._rank:
                return
            self._bare += match["ends"] is not None
        before = self._overflows
        self._overflows += copies
        is_new = self._descent.add(float(match["to"]) if match["to"] else None, at, spacing, copies)
        if shown and not self._move and (is_new or rank):
            place = self.place(at, before)
            self.scale.add(place, float(match["from"]))
            if match["to"]:
                self.scale.add(place, float(match["to"]))

    def option(self, line: bytes) -> None:
        match = _CONFIG.search(line)
        if not match:
            return
        key, value = match[2], match[3]
        if key == b"loss_scale" and not match[1] and not self.found.precision:
            return  # an argument of Megatron has the same form
        self.lines += 1
        if key == b"dynamic_loss_scale_args":
            self.found.scaling = self.found.scaling or "dynamic"
            initial = _INITIAL.search(value)
            if initial:
                self.scale.add(0, float(initial[1]))
        elif key == b"loss_scale":
            scale = number_or_none(value)
            if scale is not None:
                self.found.scaling, self.found.static_scale = ("static", scale) if scale else ("dynamic", None)
        elif value.startswith(b"True"):
            self.found.level = "fp16" if key == b"fp16_enabled" else "bf16"
            self.found.precision = "float16" if key == b"fp16_enabled" else "bfloat16"

    @property
    def counts(self) -> bool:
        return self._counters.last_step > 0 or self._overflows > 0 or self._attempted > 0

    @property
    def numbers_steps(self) -> bool:
        return self._counters.lines > 0

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        """Count the messages as steps, because one rank prints; those that show no rank are of each rank."""
        descent = self._descent.count(steps, ranks if self._is_unranked else 1, self.steps_printed is not None)
        if self._attempted > max(self._overflows, self._shown) and not self._counters.last_step:
            doubt = f"{self._attempted} messages of skipped steps, of which {self._overflows} are whole"
            high = steps or self.steps_printed or self._attempted
            return Overflows(
                1, high, steps, 0, "broken messages", doubt=doubt, proof="the log has messages of skipped steps"
            )
        if self._counters.last_step == 0:  # printed once, before the first step
            if self._is_unranked:
                return descent
            proof = "the log has messages of skipped steps" if self._overflows else None
            basis = f"{self._overflows} messages"
            most = max(self._overflows, self._lowered)  # messages of other ranks may be missing
            return Overflows(most, most, steps, min(descent.calibrating, most), basis, proof=proof)
        count = self._counters.count(steps)
        low, high = (descent.low, descent.high) if self._is_unranked else (self._overflows, self._overflows)
        if low <= self._counters.all_overflows:
            return count
        if self._counters.engines > 1:
            high = min(high, count.steps or high)
            low = max(count.low, -(-low // self._counters.engines))
            return replace(count, low=min(low, high), high=high)
        made = count.steps if steps else max(count.steps or 0, low)  # the counter is printed every few steps
        return replace(count, low=low, high=high, steps=made, basis=f"{count.basis}; {self._overflows} messages")

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        if self._attempted and not self.scale.seen:
            self.found.unreadable = "messages are broken over lines, so their scales cannot be read"
        if self._attempted or self._moves:  # whatever the configuration says
            self.found.scaling, self.found.level, self.found.precision = "dynamic", "fp16", "float16"
        elif self._bare and self.found.precision is None:
            self.found.precision = "bfloat16"
        self.found.engines = self._counters.engines
        evidence = super().evidence(steps, ranks)
        if evidence.precision == "bfloat16":  # without a scale there is nothing to calibrate
            evidence.count = replace(evidence.count, calibrating=0)
        if evidence.level == "bf16" and evidence.scaling == "dynamic":
            evidence.scaling, evidence.scale = None, Trajectory()  # the configuration has a scaler that is not used
        return evidence
