"""Lines with the loss scale as a named value, whoever prints them, and no message of an overflow."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from ..count import Overflows
from ..evidence import Evidence
from ..log_format import NUMBER, LogFormat, Strength, rounding
from ..losses import shows_loss
from ..steps import StepCounters, Steps, step_field
from ..trajectory import Trajectory

_SCALE = re.compile(
    rb"(?<![\w/.-])(?<!Attempted )(?P<key>(?:[Ll]oss |[Gg]rad(?:ient)? )?[\w/.-]{0,60}[Ss]cal(?:e|er|ing)(?:_value)?)"
    rb"(?P<sign>[\"']?\s{0,2}[:=|]\s{0,12}|[\"']?\s{1,2})[\[\"'(]{0,2}"
    + NUMBER
    + rb"(?![\w.]|,\d{3})(?:\s?\((?:avg:? )?(?P<average>\d{1,20}(?:\.\d{1,20})?)\))?"
)
_LOSS_SCALE = re.compile(
    rb"loss[ _-]?scale|gradient[ _-]?scale|grad[ _-]?scale|(?:amp|fp16)[ _/-]?scale|scaler|loss_scaling"
)
_OPTION = re.compile(rb"init|min|max|factor|window|growth|backoff|static|default|target|enable|use_")
"""Words of a name that is an option of a scaler."""
_LOGARITHM = re.compile(rb"(?<![a-z])(?:lg|ln|log\d{0,2})_")
"""Such a name is that of an exponent (:mod:`.openai`)."""
_PARAMETER = re.compile(rb"PARAMETER loss_scale ?: ?" + NUMBER + rb"|\"PARAMETER\".{0,80}\"loss_scale\": ?" + NUMBER)
_WINDOW = 1000
"""Unless the log shows it, no scaler of these stacks grows more often: torch.amp's default is 2000 clean steps, that of
MMCV's own 1000 (open-mmlab/mmcv, mmcv/runner/fp16_utils.py, LossScaler, until version 2.0)."""
_MOST_KEYS = 16
_NEAR = 0.02
"""A scale that moves by factors of two is so near to a power of two, as a share of the exponent, or as its digits."""


@lru_cache(256)
def _names_scale(key: bytes) -> bool | None:
    """Whether a name is that of a loss scale; None for the word `scale` alone, which may be any."""
    name = key.lower()
    if _OPTION.search(name) or _LOGARITHM.search(name):
        return False
    return True if _LOSS_SCALE.search(name) else None if name.rpartition(b"/")[2] == b"scale" else False


