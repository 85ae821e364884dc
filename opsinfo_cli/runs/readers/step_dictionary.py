"""A dictionary per step with a cumulative counter, as in NVIDIA's BERT."""

from __future__ import annotations

import re
from functools import cache
from operator import add

from ..count import Count
from ..counters import Counters
from ..steps import StepFields
from .reader import Reader, counted_lines, rows_of

_SKIPPED = re.compile(rb"skipped_steps[\"']: (\d{1,15})")
_TRAINING, _UPDATES = b"training_steps", b"global_step"
_WORDS = {_TRAINING: (b"training_steps': ", b'training_steps": '), _UPDATES: (b"global_steps': ", b"global_step': ")}


@cache
def _row(word: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(word) + rb"\s{0,20}(\d{1,15})[^\n]*" + _SKIPPED.pattern)


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
        kind = _TRAINING if _TRAINING in data else _UPDATES
        word = next((word for word in _WORDS[kind] if word in data), None)
        if word is None:
            return
        self.counters.without_skipped = kind == _UPDATES
        rows = rows_of(_row(word), data, limit, (b"skipped_steps",))
        if not rows:
            lines = counted_lines(data, limit, word, _SKIPPED)
            rows = [(str(step).encode(), str(skipped).encode()) for step, skipped, _, _ in lines]
        skips = [int(skipped) for _, skipped in rows]
        steps_made = [int(step) for step, _ in rows]
        if kind == _UPDATES:
            steps_made = list(map(add, steps_made, skips))
        self.lines += len(rows)
        self.counters.add_rows(steps_made, skips)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        count = self.counters.count(steps)
        if count.low:
            self.found.scaling, self.found.level = "dynamic", "fp16"  # a static scale does not skip
        return count
