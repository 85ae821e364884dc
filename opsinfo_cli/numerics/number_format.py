"""Floating-point formats defined by their bit layout: limits, and rounding with exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

_MOST_DIGITS = 2000


class Limits(NamedTuple):
    """The limits of a format. ``epsilon`` is the distance from 1 to the next value."""

    bits: int
    largest: Fraction
    smallest_normal: Fraction
    smallest_subnormal: Fraction
    epsilon: Fraction


@dataclass(frozen=True)
class Format:
    """A sign bit, ``exponent`` bits with the bias of IEEE 754, ``mantissa`` bits.

    :param infinity: whether the highest exponent is reserved for infinities and NaN; without it only the all-ones
        pattern is NaN and there are no infinities (OCP 8-bit specification, E4M3)
    """

    name: str
    exponent: int
    mantissa: int
    infinity: bool = True

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def highest_exponent(self) -> int:
        return self.bias + (0 if self.infinity else 1)

    @property
    def lowest_exponent(self) -> int:
        return 1 - self.bias

    @property
    def limits(self) -> Limits:
        one = 2**self.mantissa
        top = 2 * one - (1 if self.infinity else 2)
        return Limits(
            self.bits,
            Fraction(top, one) * _power(self.highest_exponent),
            _power(self.lowest_exponent),
            _power(self.lowest_exponent - self.mantissa),
            Fraction(1, one),
        )


FORMATS = {
    each.name: each
    for each in (
        Format("fp64", 11, 52),
        Format("fp32", 8, 23),
        Format("bf16", 8, 7),
        Format("fp16", 5, 10),
        Format("fp8-e4m3", 4, 3, infinity=False),
        Format("fp8-e5m2", 5, 2),
    )
}


def _hif8_values() -> list[Fraction]:
    """The positive finite values of HiFloat8, by its published encoding.

    After the sign a prefix code gives the width of the exponent: 11, 10, 01, 001, 0001 for 4, 3, 2, 1, 0 bits, and
    0000 for the denormals 2^(m-23). The exponent has a sign bit of its own and a leading one that is not stored; the
    rest of the eight bits is mantissa. The last code, 0x6f, is infinity. (Luo et al. 2024, "Ascend HiFloat8 Format
    for Deep Learning": 7 exponents with 3 bits of mantissa, 8 with 2, 16 with 1, and 7 denormals.)
    """
    values = [_power(m - 23) for m in range(1, 8)]
    for width, mantissa in enumerate((3, 3, 3, 2, 1)):
        sizes = range(2 ** (width - 1), 2**width) if width else (0,)
        for exponent in {sign * size for size in sizes for sign in (1, -1)}:
            values += [_power(exponent) * (1 + Fraction(m, 2**mantissa)) for m in range(2**mantissa)]
    return sorted(values)[:-1]


def _hif8() -> Limits:
    """The relative step is 2^-3 near 1, 2^-2 from 2^4 and 2^-1 from 2^8. Sources differ on the rounding."""
    values = _hif8_values()
    normal = _power(-15)
    return Limits(8, values[-1], normal, values[0], values[values.index(Fraction(1)) + 1] - 1)


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


class Rounded(NamedTuple):
    """The nearest value of a format, ties to even.

    :param value: None if it overflows
    :param bits: sign, exponent and mantissa in that order
    :param error: relative to the exact value; None for zero and overflow
    :param outcome: ``exact``, ``rounded``, ``subnormal``, ``zero``, ``overflow``, ``infinity`` or ``nan``
    """

    value: Fraction | None
    bits: str
    error: Fraction | None
    outcome: str


def rounded(exact: Fraction, format: Format, negative: bool | None = None) -> Rounded:
    """Round to the nearest value of ``format``, ties to even, with integers only.

    :param negative: the sign, if ``exact`` is zero, which has none
    """
    sign = int(exact < 0 if negative is None else negative)
    size = abs(exact)
    if not size:
        return Rounded(exact, _bits(format, sign, 0), None, "exact")
    exponent = max(_exponent(size), format.lowest_exponent)
    units = round(
        size / _power(exponent - format.mantissa)
    )  # Python rounds to the even one of two equally near integers
    nearest = units * _power(exponent - format.mantissa)
    if nearest > format.limits.largest:
        overflow = (2**format.exponent - 1) << format.mantissa
        code = overflow if format.infinity else 2 ** (format.bits - 1) - 1
        return Rounded(None, _bits(format, sign, code), None, "overflow")
    normal = nearest >= format.limits.smallest_normal
    if units == 2 ** (format.mantissa + 1):  # rounded up to the next power of two
        exponent, units = exponent + 1, units // 2
    code = units + ((exponent + format.bias - 1) << format.mantissa) if normal else units
    error = abs(nearest - size) / size
    outcome = "zero" if not nearest else "subnormal" if not normal else "rounded" if error else "exact"
    return Rounded(-nearest if sign else nearest, _bits(format, sign, code), error, outcome)


def special(text: str, format: Format) -> Rounded | None:
    """Return the infinity or NaN that a text names, else None. In a format without infinities they become NaN."""
    word = text.strip().lower()
    sign, word = int(word.startswith("-")), word.lstrip("+-")
    if word not in ("inf", "infinity", "nan"):
        return None
    every = (1 << (format.bits - 1)) - 1
    top = every & ~((1 << format.mantissa) - 1)
    if not format.infinity:
        return Rounded(None, _bits(format, sign, every), None, "nan")
    if word == "nan":
        return Rounded(None, _bits(format, sign, top | 1 << (format.mantissa - 1)), None, "nan")
    return Rounded(None, _bits(format, sign, top), None, "infinity")


def _exponent(size: Fraction) -> int:
    """Return the e with 2^e <= size < 2^(e+1)."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if _power(guess) <= size else guess - 1


def _bits(format: Format, sign: int, code: int) -> str:
    text = f"{code:0{format.bits - 1}b}"
    return f"{sign} {text[: format.exponent]} {text[format.exponent :]}"


def parse_number(text: str) -> Fraction:
    """Parse a decimal, a fraction such as ``1/3``, or a hexadecimal such as ``0x1.8p3``, exactly.

    :raises ValueError: if it is not a number, or too long
    """
    plain = text.strip().replace("_", "").lower()
    mantissa, _, power = ("", "", "") if "0x" in plain else plain.partition("e")
    try:
        if "0x" in plain:
            return Fraction(float.fromhex(plain))
        if len(mantissa) <= _MOST_DIGITS and abs(int(power or 0)) <= _MOST_DIGITS:
            return Fraction(plain)
    except ZeroDivisionError:
        raise ValueError("division by zero") from None
    except (ValueError, OverflowError):
        raise ValueError("expected a number such as 65504, 1e-8, 1/3, 0x1p-14, inf or nan, or a file") from None
    raise ValueError(f"too many digits: {text[:40]}...")


HIF8 = _hif8()