class _Column:
    """The values of one name. Values between two moves by factors of two are averages: they prove a move only where
    they pass the next factor.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.scale = Trajectory()
        self.average: float | None = None
        """The first running average, if it proves that the scale was higher before."""
        self.growth = _WINDOW
        """So many steps after a rise comes the next one, at least."""
        self._rose: int | None = None
        self._near = _NEAR
        self.is_scale = True
        self.is_beside_step = False
        """Whether a line shows the step or the loss, too; one line without it may be an option."""

    @property
    def counts(self) -> bool:
        return self.is_scale and (self.is_beside_step or self.scale.seen > 1)

    def add(self, at: int, value: float, error: float, average: float | None) -> None:
        """:param error: how far the value may be from its printed digits"""
        final = self.scale.final
        if final is None:
            if average and average > value * (1 + _NEAR) > 0:
                self.average = average
                self.scale.add(at, value * 2.0 ** math.ceil(math.log2(average / value) - _NEAR))
        elif final > 0 < value and math.isfinite(value):
            moved = math.log2(value) - math.log2(final)
            near = max(_NEAR, math.log2(1 + error / value), self._near)
            if abs(moved - round(moved)) > near or not round(moved):
                value = final * 2.0 ** math.floor(moved)
        self._near = max(_NEAR, math.log2(1 + error / value)) if value > 0 else _NEAR
        before = self.scale.rises
        self.scale.add(at, value)
        if self.scale.rises > before:
            if self._rose is not None:
                self.growth = min(self.growth, at - self._rose)
            self._rose = at


class ScaleColumn(LogFormat):
    """Progress lines with the loss scale as a named value, and no message of an overflow:
    `Train: [e/E][i/n] ... loss_scale 65536.0000 (65536.0000)`, `Epoch: [e]  [i/n] ... loss_scale: 65536.0000`,
    `{"mode": "train", ..., "iter": 50, ..., "loss_scale": 512.0}`, `grad_scale=65536`, `| Iter: 5 | scale: 512.0 |`.

    Source: microsoft/Swin-Transformer, main.py, train_one_epoch; microsoft/unilm, beit/engine_for_pretraining.py and
    engine_for_finetuning.py, with beit/utils.py, SmoothedValue: the median of 20 steps. MMCV's and mmengine's logs have
    the column if a hook puts it there; scripts of OpenBMB/CPM-Live print BMTrain's. NVIDIA's DLLogger (NVIDIA/dllogger)
    prints `DLL <time> - PARAMETER loss_scale : <x>`, or the same as JSON, in lines of their own between those with a
    step. Each fall of the printed scale proves an overflow. Between two lines the scale may grow and fall again unseen,
    at most once in the steps after which it grows.
    """

    name = "scale_column"
    reads = (
        "a named value of any framework (`loss_scale`, `grad_scale`, `scaler`), DLLogger (`PARAMETER loss_scale : <x>`)"
    )
    strength = Strength.SCALE
    marks = (b"scal", b"Scal")
    is_general = True

    def __init__(self) -> None:
        super().__init__()
        self._fields = StepCounters()
        self._columns: dict[bytes, _Column] = {}

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        if b"PARAMETER" in line and (parameter := _PARAMETER.search(line)):
            self._add(
                b"loss_scale", self.place(steps.upto(at).at, self.lines), parameter[1] or parameter[2], None, copies
            )
            return
        matches = [match for match in _SCALE.finditer(line) if _names_scale(match["key"]) is not False]
        if not matches:
            return
        field, is_entry = step_field(line), shows_loss(line)
        for match in matches:
            if not _names_scale(match["key"]) and not (field and b"oss" in line and match["sign"].strip(b"\"' ")):
                continue
            if field:
                self._fields.take(field)
                place = self._fields.at or 0
                self.found.at_is_step = True
            elif (before := steps.upto(at).at) is not None or is_entry:
                place = self.place(before, self.lines)
            else:  # an option, before the first step
                continue
            self._add(match["key"], place, match[3], match["average"], copies)
            if (field or is_entry) and match["key"] in self._columns:
                self._columns[match["key"]].is_beside_step = True

    def _add(self, key: bytes, place: int, value: bytes, average: bytes | None, copies: int) -> None:
        number = float(value)
        if number < 0:  # DeepSpeed below Megatron
            return
        if key not in self._columns and len(self._columns) == _MOST_KEYS:
            return
        column = self._columns.setdefault(key, _Column(key.decode("ascii", "replace")))
        column.is_scale &= _names_scale(key) is True or math.frexp(number)[0] == 0.5  # a power of two
        column.add(place, number, rounding(value), float(average) if average else None)
        self.lines += copies * column.is_scale

    @property
    def _column(self) -> _Column | None:
        """That which fell below 1, or moves most."""
        columns = [column for column in self._columns.values() if column.counts]
        return max(columns, key=lambda column: (column.scale.lowest < 1.0, column.scale.changes), default=None)

    @property
    def counts(self) -> bool:
        return self._column is not None

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        column = self._column
        if column is None:
            return Overflows(0, 0, steps, 0, "no messages")
        steps = steps or self._fields.total or self.steps_printed
        low = column.scale.halvings
        growth = max(1, column.growth - self._fields.spacing)
        unseen = max(0, (steps or 0) // growth - column.scale.rises) if self._fields.spacing != 1 else 0
        proof = "the printed scale changes" if column.scale.changes else None
        count = Overflows(
            low, low + unseen, steps, 0, f"{column.scale.falls} falls of the printed `{column.key}`", proof=proof
        )
        if column.average:
            count = count.with_note(f"its running average, {column.average:.10g}, proves that it was higher before")
        return count.with_note("between printed lines the scale may grow and fall again") if unseen else count

    def evidence(self, steps: int | None, ranks: int | None) -> Evidence:
        column = self._column
        self.scale = self.found.scale = column.scale if column else self.scale
        self.found.scale_key = column.key if column else None
        return super().evidence(steps, ranks)
