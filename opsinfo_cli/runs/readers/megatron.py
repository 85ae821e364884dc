"""Megatron and MindSpeed: one line per interval, with counters that are reset at each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..columns import integers
from ..count import Count
from ..counters import Counters
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .reader import NUMBER, Evidence, Reader, counted_lines, lines_with, number, number_or_none, rows_of

_SKIPPED = re.compile(rb"skipped iterations:\s{0,20}(\d{1,15})")
_SCALE = re.compile(rb"loss scale: " + NUMBER)
_ROW = re.compile(rb" iteration \s{0,20}(\d{1,15})[^\n]*" + _SCALE.pattern + rb"[^\n]*" + _SKIPPED.pattern)
_BARE = re.compile(rb" iteration \s{0,20}(\d{1,15})[^\n]*" + _SKIPPED.pattern)
_UNSCALED = -1.0
"""Printed if DeepSpeed scales the loss."""


class _IterationPlaces(NamedTuple):
    """Where a line shows its step, the scale and the counter."""

    step: slice
    scale: slice | None
    skipped: slice


def _places_of(shape: bytes) -> _IterationPlaces | None:
    scales = shape.count(b"loss scale: ")
    match = (_ROW if scales else _BARE).search(shape)
    if not match or scales > 1 or shape.count(b"skipped iterations:") > 1:
        return None
    step, *scale, skipped = (slice(*match.span(group)) for group in range(1, 3 + scales))
    return _IterationPlaces(step, scale[0] if scale else None, skipped)


_ARGUMENTS = (b" fp16 ..", b" bf16 ..", b" loss_scale ..")
_ARGUMENT = re.compile(rb"^\s{1,8}(fp16|bf16|loss_scale) \.{3,} (\w[\w.]{0,30})")


class Megatron(Reader):
    """` iteration 100/ 500 | ... loss scale: 4096.0 | ... number of skipped iterations: 2 | ...` of the last rank.

    Source: NVIDIA/Megatron-LM, megatron/training/training.py, training_log. The iteration counter includes the
    skipped ones. A scale that stays at 1.0 means bf16 or fp32. With DeepSpeed the counter of skipped iterations
    stays 0 and the scale is DeepSpeed's (microsoft/Megatron-DeepSpeed, megatron/training.py, train_step).
    """

    name = "megatron"
    reads = "Megatron, MindSpeed (`iteration <n>/ <m> | ... number of skipped iterations: <k>`)"
    marks = (b"skipped iterations:", *_ARGUMENTS)
    window_default = 1000

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=False)
        self.no_scale = False
        self.found.at_is_step = True
        self._arguments = [re.compile(re.escape(mark)) for mark in _ARGUMENTS]
        self._places = Shapes(_places_of)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        data, limit = sheet.data, sheet.limit
        if sheet.has(self.marks[0]) and not self._table(sheet) and not self._rows(data, limit):
            self._lines(data, limit)
        if any(map(sheet.has, _ARGUMENTS)):
            for start, end in lines_with(data, limit, self._arguments):
                self._argument(data[start:end])

    def _lines(self, data: bytes, limit: int) -> None:
        for step, skipped, start, end in counted_lines(data, limit, b" iteration ", _SKIPPED):
            self.lines += 1
            if self.counters.add(step, skipped):
                at = data.find(b"loss scale: ", start, end)
                scale = _SCALE.match(data, at) if at >= 0 else None
                if scale:
                    self._scaled(step, number(scale[1]))

    def _table(self, sheet: Sheet) -> bool:
        """Take a window at once whose lines have few shapes; returns whether it was taken."""
        table = sheet.whole_table(self._places, self.marks[0])
        if table is None:
            return False
        scales = sheet.count(b"loss scale: ")
        if scales not in (0, len(table)) or all(table.values_of_kinds(1)) != bool(scales):
            return False
        steps, skipped = list(map(int, table.column(0))), integers(table.column(2))
        self._take(steps, skipped, table.column(1) if scales else [])
        return True

    def _rows(self, data: bytes, limit: int) -> bool:
        """Take a window at once in which each line has both a counter and a scale; returns whether it was taken."""
        if b"loss scale: " in data:
            rows = rows_of(_ROW, data, limit, (b"loss scale: ", b"skipped iterations:"))
        else:
            rows = [(step, b"", skipped) for step, skipped in rows_of(_BARE, data, limit, (b"skipped iterations:",))]
        if not rows:
            return False
        printed, scales, skipped = zip(*rows, strict=True)
        self._take(list(map(int, printed)), list(map(int, skipped)), scales if scales[0] else ())
        return True

    def _take(self, steps: list[int], skipped: list[int], scales: Sequence[bytes]) -> None:
        """Take lines, all of them with a scale or none."""
        new = self.counters.add_rows(steps, skipped)
        self.lines += len(steps)
        self.scale_words += len(scales)
        unscaled = {scale for scale in set(scales) if number(scale) == _UNSCALED}
        if scales and not unscaled and len(new) == len(steps):
            self.scale.add_rows(steps, scales)
            return
        scaled = [row for row in new if scales[row] not in unscaled] if scales else []
        if scaled:
            self.scale.add_rows([steps[row] for row in scaled], [scales[row] for row in scaled])

    def _scaled(self, step: int, scale: float) -> None:
        if scale != _UNSCALED:
            self.scale.add(step, scale)

    def _argument(self, line: bytes) -> None:
        match = _ARGUMENT.search(line)
        if not match:
            return
        self.lines += 1
        key, value = match[1].decode(), match[2]
        if key == "loss_scale":
            self.no_scale = value == b"None"
            if not self.no_scale:
                self.found.scaling, self.found.static_scale = "static", number_or_none(value)
        elif value == b"True":
            self.found.level = key
            self.found.precision = "float16" if key == "fp16" else "bfloat16"

    @property
    def counts(self) -> bool:
        return self.counters.lines > 0

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return self.counters.count(steps)

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = self.found
        if found.level == "fp16" and self.no_scale:
            found.scaling = "dynamic"
        if found.level is None and self.scale.start is not None and self.scale.highest != 1.0:
            found.level = "fp16"  # only the fp16 optimizer has a scale
        return super().evidence(steps, ranks)
