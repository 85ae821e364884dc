"""Progress lines with the loss scale in a column, and no message of an overflow: Swin, BEiT, MMCV with a hook."""

from __future__ import annotations

import re

from ..count import Count
from ..steps import StepFields
from .reader import NUMBER, LineReader, number

_SCALE = re.compile(rb"\bloss_scale[\"']?(?:: ?| )" + NUMBER)
_WINDOW = 1000
"""No scaler of these stacks grows more often: torch.amp's default is 2000 clean steps, that of MMCV's own 1000
(mmcv/runner/fp16_utils.py, LossScaler)."""


class ScaleColumn(LineReader):
    """`Train: [e/E][i/n] ... loss_scale 65536.0000 (65536.0000)`, `Epoch: [e]  [i/n] ... loss_scale: 65536.0000`,
    `{"mode": "train", ..., "iter": 50, ..., "loss_scale": 512.0}`.

    Source: microsoft/Swin-Transformer, main.py, train_one_epoch; microsoft/unilm, beit/engine_for_pretraining.py and
    engine_for_finetuning.py, with beit/utils.py, SmoothedValue: the median of 20 steps. MMCV's and mmengine's logs have
    the column if a hook puts it there. Each fall of the printed scale proves an overflow. Between two lines the scale
    may grow and fall again unseen, at most once in the steps after which it grows.
    """

    name = "scale_column"
    reads = "progress lines with a column `loss_scale` (Swin, BEiT, MMCV, mmengine)"
    marks = (b"loss_scale",)
    window_default = 2000

    def __init__(self) -> None:
        super().__init__()
        self.fields = StepFields()

    def line(self, line: bytes) -> bool:
        scale = _SCALE.search(line)
        if not scale or b"verflow" in line or b"num_updates" in line:
            return False
        before = self.fields.seen
        self.fields.read(line)
        if self.fields.seen == before:
            return False
        at = self.fields.at
        self.found.at_is_step = True
        self.scale.add(at if at is not None else self.lines, number(scale[1]))
        return True

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        steps = steps or self.fields.total
        low = self.scale.halvings
        unseen = max(0, (steps or 0) // _WINDOW - self.scale.rises) if self.fields.spacing != 1 else 0
        proof = "the printed scale changes" if self.scale.changes else None
        basis = f"{self.scale.falls} falls of the printed scale"
        count = Count(low, low + unseen, steps, 0, basis, proof=proof)
        if unseen:
            count = count.noted("between printed lines the scale may grow and fall again")
        return count
