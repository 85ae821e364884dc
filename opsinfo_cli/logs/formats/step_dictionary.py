"""A dictionary per step with a cumulative counter, as in NVIDIA's BERT."""

from __future__ import annotations

import re

from ..count import Overflows
from ..counters import Counters
from ..log_format import LogFormat, Strength
from ..steps import Steps

_TRAINING = re.compile(rb"training_steps[\"']: \s{0,20}(\d{1,15})")
_UPDATES = re.compile(rb"global_steps?[\"']: \s{0,20}(\d{1,15})")
_SKIPPED = re.compile(rb"skipped_steps[\"']: (\d{1,15})")


class StepDictionary(LogFormat):
    """`{'training_steps': <n>, ..., 'global_steps': <updates>, ..., 'skipped_steps': <k>, ...}`.

    Source: mlcommons/training_results_v0.7, NVIDIA/benchmarks/bert/implementations/pytorch/run_pretraining.py. The
    counter is cumulative. The training steps include the skipped ones, `global_steps` does not. One rank prints.
    """

    name = "step_dictionary"
    reads = "dictionaries with a counter (`'training_steps': <n>, ... 'skipped_steps': <k>`)"
    strength = Strength.COUNTER
    marks = (b"skipped_steps",)
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self._counters = Counters(cumulative=True)
        self.found.at_is_step = True

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        made = _UPDATES if _TRAINING.search(line) is None else _TRAINING
        self._counters.without_skipped = made is _UPDATES
        end = 0
        while (step := made.search(line, end)) and (skipped := _SKIPPED.search(line, step.end())):
            end = skipped.end()
            self.lines += copies
            self._counters.add(int(step[1]) + int(skipped[1]) * (made is _UPDATES), int(skipped[1]))

    @property
    def numbers_steps(self) -> bool:
        return True

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        count = self._counters.count(steps)
        if count.low:
            self.found.scaling, self.found.level = "dynamic", "fp16"  # a static scale does not skip
        return count
