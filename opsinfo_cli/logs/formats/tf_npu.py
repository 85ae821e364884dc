"""TensorFlow on the NPU: the library prints nothing; scripts of the model zoo print a flag per step."""

from __future__ import annotations

import re

from ..log_format import NUMBER, FlagFormat
from ..steps import Steps

_HOOK = re.compile(
    rb"(?P<over>Find overflow in this step, skip apply gradients|\bApply gradients), loss scale value=" + NUMBER
)
_FINITE = re.compile(rb"Loss scale = " + NUMBER + rb"\s{1,4}isFinite = (?P<finite>[01]|True|False)")
_REDUCED = re.compile(rb"overflow_status_reduce_all\s?:\s?\[?(?P<finite>True|False)")
_LOSSSCALE = re.compile(rb"loss_?scale\s?:\s?\[?" + NUMBER)
_STEP = re.compile(rb"(?:global_step|\bStep)\s?[:=]\s{0,4}(\d{1,15})")


class TfNpu(FlagFormat):
    """TensorFlow on the NPU prints nothing; scripts of the model zoo print a flag per step: `isFinite = <0|1>`,
    `overflow_status_reduce_all:<flag>`, both true if there was NO overflow; `Find overflow in this step ...` is printed
    if there was one.

    Source: Ascend/ModelZoo-TensorFlow, the loss scale hooks of its SSD and BERT scripts; Ascend/tensorflow,
    npu_loss_scale_optimizer.py: reduce_all(status == 0).
    """

    name = "tf_npu"
    reads = "TensorFlow on the NPU (`overflow_status_reduce_all`, `isFinite`, `Find overflow in this step`)"
    marks = (b"loss scale value=", b"isFinite", b"overflow_status_reduce_all")

    def __init__(self) -> None:
        super().__init__()
        self.flags.each_step = True  # a hook prints after each step

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        hooks = list(_HOOK.finditer(line))  # messages of a hook may run together in one line
        for hook in hooks * copies:
            self.add_flag(None, hook["over"].startswith(b"Find"), hook[2], 1)
        self.lines += copies * bool(hooks)
        flag = None if hooks else _FINITE.search(line) or _REDUCED.search(line)
        if flag:
            self.lines += copies
            scale = flag if flag.re is _FINITE else _LOSSSCALE.search(line)
            step = _STEP.search(line)
            overflow = flag["finite"] in (b"False", b"0")
            self.add_flag(int(step[1]) if step else None, overflow, scale[1] if scale else None, copies)
