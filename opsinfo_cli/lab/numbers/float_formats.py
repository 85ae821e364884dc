"""Floating-point formats defined by their bit layout, and their limits. Every limit is exact as a float.

The nodes that round a tensor to one of them in a simulation are in ``simulate/round_in_onnx.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of a format. ``epsilon`` is the distance from 1 to the next value."""

    bits: int
    largest: float
    smallest_normal: float
    smallest_subnormal: float
    epsilon: float


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
    def lowest_exponent(self) -> int:
        return 2 - (1 << (self.exponent - 1))

    @property
    def limits(self) -> Limits:
        epsilon = 2.0**-self.mantissa
        highest = 1 - self.lowest_exponent + (0 if self.infinity else 1)
        return Limits(
            1 + self.exponent + self.mantissa,
            (2 - epsilon * (1 if self.infinity else 2)) * 2.0**highest,
            2.0**self.lowest_exponent,
            2.0 ** (self.lowest_exponent - self.mantissa),
            epsilon,
        )

    def nearest(self, magnitude: float) -> float:
        """Return a magnitude rounded, ties to even; above the largest value if it becomes infinite."""
        shift = max(math.frexp(magnitude)[1] - 1, self.lowest_exponent) - self.mantissa
        try:
            return math.ldexp(round(math.ldexp(magnitude, -shift)), shift)
        except OverflowError:  # it is infinite, or float64 has no larger power of two
            return math.inf


FORMATS = {
    known.name: known
    for known in (
        Format("fp64", 11, 52),
        Format("fp32", 8, 23),
        Format("bf16", 8, 7),
        Format("fp16", 5, 10),
        Format("fp8-e4m3", 4, 3, infinity=False),
        Format("fp8-e5m2", 5, 2),
    )
}

HIF8 = Limits(8, 2.0**15, 2.0**-15, 2.0**-22, 2.0**-3)
"""HiFloat8 (Luo et al. 2024, "Ascend HiFloat8 Format for Deep Learning"): a prefix code gives the width of the
exponent, so that the relative step is 2^-3 near 1, 2^-2 from 2^4 and 2^-1 from 2^8. Sources differ on the rounding."""
