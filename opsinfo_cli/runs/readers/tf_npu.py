"""TensorFlow on the NPU: the library prints nothing, the scripts of the model zoo print a flag per step."""

from __future__ import annotations

import re

from ..count import Flags
from .reader import NUMBER, Reader, number

__all__ = ["TfNpu"]

_HOOK = re.compile(
    rb"(?P<over>Find overflow in this step, skip apply gradients|\bApply gradients), loss scale value=" + NUMBER
)
_FINITE = re.compile(rb"Loss scale = " + NUMBER + rb"\s{1,4}isFinite = (?P<finite>[01]|True|False)")
_REDUCED = re.compile(rb"overflow_status_reduce_all\s?:\s?\[?(?P<finite>True|False)")
_LOSSSCALE = re.compile(rb"loss_?scale\s?:\s?\[?" + NUMBER)
_STEP = re.compile(rb"(?:global_step|\bStep)\s?[:=]\s{0,4}(\d{1,15})")


class TfNpu(Reader):
    """`isFinite = <0|1>`, `overflow_status_reduce_all:<flag>`: both say that there was NO overflow when they are true
    (npu_loss_scale_optimizer.py: reduce_all(status == 0)); `Find overflow in this step ...` says there was one.
    """

    name = "tf_npu"
    marks = (b"loss scale value=", b"isFinite", b"overflow_status_reduce_all")
    window = 2000
    own_steps = True

    def __init__(self) -> None:
        super().__init__()
        self.flags = Flags()

    def line(self, line: bytes) -> bool:
        taken = False
        for match in _HOOK.finditer(line):
            taken = True
            self._add(None, match["over"].startswith(b"Find"), match[2])
        if taken:
            return True
        finite = _FINITE.search(line)
        if finite:
            self._add(line, finite["finite"] in (b"0", b"False"), finite[1])
            return True
        reduced = _REDUCED.search(line)
        if not reduced:
            return False
        scale = _LOSSSCALE.search(line)
        self._add(line, reduced["finite"] == b"False", scale[1] if scale else None)
        return True

    def _add(self, line: bytes | None, overflow: bool, scale: bytes | None) -> None:
        match = _STEP.search(line) if line is not None else None
        step = int(match[1]) if match else None
        if self.flags.add(step, overflow) and scale is not None:
            self.found.at_is_step = step is not None
            self.scale.add(step if step is not None else self.flags.printed, number(scale))

    def tally(self) -> Flags:
        return self.flags
