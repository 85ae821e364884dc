"""Megatron and MindSpeed: one line per interval, with counters that are reset at each line."""

from __future__ import annotations

import re
from dataclasses import replace

from ..count import Overflows
from ..counters import Counters
from ..evidence import Evidence
from ..log_format import NUMBER, LogFormat, Strength, number_or_none
from ..steps import Steps

_STEP = re.compile(rb"(?<![\w])iteration\s{1,20}(\d{1,15})")
_SCALE = re.compile(rb"loss scale: " + NUMBER)
_SKIPPED = re.compile(rb"skipped iterations:\s{0,20}(\d{1,15})")
_UNSCALED = -1.0
"""Printed if DeepSpeed scales the loss."""
_ARGUMENT = re.compile(rb"^\s{0,8}(fp16|bf16|loss_scale) \.{3,} (\w[\w.]{0,30})")


class Megatron(LogFormat):
    """` iteration 100/ 500 | ... loss scale: 4096.0 | ... number of skipped iterations: 2 |`.

    Source: NVIDIA/Megatron-LM, megatron/training/training.py, training_log. The last rank prints a line per interval,
    with counters that are reset. The iteration counter includes the skipped ones. A scale that stays at 1.0 means bf16
    or fp32. With DeepSpeed the counter of skipped iterations stays 0 and the scale is DeepSpeed's
    (microsoft/Megatron-DeepSpeed, megatron/training.py, train_step).
    """

    name = "megatron"
    reads = "Megatron, MindSpeed (`iteration <n>/ <m> | ... number of skipped iterations: <k>`)"
    strength = Strength.COUNTER
    marks = (b"skipped iterations:",)
    option_marks = (b"fp16 ..", b"bf16 ..", b"loss_scale ..")

    def __init__(self) -> None:
        super().__init__()
        self._counters = Counters(cumulative=False)
        self._no_scale = False
        self._step = 0
        """The step of the newest scale."""
        self._fell = 0
        """The fewest overflows that explain the falls of the scale, those from one run to a resumed one left out."""
        self.found.at_is_step = True

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        end = 0
        while (step := _STEP.search(line, end)) and (skipped := _SKIPPED.search(line, step.end())):
            end = skipped.end()
            self.lines += copies
            if self._counters.add(int(step[1]), int(skipped[1]), line[step.end() : skipped.end()]):
                scale = _SCALE.search(line, step.end(), skipped.start())
                if scale and float(scale[1]) != _UNSCALED:
                    self._add_scale(int(step[1]), float(scale[1]))

    def _add_scale(self, step: int, scale: float) -> None:
        before = self.scale.halvings
        self.scale.add(step, scale)
        if step > self._step:
            self._fell += self.scale.halvings - before
        self._step = step

    def option(self, line: bytes) -> None:
        match = _ARGUMENT.search(line)
        if not match:
            return
        self.lines += 1
        key, value = match[1].decode(), match[2]
        if key == "loss_scale":
            self._no_scale = value == b"None"
            scale = number_or_none(value)
            if scale is not None:
                self.found.scaling, self.found.static_scale = "static", scale
        elif value == b"True":
            self.found.level = key
            self.found.precision = "float16" if key == "fp16" else "bfloat16"

    @property
    def counts(self) -> bool:
        return self._counters.lines > 0

    @property
    def steps_made(self) -> int | None:
        return self._counters.count(None).steps if self.counts else None

    @property
    def numbers_steps(self) -> bool:
        return self.counts

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        count = self._counters.count(steps)
        if self._counters.engines > 1 or self._fell <= count.high:
            return count
        doubt = (
            f"the counter shows {count.high} skipped steps, and the scale fell as after {self._fell}: it counts none"
        )
        doubt += " of those that DeepSpeed skips"
        return replace(count, low=self._fell, high=max(count.steps or 0, self._fell), calibrating=0, doubt=doubt)

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        if self.found.level == "fp16" and self._no_scale:
            self.found.scaling = "dynamic"
        if self.found.level is None and self.scale.start is not None and self.scale.highest != 1.0:
            self.found.level = "fp16"  # only the fp16 optimizer has a scale
        self.found.engines = self._counters.engines
        return super().evidence(steps, ranks)
