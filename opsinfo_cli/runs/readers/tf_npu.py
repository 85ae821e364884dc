"""TensorFlow on the NPU: the library prints nothing; scripts of the model zoo print a flag per step."""

from __future__ import annotations

import re

from ..count import Count
from .flag_rows import FlagReader, FlagRow
from .reader import NUMBER, number

_HOOK = re.compile(
    rb"(?P<over>Find overflow in this step, skip apply gradients|\bApply gradients), loss scale value=" + NUMBER
)
_FINITE = re.compile(rb"Loss scale = " + NUMBER + rb"\s{1,4}isFinite = (?P<finite>[01]|True|False)")
_REDUCED = re.compile(rb"overflow_status_reduce_all\s?:\s?\[?(?P<finite>True|False)")
_LOSSSCALE = re.compile(rb"loss_?scale\s?:\s?\[?" + NUMBER)
_STEP = re.compile(rb"(?:global_step|\bStep)\s?[:=]\s{0,4}(\d{1,15})")


class TfNpu(FlagReader):
    """`isFinite = <0|1>`, `overflow_status_reduce_all:<flag>`: both are true if there was NO overflow;
    `Find overflow in this step ...` is printed if there was one.

    Source: Ascend/ModelZoo-TensorFlow, the loss scale hooks of its SSD and BERT scripts; Ascend/tensorflow,
    npu_loss_scale_optimizer.py: reduce_all(status == 0).
    """

    name = "tf_npu"
    reads = "TensorFlow on the NPU (`overflow_status_reduce_all`, `isFinite`, `Find overflow in this step`)"
    marks = (b"loss scale value=", b"isFinite", b"overflow_status_reduce_all")
    words = marks
    places_all = False
    window_default = 2000

    def __init__(self) -> None:
        super().__init__({b"0": True, b"1": False}.get)

    def row(self, shape: bytes) -> FlagRow | None:
        hooks = list(_HOOK.finditer(shape))
        if hooks:
            (hook,) = hooks if len(hooks) == 1 else (None,)
            over = hook is not None and hook["over"].startswith(b"Find")
            return FlagRow(over, None, None, None, None, slice(*hook.span(2))) if hook else None
        finite = _FINITE.search(shape)
        flag = finite or _REDUCED.search(shape)
        if not flag:
            return None
        scale, step = finite or _LOSSSCALE.search(shape), _STEP.search(shape)
        return FlagRow(
            flag["finite"] == b"False",
            None if flag["finite"] in (b"True", b"False") else slice(*flag.span("finite")),
            slice(*step.span(1)) if step else None,
            None,
            None,
            slice(*scale.span(1)) if scale else None,
        )

    def line(self, line: bytes) -> bool:
        """Read the messages of a hook that run together in one line."""
        hooks = list(_HOOK.finditer(line))
        for match in hooks:
            if self.flags.add(None, match["over"].startswith(b"Find")):
                self.found.at_is_step = False
                self.scale.add(self.flags.printed, number(match[2]))
        return bool(hooks)

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        return self.flags.count(steps, ranks)
