"""What becomes of one number in each format: its bits, the nearest value, and the loss scale that saves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

from .float_formats import FORMATS, Format

Outcome = Literal["exact", "rounded", "subnormal", "zero", "infinite", "not a number"]
_FAR = 400
"""Decimal exponents beyond this are 0 or infinite in every format; their exact value would take too much memory."""


@dataclass(frozen=True)
class NearestValue:
    """A number in one format."""

    name: str
    """The format."""
    bits: str
    """The bits in hexadecimal."""
    nearest: float | None
    """The nearest value, ties to even; null: infinite or NaN."""
    relative_error: float | None
    """The error as a share of the number; null where it has none."""
    outcome: Outcome
    """What becomes of the number; subnormal: with fewer bits, whether exact or not; not a number: too large, too, for a
    format without infinities."""
    loss_scale: float | None
    """The smallest power of two that makes the number normal; null if none is needed or none helps."""


@dataclass(frozen=True)
class SingleValue:
    """A number in each format."""

    text: str
    """The number, as given."""
    formats: Sequence[NearestValue]
    """The number in each format."""


def single_value(text: str) -> SingleValue | None:
    """Return what becomes of a number; None if the text is none."""
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    return SingleValue(text, [_nearest(exact, known) for known in FORMATS.values()])


def _nearest(exact: Decimal, known: Format) -> NearestValue:
    negative = exact.is_signed()
    beyond: Outcome = "infinite" if known.infinity else "not a number"
    if exact.is_nan() or exact.is_infinite() or exact.adjusted() > _FAR:
        outcome: Outcome = "not a number" if exact.is_nan() else beyond
        return NearestValue(
            known.name, _bits(known, negative, None if exact.is_nan() else math.inf), None, None, outcome, None
        )
    magnitude = Fraction(0) if exact.adjusted() < -_FAR else Fraction(exact.copy_abs())
    shift = max(_exponent(magnitude), known.lowest_exponent) - known.mantissa
    nearest = Fraction(2) ** shift * round(magnitude / Fraction(2) ** shift)
    limits = known.limits
    if nearest > Fraction(limits.largest):
        return NearestValue(known.name, _bits(known, negative, math.inf), None, None, beyond, None)
    error = abs(nearest - magnitude) / magnitude if magnitude else Fraction(exact != 0)
    outcome = "exact" if not error else "rounded"
    scale = None
    if exact and nearest < Fraction(limits.smallest_normal):
        outcome = "subnormal" if nearest else "zero"
        power = known.lowest_exponent - _exponent(magnitude) if magnitude else _FAR * 4
        scale = 2.0**power if power < 1024 else None
    value = float(nearest)
    signed = -value if negative else value
    return NearestValue(known.name, _bits(known, negative, value), signed, float(error), outcome, scale)


def _exponent(magnitude: Fraction) -> int:
    """Return the exponent of the largest power of two that is not larger."""
    if not magnitude:
        return -10_000
    power = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return power if Fraction(2) ** power <= magnitude else power - 1


def _bits(known: Format, negative: bool, magnitude: float | None) -> str:
    """:param magnitude: a value of the format, infinity, or None for NaN; without infinities NaN stands for both"""
    field = (1 << known.exponent) - 1
    if magnitude is None or math.isinf(magnitude):
        is_infinity = magnitude is not None and known.infinity
        mantissa = 0 if is_infinity else 1 << (known.mantissa - 1) if known.infinity else (1 << known.mantissa) - 1
        biased = field
    else:
        exponent = max(math.frexp(magnitude)[1] - 1 if magnitude else known.lowest_exponent, known.lowest_exponent)
        whole = int(math.ldexp(magnitude, known.mantissa - exponent))
        biased = exponent - known.lowest_exponent + (whole >> known.mantissa)
        mantissa = whole & ((1 << known.mantissa) - 1)
    width = 1 + known.exponent + known.mantissa
    number = (int(negative) << (width - 1)) | (biased << known.mantissa) | mantissa
    return f"0x{number:0{width // 4}x}"
