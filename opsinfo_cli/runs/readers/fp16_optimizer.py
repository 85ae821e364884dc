"""FP16_Optimizer of APEX and its descendants: a message with the iteration on every rank."""

from __future__ import annotations

import re

from ..count import Count
from ..steps import StepFields
from .reader import NUMBER, Reader, message_runs, number

_OVERFLOW = re.compile(rb"Grad overflow on iteration:?\s{1,4}(\d{1,15})")
_SCALE = re.compile(rb"Using (dynamic|static) loss scale of:?\s{1,4}" + NUMBER)
_REMEMBERED = 4096
_SKEW = 64


class Fp16Optimizer(Reader):
    """`Grad overflow on iteration  <n>`, then `Using dynamic loss scale of <x>`.

    Source: NVIDIA/apex at 4ef930c1, apex/contrib/optimizers/fp16_optimizer.py; the same text stands in
    microsoft/DeepSpeed, deepspeed/runtime/fp16. The iteration separates the copies of ranks from repetitions.
    """

    name = "fp16_optimizer"
    reads = "APEX FP16_Optimizer (`Grad overflow on iteration <n>`)"
    marks = (b"Grad overflow on iteration", b"Using dynamic loss scale of")
    window_default = 1000

    def __init__(self) -> None:
        super().__init__()
        self._messages = 0
        self._seen: dict[bytes, None] = {}
        self._distinct = self._lead = 0
        self._newest = -1
        self._in_lead = True

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        for match, copies in message_runs(_OVERFLOW, data, limit, steps):
            self.lines += copies
            self._messages += copies
            self._overflow(match[1])
        for match, copies in message_runs(_SCALE, data, limit):
            self.lines += copies
            if match[1] == b"dynamic":
                self.found.scaling = "dynamic"
                self.scale.add(self.place(self._newest, self._distinct), number(match[2]))

    def _overflow(self, text: bytes) -> None:
        self.found.level = "fp16"
        if text in self._seen:
            return
        self._seen[text] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        step = int(text)
        if step < self._newest - _SKEW:  # a restart appended to the same file
            self._seen = {text: None}
        self._distinct += 1
        self._in_lead = self._in_lead and step <= self._newest + 2
        self._lead += self._in_lead
        self._newest = step

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        total, number_of = self._messages, self._distinct
        copies = total // number_of if number_of and total % number_of == 0 else None
        basis = f"{number_of} iterations named by {total} messages" + (f" of {copies} ranks" if copies else "")
        proof = "the log has messages of skipped steps" if total else None
        return Count(number_of, number_of, steps, self._lead, basis, copies, proof=proof)

