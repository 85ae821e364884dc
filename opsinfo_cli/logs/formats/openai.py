"""OpenAI's diffusion trainers: a message per overflow, and the exponent of the scale as a named value."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..count import Overflows
from ..log_format import NUMBER, FallFormat
from ..steps import Steps

_OVERFLOW = re.compile(rb"Found NaN, decreased lg_loss_scale to " + NUMBER)
_VALUE = re.compile(rb"_loss_scale(?:(?<=\blg_loss_scale)|(?<=\blog2_loss_scale))[\"']?\s?[:=]\s?" + NUMBER)
_DIGITS = 3
"""Of numbers in the tables of the logger."""
_STEEP = 0.5
"""If the exponent grows by less between two lines, one of the two means after an overflow is lower than that before."""
_NOISE = 1e-6
"""Of a mean with all its digits."""


class _Exponent(NamedTuple):
    """:param error: how far it may be from its digits"""

    value: float
    error: float


class OpenAI(FallFormat):
    """`Found NaN, decreased lg_loss_scale to <e>`, and `lg_loss_scale` as a named value.

    Source: openai/guided-diffusion, guided_diffusion/fp16_util.py, MixedPrecisionTrainer.optimize_fp16, and its many
    copies. The scale is 2 to the power of ``e``, which grows by a constant (0.001 unless an option says otherwise) in
    each clean step and falls by one at an overflow, without end. The named value is its mean since the line before; in
    openai/improved-diffusion, improved_diffusion/train_util.py, log_step, that of the last step.

    A fall of a mean proves an overflow. Whether it is a part of a fall that a line before showed, or another one, is
    shown by the height of all falls in a row.
    """

    name = "openai"
    reads = "OpenAI's diffusion trainers (`Found NaN, decreased lg_loss_scale to <e>`, `lg_loss_scale`)"
    marks = (b"lg_loss_scale", b"log2_loss_scale")
    floor = 0.0
    grows_each_step = True

    def __init__(self) -> None:
        super().__init__()
        self._top: _Exponent | None = None
        """Where the falls in a row began that the newest value belongs to."""
        self._lowest = 0.0
        """The lowest value since."""
        self._falls = 0
        """Overflows that the values since prove."""
        self._is_mixed = False
        """Whether the next value is the mean of steps before and after a message."""
        self._unexplained = 0
        """Overflows that values prove and no message shows."""
        self._values = 0
        self._steepest = self._error = 0.0
        self._first = self._spacing = 0
        """The step of the first value, and the steps between two."""

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        message = _OVERFLOW.search(line)
        value = None if message else _VALUE.search(line)
        if message:
            self._fall(float(message[1]), steps.upto(at), copies)
        elif value:
            shown = steps.upto(at + 1).at
            self._first, self._spacing = self._first if self._values else shown or 0, steps.spacing
            self._values += 1
            self._add(self.place(shown, self.lines), _printed(value[1]))
        if message or value:
            self.found.scaling, self.found.level = "dynamic", self.level
            self.lines += copies

    def _fall(self, exponent: float, steps: Steps, copies: int) -> None:
        self._top, self._lowest, self._falls, self._is_mixed = _Exponent(exponent, 0.0), exponent, 0, True
        if self.occurrences.add(exponent, steps.at, steps.spacing, copies):
            place = self.place(steps.at, self.lines)
            self.scale.add(place, max(_scale(exponent + 1), self.scale.final or 0.0))  # a mean may be rounded up
            self.scale.add(place, _scale(exponent))

    def _add(self, place: int, printed: _Exponent) -> None:
        self._error = max(self._error, printed.error)
        was_mixed, self._is_mixed = self._is_mixed, False
        if was_mixed:
            return
        top = self._top
        if top is None or printed.value > self._lowest:
            self._steepest = max(self._steepest, printed.value - self._lowest if top else 0.0)
            self._top = top = printed
            self._lowest, self._falls = printed.value, 0
        elif printed.value < self._lowest:
            self._lowest, height = printed.value, top.value - printed.value
            certain = math.ceil(height - top.error - printed.error)
            is_lower = top.error > 0 and height > 2 * _NOISE  # of two means that are rounded alike
            new = max(certain, int(is_lower), self._falls) - self._falls
            self._unexplained += new
            self._falls += new
        self.scale.add(place, _scale(top.value - self._falls))

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        if self.occurrences.total and not self._unexplained:
            return super().tally(steps, ranks)
        low = self._unexplained + (super().tally(steps, ranks).low if self.occurrences.total else 0)
        basis, proof = f"{low} falls of the printed exponent", "the printed exponent falls by one at each overflow"
        if low or self._values < 2 or self._steepest >= _STEEP or self._error >= _STEEP / 2:
            doubt = "the scale grows in each step, which hides falls of the printed exponent"
            return Overflows(low, low, steps, 0, basis, doubt=doubt, proof=proof)
        hidden = 1 + min(self._first, self._spacing)  # in the last step, and in those of the first value
        return Overflows(0, min(hidden, steps or hidden), steps, 0, basis, proof=proof)


def _scale(exponent: float) -> float:
    return math.pow(2.0, min(exponent, 1023.0))


def _printed(text: bytes) -> _Exponent:
    value, digits = float(text), text.strip(b"-").partition(b"e")[0].replace(b".", b"").strip(b"0")
    if len(digits) > _DIGITS or not value or not math.isfinite(value):
        return _Exponent(value, _NOISE)
    return _Exponent(value, 10.0 ** (math.floor(math.log10(abs(value))) + 1 - _DIGITS) / 2)
