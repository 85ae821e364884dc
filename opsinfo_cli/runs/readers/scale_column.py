"""Progress lines with the loss scale in a column, and no message of an overflow: Swin, BEiT, MMCV with a hook."""

from __future__ import annotations

import re
from itertools import compress, groupby
from operator import attrgetter
from typing import NamedTuple, cast

from ..columns import Table
from ..count import Count
from ..shapes import Shapes
from ..sheet import Sheet
from ..step_fields import NEAR, Kind, Spot, line_spot
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

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        table = sheet.table(self._rows, *self.marks)
        known = cast("Table[_Row]", table)
        if not all(table.kinds):
            known = Table.of(list(compress(table.lines, table.rows)), [row for row in table.rows if row])
        if not known.lines:
            return
        if len(set(known.values_of_kinds(2))) == 1:
            self._take(known)
            return
        at = 0
        for _, some in groupby(known.rows, key=attrgetter("kind")):
            part = list(some)
            self._take(Table.of(known.lines[at : at + len(part)], part))
            at += len(part)

    def _take(self, table: Table[_Row]) -> None:
        """Take lines whose steps are of one kind."""
        self.lines += len(table)
        self.scale_words += len(table)
        self.found.at_is_step = True
        scales = table.column(1)
        _, is_plain = table.kinds[0].kind
        if is_plain:
            spots = Table(table.lines, table.values_of_kinds(0), lambda: table.values(0))
            self.scale.add_rows(self.fields.take_table(spots), scales)
            return
        for row, line, scale in zip(table.rows, table.lines, scales, strict=True):
            field = row.spot.read(line)
            self.scale.add_rows(self.fields.take_rows(field.kind, [field[1:]]), [scale])

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
