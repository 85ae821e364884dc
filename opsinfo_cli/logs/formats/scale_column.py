"""Lines with the loss scale in a column, and no message of an overflow: Swin, BEiT, MMCV with a hook, DLLogger."""

from __future__ import annotations

import re

from ..count import Count
from ..log_format import NUMBER, LogFormat, Strength
from ..steps import StepCounters, Steps, step_field

_SCALE = re.compile(rb"\bloss_scale[\"']?(?:: ?| )" + NUMBER)
_PARAMETER = re.compile(rb"PARAMETER loss_scale ?: ?" + NUMBER + rb"|\"PARAMETER\".{0,80}\"loss_scale\": ?" + NUMBER)
_WINDOW = 1000
"""No scaler of these stacks grows more often: torch.amp's default is 2000 clean steps, that of MMCV's own 1000
(open-mmlab/mmcv, mmcv/runner/fp16_utils.py, LossScaler, until version 2.0)."""


class ScaleColumn(LogFormat):
    """Progress lines with the loss scale in a column, and no message of an overflow:
    `Train: [e/E][i/n] ... loss_scale 65536.0000 (65536.0000)`, `Epoch: [e]  [i/n] ... loss_scale: 65536.0000`,
    `{"mode": "train", ..., "iter": 50, ..., "loss_scale": 512.0}`.

    Source: microsoft/Swin-Transformer, main.py, train_one_epoch; microsoft/unilm, beit/engine_for_pretraining.py and
    engine_for_finetuning.py, with beit/utils.py, SmoothedValue: the median of 20 steps. MMCV's and mmengine's logs have
    the column if a hook puts it there. NVIDIA's DLLogger (NVIDIA/dllogger) prints `DLL <time> - PARAMETER loss_scale :
    <x>`, or the same as JSON, in lines of their own between those with a step. Each fall of the printed scale proves an
    overflow. Between two lines the scale may grow and fall again unseen, at most once in the steps after which it
    grows.
    """

    name = "scale_column"
    reads = "a column `loss_scale` (Swin, BEiT, MMCV, mmengine), DLLogger (`PARAMETER loss_scale : <x>`)"
    strength = Strength.SCALE
    marks = (b"loss_scale",)
    window = 2000

    def __init__(self) -> None:
        super().__init__()
        self._fields = StepCounters()

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        if b"verflow" in line or b"num_updates" in line:  # of another format
            return
        if parameter := _PARAMETER.search(line):
            self.scale.add(self.place(steps.upto(at).at, self.lines), float(parameter[1] or parameter[2]))
            self.lines += copies
            return
        match = _SCALE.search(line)
        field = step_field(line) if match else None
        if match and field:
            self.lines += copies
            self.found.at_is_step = True
            self._fields.take(field)
            self.scale.add(self._fields.at or 0, float(match[1]))

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        steps = steps or self._fields.total or self.steps_printed
        low = self.scale.halvings
        unseen = max(0, (steps or 0) // _WINDOW - self.scale.rises) if self._fields.spacing != 1 else 0
        proof = "the printed scale changes" if self.scale.changes else None
        basis = f"{self.scale.falls} falls of the printed scale"
        count = Count(low, low + unseen, steps, 0, basis, proof=proof)
        return count.with_note("between printed lines the scale may grow and fall again") if unseen else count
