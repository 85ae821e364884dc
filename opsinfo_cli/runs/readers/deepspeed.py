"""DeepSpeed: overflow messages of one rank, and a cumulative counter of skipped steps."""

from __future__ import annotations

import re

from ..count import Count, Counters, Occurrences
from .reader import NUMBER, Evidence, Reader, number

__all__ = ["DeepSpeed"]

_COUNTER = re.compile(rb"\bstep=(\d{1,15}), skipped=(\d{1,15})")
_OVERFLOW = re.compile(
    rb"(?:\[deeps(?:peed|cale)\] OVERFLOW! Rank (?P<rank>\d{1,9}) Skipping step\.|"
    rb"fp16 dynamic loss scale overflow! Skipping step\.)"
    rb"(?P<told> Attempted loss scale: (?P<from>"
    + NUMBER[1:-1]
    + rb"), (?:reducing to (?P<to>"
    + NUMBER[1:-1]
    + rb"))?)?|"
    rb"\bGrad overflow on iteration \d"
)
_FATAL = b"Current loss scale already at minimum"
_CONFIGURED = (b"fp16_enabled ..", b"float16_enabled ..", b"loss_scale ..")
_CONFIG = re.compile(rb"(?P<key>fp16_enabled|bfloat16_enabled|loss_scale) \.{2,} (?P<value>\w[\w.]{0,30})")


class DeepSpeed(Reader):
    """`step=<n>, skipped=<k>` counts from the start of the run; `[deepspeed] OVERFLOW! Rank <r> ...` is rank 0's.

    With hysteresis 2, the default, the first overflow of a series does not lower the scale.
    """

    name = "deepspeed"
    marks = (b"skipped=", b"OVERFLOW! Rank", b"overflow! Skipping", b"Grad overflow on", _FATAL, *_CONFIGURED)
    window = 1000

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters(cumulative=True)
        self.overflows = Occurrences()
        self.rank: bytes | None = None

    def line(self, line: bytes) -> bool:
        if _FATAL in line:
            self.found.fatal = "Current loss scale already at minimum"
            return True
        taken = False
        for match in _COUNTER.finditer(line):
            taken = True
            self.counters.add(int(match[1]), int(match[2]))
        for match in _OVERFLOW.finditer(line):
            taken = True
            self._overflow(match)
        if not taken:
            self._config(line)
        return taken

    def _overflow(self, match: re.Match[bytes]) -> None:
        if match["rank"] is not None:
            self.rank = self.rank or match["rank"]
            if match["rank"] != self.rank:
                return
            if match["told"] is None:
                self.found.precision = "bfloat16"
        self.overflows.add(number(match["to"]) if match["to"] else None, self.at, self.spacing)
        if match["told"]:
            self.found.scaling, self.found.level = "dynamic", "fp16"
            self.scale.add(self.place(self.overflows.total), number(match["from"]))
            if match["to"]:
                self.scale.add(self.place(self.overflows.total), number(match["to"]))

    def _config(self, line: bytes) -> None:
        match = _CONFIG.search(line)
        if not match:
            return
        key, value = match["key"], match["value"]
        if key == b"loss_scale":
            dynamic = value in (b"0", b"0.0")
            self.found.scaling = "dynamic" if dynamic else "static"
        elif value == b"True":
            self.found.level = "fp16" if key == b"fp16_enabled" else "bf16"
            self.found.precision = "float16" if key == b"fp16_enabled" else "bfloat16"

    def tally(self) -> Occurrences | Counters:
        return self.counters if self.counters.lines else self.overflows

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        found = super().evidence(steps, ranks or 1)  # one rank prints, however many there are
        count = found.count
        if self.counters.lines and count and self.overflows.total > count.high:
            high = min(self.overflows.total, count.steps or self.overflows.total)
            basis = f"{count.basis}; {self.overflows.total} messages"
            found.count = Count(high, high, count.steps, count.calibrating, basis)
        return found
