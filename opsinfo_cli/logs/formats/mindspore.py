"""MindSpore, mindformers, mindyolo and related models: lines with an overflow flag and a scale."""

from __future__ import annotations

import re

from ..count import Overflows
from ..log_format import NUMBER, FlagFormat
from ..occurrences import Occurrences
from ..steps import Steps

_FLAG = re.compile(rb"overflow[\"']?(?: cond)?\s?(?::|is)?\s?[:=]?\s{0,2}\[?(True|False|[01](?:\.\d{0,12})?)(?![\w.])")
_SCALE = re.compile(rb"(?:loss[ _]scale|scaling_sens|\bscale(?: sense)?)\s?(?::|is)\s{0,2}\[?" + NUMBER)
_TENSORS = re.compile(
    rb"outputs are \(Tensor\(.{0,200}?dtype=Bool, (?:value=\s?)?(True|False)\s?\), "
    rb"Tensor\([^()]{0,100}?dtype=Float\d\d, (?:value=\s?)?" + NUMBER
)
_OF_A_STEP = (b"oss", b"scal", b"tep", b"iter")
"""A line with a number as its flag has one of these words; `exit on overflow: 0`, for one, is an option."""
_EPOCH = re.compile(rb"[Ee]poch\s?:?\s?\[?\s{0,8}(\d{1,9})")
_STEP = re.compile(rb"\b(?:[Ss]tep|iter)\s?:?\s?\[?\s{0,12}(\d{1,15})(?:\s?/\s{0,12}(\d{1,15}))?")
_WORD = re.compile(rb"={5}overflow={5}|\boverflow!!!")
_DROPPED = re.compile(rb"overflow, (?:still update|drop step|drop\.)[^\n]{0,20}?oss scale adjust to \[?" + NUMBER)


class MindSpore(FlagFormat):
    """`... step:[ s/ S], ..., overflow cond: <flag>, loss_scale: <x>`.

    Source: mindspore-lab/mindformers, mindformers/core/callback/callback.py. mindspore-ai/models has a dozen
    variants: `overflow: False, loss scale: 1024`, `overflow is False`, output tuples, and `overflow: 0.11,
    scaling_sens: 100024.32` (research/cv/faster_rcnn_ssod/train.py), an average over the steps since the previous line,
    with dynamic scaling. The scale is the one used in that step. DBNet and PSENet print only one word per overflow;
    mindyolo prints `overflow, drop step, loss scale adjust to <x>` for the steps that it logs
    (mindspore-lab/mindyolo, mindyolo/utils/trainer_factory.py, train_step), so that others go unseen; with
    `overflow_still_update` the step is made all the same.
    """

    name = "mindspore"
    reads = "MindSpore, mindformers, mindyolo (`overflow cond: <flag>, loss_scale: <x>` and variants)"
    marks = (
        *b"overflow: overflow= overflow!!! imgsize".split(),
        *(b"overflow cond", b"overflow is", b"overflow, still update", b"overflow, drop", b"outputs are ("),
    )

    def __init__(self) -> None:
        super().__init__()
        self._messages = Occurrences()
        self._dropped = self._dropped_before = 0
        self._first_epoch: int | None = None

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        flag = _FLAG.search(line)
        if flag and (flag[1] in (b"True", b"False") or any(word in line for word in _OF_A_STEP)):
            scale = _SCALE.search(line, max(0, line.find(b"scal") - 5))
            self._add_flag(line, flag[1], scale[1] if scale else None, copies)
        elif tensors := _TENSORS.search(line):
            self._add_flag(line, tensors[1], tensors[2], copies)
        elif dropped := _DROPPED.search(line):
            self._add_drop(line, float(dropped[1]), copies)
        elif b"imgsize" in line and (step := self._step_of(line)) is not None:  # mindyolo's regular line
            self.flags.add(step, self._dropped > self._dropped_before)  # of any rank
            self._dropped_before = self._dropped
        elif words := len(_WORD.findall(line)):
            self._messages.total += words * copies
            self.lines += copies

    def _add_flag(self, line: bytes, flag: bytes, scale: bytes | None, copies: int) -> None:
        self.lines += copies
        step = self._step_of(line)
        overflow = flag == b"True"
        if flag not in (b"True", b"False"):
            share = float(flag)
            overflow = share > 0
            self.flags.averaged |= 0 < share < 1
            if b"scaling_sens" in line:
                self.found.scaling, self.found.level = "dynamic", "float16"
        self.add_flag(step, overflow, scale, copies)

    def _add_drop(self, line: bytes, scale: float, copies: int) -> None:
        step = self._step_of(line)
        self.found.level = "float16"
        self.lines += copies
        for _ in range(copies):
            self._dropped += 1
            self.scale.add(self._dropped if step is None else step, scale)  # a static scale stays in every message

    def _step_of(self, line: bytes) -> int | None:
        step = _STEP.search(line)
        if not step:
            return None
        epoch = _EPOCH.search(line) if step[2] else None
        if not epoch:
            return int(step[1])
        if self._first_epoch is None:
            self._first_epoch = int(epoch[1])
        return (int(epoch[1]) - self._first_epoch) * int(step[2]) + int(step[1])

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        if not self._dropped:
            return super().tally(steps, ranks) if self.flags.printed else self._messages.count(steps, ranks)
        if self._dropped > self._dropped_before:  # the line of its step is missing
            self.flags.add((self.flags.last or 0) + (self.flags.most or 1), True)
        return super().tally(steps or self.steps_printed, ranks)
