"""A dictionary per step with a cumulative counter, as NVIDIA's BERT prints it."""

from __future__ import annotations

import re

from ..count import Count
from ..counters import Counters
from ..steps import StepFields
from .reader import Reader

_TRAINING = re.compile(rb"training_steps[\"']: (\d{1,15})[^\n{}]{0,1000}?[\"']skipped_steps[\"']: (\d{1,15})")
_UPDATES = re.compile(rb"global_steps?[\"']: (\d{1,15})[^\n{}]{0,1000}?[\"']skipped_steps[\"']: (\d{1,15})")


class StepDictionary(Reader):
    """`{'training_steps': <n>, ..., 'global_steps': <updates>, ..., 'skipped_steps': <k>, ...}`.

    Source: mlcommons/training_results_v0.7, NVIDIA/benchmarks/bert/implementations/pytorch/run_pretraining.py. The
    training steps include the skipped ones, `global_steps` does not. One rank prints.
    """

    name = "step_dictionary"
    reads = "dictionaries with a counter (`'training_steps': <n>, ... 'skipped_steps': <k>`)"
    marks = (b"skipped_steps",)
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=True)
        self.found.at_is_step = True

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        updates_only = b"training_steps" not in data
        for match in (_UPDATES if updates_only else _TRAINING).finditer(data, 0, limit):
            self.lines += 1
            skipped = int(match[2])
            self.counters.add(int(match[1]) + skipped * updates_only, skipped)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        count = self.counters.count(steps)
        if count.low:
            self.found.scaling, self.found.level = "dynamic", "fp16"  # a static scale does not skip
        return count
