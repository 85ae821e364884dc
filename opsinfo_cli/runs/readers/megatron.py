"""Megatron and MindSpeed: one line per interval, with counters that are reset at each."""

from __future__ import annotations

import re

from ..count import Counters
from .reader import NUMBER, Evidence, Reader, number

__all__ = ["Megatron"]

_LINE = re.compile(rb"\biteration\s{1,20}(\d{1,15})/\s{0,20}\d{1,15} \|")
_SKIPPED = re.compile(rb"number of skipped iterations:\s{0,20}(\d{1,15})")
_SCALE = re.compile(rb"loss scale: " + NUMBER)
_ARGUMENT = re.compile(rb"^\s{1,8}(fp16|bf16|loss_scale) \.{3,} (\w[\w.]{0,30})")


class Megatron(Reader):
    """` iteration 100/ 500 | ... loss scale: 4096.0 | ... number of skipped iterations: 2 | ...` of the last rank.

    The iteration counter includes the skipped ones. A scale that stays at 1.0 is that of bf16 or fp32.
    """

    name = "megatron"
    marks = (b"number of skipped iterations", b" fp16 ..", b" bf16 ..", b" loss_scale ..")
    window = 1000
    own_steps = True

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=False)
        self.no_scale = False
        self.found.at_is_step = True

    def line(self, line: bytes) -> bool:
        taken = False
        iteration = _LINE.search(line)
        while iteration:
            skipped = _SKIPPED.search(line, iteration.end())
            if not skipped:
                break
            taken = True
            step = int(iteration[1])
            if self.counters.add(step, int(skipped[1])):
                scale = _SCALE.search(line, iteration.end(), skipped.start())
                if scale:
                    self.scale.add(step, number(scale[1]))
            iteration = _LINE.search(line, skipped.end())
        if not taken:
            self._argument(line)
        return taken

    def _argument(self, line: bytes) -> None:
        match = _ARGUMENT.search(line)
        if not match:
            return
        key, value = match[1].decode(), match[2]
        if key == "loss_scale":
            self.no_scale = value == b"None"
            if not self.no_scale:
                self.found.scaling = "static"
        elif value == b"True":
            self.found.level = key
            self.found.precision = "float16" if key == "fp16" else "bfloat16"

    def tally(self) -> Counters:
        return self.counters

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = self.found
        if found.level == "fp16" and self.no_scale:
            found.scaling = "dynamic"
        if found.level is None and self.scale.start is not None and self.scale.highest != 1.0:
            found.level = "fp16"  # only its optimizer has a scale
        return super().evidence(steps, ranks)
