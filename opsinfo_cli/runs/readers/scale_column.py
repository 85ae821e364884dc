"""Progress lines with the loss scale in a column, and no message of an overflow: Swin, BEiT, MMCV with a hook."""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from ..count import Count
from ..shapes import Shapes
from ..step_fields import NEAR, Kind, Row, Spot, line_spot
from ..steps import StepFields
from .reader import NUMBER, Reader

_SCALE = re.compile(rb"\bloss_scale[\"']?(?:: ?| )" + NUMBER)
_WINDOW = 1000
"""No scaler of these stacks grows more often: torch.amp's default is 2000 clean steps, that of MMCV's own 1000
(open-mmlab/mmcv, mmcv/runner/fp16_utils.py, LossScaler, until version 2.0)."""


class _Row(NamedTuple):
    """Where a line shows the step and the scale."""

    spot: Spot
    scale: slice
    kind: tuple[Kind, bool]
    """The kind of the step, and whether that is known without the line."""


def _kind_of(found: tuple[_Row, bytes]) -> tuple[Kind, bool]:
    return found[0].kind


def _row_of(shape: bytes) -> _Row | None:
    scale = _SCALE.search(shape)
    if not scale or b"verflow" in shape or b"num_updates" in shape:
        return None
    spot = line_spot(shape[:NEAR])
    return _Row(spot, slice(*scale.span(1)), (spot.kind, spot.is_plain)) if spot else None


class ScaleColumn(Reader):
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
        self._rows: Shapes[_Row | None] = Shapes(_row_of)

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        (mark,) = self.marks
        lines = [line for line in data[:limit].split(b"\n") if mark in line]
        found = [(row, line) for line, row in zip(lines, self._rows.of_all(lines), strict=True) if row]
        for (kind, is_plain), some in groupby(found, key=_kind_of):
            rows = list(some)
            self.lines += len(rows)
            self.scale_words += len(rows)
            self.found.at_is_step = True
            if is_plain:
                self._take(kind, [row.spot.row(line) for row, line in rows], rows)
            else:
                for row, line in rows:
                    field = row.spot.read(line)
                    self._take(field.kind, [field[1:]], [(row, line)])

    def _take(self, kind: Kind, steps: list[Row], rows: list[tuple[_Row, bytes]]) -> None:
        self.scale.add_rows(self.fields.take_rows(kind, steps), [line[row.scale] for row, line in rows])

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
