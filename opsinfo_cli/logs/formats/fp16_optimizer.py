"""FP16_Optimizer of APEX and its descendants: a message with the iteration on every rank."""

from __future__ import annotations

import re
from collections import OrderedDict

from ..count import Overflows
from ..evidence import Evidence
from ..log_format import NUMBER, LogFormat, Strength
from ..steps import Steps
from ..trajectory import Trajectory

_OVERFLOW = re.compile(rb"Grad overflow on iteration(?::?[^\S\n]{1,4}(\d{1,12})(?![\d.]))?")
_SCALE = re.compile(rb"Using dynamic loss scale of:?\s{1,4}" + NUMBER)
_WHOLE = re.compile(rb"(?:[^\n]{0,200}[\]:|>)-] ?)?" + _SCALE.pattern)
"""A line with a message that nothing runs into."""
_REMEMBERED = 4096


class Fp16Optimizer(LogFormat):
    """FP16_Optimizer of APEX and its descendants: `Grad overflow on iteration  <n>`, then `Using dynamic loss scale of
    <x>`.

    Source: NVIDIA/apex at 4ef930c1, apex/contrib/optimizers/fp16_optimizer.py; deepspeedai/DeepSpeed,
    deepspeed/runtime/fp16/fused_optimizer.py, _update_scale, has the first line, if it is verbose. Every rank prints
    it; the iteration distinguishes copies of ranks from repetitions.
    """

    name = "fp16_optimizer"
    reads = "APEX FP16_Optimizer (`Grad overflow on iteration <n>`)"
    strength = Strength.ITERATION
    marks = (b"Grad overflow on iteration", b"Using dynamic loss scale of")

    def __init__(self) -> None:
        super().__init__()
        self._copies: OrderedDict[int, int] = OrderedDict()
        """Messages by iteration, of the newest ones."""
        self._messages = 0
        self._forgotten = 0
        self._is_mixed = False
        """Whether scales of several ranks ran into each other, such as `655366553632768.0`."""

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        for match in _OVERFLOW.finditer(line):
            self.found.level = "fp16"
            self.lines += copies
            self._messages += copies
            if match[1]:
                self._copies[int(match[1])] = self._copies.get(int(match[1]), 0) + copies
                if len(self._copies) > _REMEMBERED:
                    self._copies.popitem(last=False)
                    self._forgotten += 1
        if b"Using dynamic loss scale of" in line:
            self._is_mixed = self._is_mixed or not _WHOLE.fullmatch(line)
            newest = next(reversed(self._copies), None)
            for match in _SCALE.finditer(line):
                self.found.scaling = "dynamic"
                self.scale.add(self.place(newest, self.lines), float(match[1]))
                self.lines += copies

    @property
    def numbers_steps(self) -> bool:
        return True

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        """Count iterations. If one is printed by one rank only, while others are by several, messages are counted."""
        most = ranks or max(self._copies.values(), default=1)
        sure = sorted(iteration for iteration, copies in self._copies.items() if copies > 1 or most == 1)
        alone = len(sure) < len(self._copies)
        low = high = self._forgotten + len(sure)
        broken = self._messages > low * most
        if broken or alone:
            fitting = (printed for printed in self.printed_ranks if printed >= most and self._messages % printed == 0)
            most = ranks or next(fitting, most)
            low, high = (self._messages // most,) * 2 if self._messages % most == 0 else (low, self._messages)
        basis = f"{self._messages} messages" + (f" of {most} ranks" if most > 1 else "")
        proof = "the log has messages of skipped steps" if self._messages else None
        count = Overflows(low, high, steps, _leading(sure), basis, most, proof=proof)
        note = "messages of several ranks are mixed on one line, so some iterations are garbled"
        return count.with_note(note) if broken else count

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        evidence = super().evidence(steps, ranks)
        if self._is_mixed:
            evidence.scale = Trajectory()
            evidence.unreadable = "messages of several ranks are mixed on one line, so their scales cannot be read"
        return evidence


def _leading(iterations: list[int]) -> int:
    """Return the overflows of the first descent: those in consecutive steps from the start."""
    lead, last = 0, -1
    for iteration in iterations:
        if iteration > last + 2:
            break
        lead, last = lead + 1, iteration
    return lead
