"""A dictionary per step with a cumulative counter, as in NVIDIA's BERT."""

from __future__ import annotations

import re
from functools import cache
from operator import add

from ..columns import integers
from ..count import Count
from ..counters import CounterPlaces, Counters, counter_places
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .reader import Reader, counted_lines, rows_of

_SKIPPED = re.compile(rb"skipped_steps[\"']: (\d{1,15})")
_TRAINING, _UPDATES = b"training_steps", b"global_step"
_WORDS = {_TRAINING: (b"training_steps': ", b'training_steps": '), _UPDATES: (b"global_steps': ", b"global_step': ")}


@cache
def _row(word: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(word) + rb"\s{0,20}(\d{1,15})[^\n]*" + _SKIPPED.pattern)


@cache
def _places(word: bytes) -> Shapes[CounterPlaces | None]:
    return Shapes(lambda shape: counter_places(shape, _row(word), b"skipped_steps"))


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

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        data, limit = sheet.data, sheet.limit
        kind = _TRAINING if _TRAINING in data else _UPDATES
        word = next((word for word in _WORDS[kind] if word in data), None)
        if word is None:
            return
        self.counters.without_skipped = kind == _UPDATES
        table = sheet.whole_table(_places(word), b"skipped_steps")
        if table:
            steps_made, skips = list(map(int, table.column(0))), integers(table.column(1))
        else:
            steps_made, skips = _read(data, limit, word)
        if kind == _UPDATES:
            steps_made = list(map(add, steps_made, skips))
        self.lines += len(skips)
        self.counters.add_rows(steps_made, skips)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        count = self.counters.count(steps)
        if count.low:
            self.found.scaling, self.found.level = "dynamic", "fp16"  # a static scale does not skip
        return count


def _read(data: bytes, limit: int, word: bytes) -> tuple[list[int], list[int]]:
    """Return the steps and the counters of a window whose lines have many shapes."""
    rows = rows_of(_row(word), data, limit, (b"skipped_steps",))
    if rows:
        return [int(step) for step, _ in rows], [int(skipped) for _, skipped in rows]
    lines = list(counted_lines(data, limit, word, _SKIPPED))
    return [step for step, _, _, _ in lines], [skipped for _, skipped, _, _ in lines]
