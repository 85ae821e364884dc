"""Formats, compared with numpy and ml_dtypes."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.numerics.number_format import FORMATS, HIF8, parse_number, rounded, special

np = pytest.importorskip("numpy", reason="the formats are held against numpy")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="the 8- and 16-bit formats are held against ml_dtypes")

TYPES: dict[str, Any] = {
    "fp64": np.float64,
    "fp32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
    "fp8-e4m3": ml_dtypes.float8_e4m3fn,
    "fp8-e5m2": ml_dtypes.float8_e5m2,
}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@pytest.mark.parametrize("name", FORMATS)
def test_limits(name: str) -> None:
    limits, info = FORMATS[name].limits, ml_dtypes.finfo(TYPES[name])
    assert limits.bits == info.bits
    assert float(limits.largest) == float(info.max)
    assert float(limits.smallest_normal) == float(info.smallest_normal)
    assert float(limits.smallest_subnormal) == float(info.smallest_subnormal)
    assert float(limits.epsilon) == float(info.eps)


def test_fp16_limits_differ_from_those_in_a_guide() -> None:
    limits = FORMATS["fp16"].limits
    assert limits.largest == 65504
    assert float(limits.smallest_normal) == 6.103515625e-05
    assert float(limits.smallest_subnormal) == 5.960464477539063e-08
    assert rounded(Fraction(66504), FORMATS["fp16"]).outcome == "overflow"


def test_hif8_has_the_values_of_its_paper() -> None:
    """31 binades of normal values, 38 with the denormals; 3 bits of mantissa next to 1; infinity behind 2^15."""
    assert (HIF8.largest, HIF8.smallest_normal) == (2**15, Fraction(1, 2**15))
    assert math.log2(HIF8.largest) - math.log2(HIF8.smallest_normal) + 1 == 31
    assert math.log2(HIF8.largest) - math.log2(HIF8.smallest_subnormal) + 1 == 38
    assert HIF8.epsilon == Fraction(1, 8)


def bits_of(value: float, name: str) -> int:
    with np.errstate(all="ignore"):
        cast = np.array([value], np.float64 if name in ("fp64", "fp32", "fp16") else np.float32).astype(TYPES[name])
    return int(cast.view(WORDS[cast.itemsize])[0])


@pytest.mark.parametrize("name", FORMATS)
def test_every_rounding(name: str) -> None:
    """Values over the whole range, and the halves between neighbours, where ties go to even."""
    chance = random.Random(7)
    limits = FORMATS[name].limits
    values = [chance.uniform(-1, 1) * 2.0 ** chance.randint(-160, 127) for _ in range(1000)]
    values += [chance.uniform(-2, 2) * float(limits.smallest_subnormal) for _ in range(200)]
    values += [chance.uniform(0.9, 1.1) * float(limits.largest) for _ in range(200) if name != "fp64"]
    one = float(limits.epsilon)
    values += [1 + one * (k + 0.5) for k in range(8)] + [float(limits.smallest_subnormal) * (k + 0.5) for k in range(8)]
    for value in values:
        with np.errstate(all="ignore"):
            exact = value if name in ("fp64", "fp32", "fp16") else float(np.float32(value))
        if exact and math.isfinite(exact):
            assert int(rounded(Fraction(exact), FORMATS[name]).bits.replace(" ", ""), 2) == bits_of(exact, name), exact


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["fp16", "bf16", "fp8-e4m3", "fp8-e5m2"])
def test_every_pattern_rounds_to_itself(name: str) -> None:
    kind = FORMATS[name]
    patterns = np.arange(2**kind.bits, dtype=WORDS[kind.bits // 8])[:: 1 if kind.bits == 8 else 7]
    with np.errstate(all="ignore"):
        values = patterns.view(TYPES[name]).astype(np.float64)
    for pattern, value in zip(patterns, values, strict=True):
        if np.isfinite(value):
            found = rounded(Fraction(float(value)), kind, bool(np.signbit(value)))
            assert int(found.bits.replace(" ", ""), 2) == int(pattern)
            assert found.outcome == ("subnormal" if 0 < abs(value) < kind.limits.smallest_normal else "exact")


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "+Infinity", "-NaN"])
def test_infinities_and_nan(text: str) -> None:
    for name, kind in FORMATS.items():
        found = special(text, kind)
        assert found is not None
        cast = np.array([int(found.bits.replace(" ", ""), 2)], WORDS[kind.bits // 8]).view(TYPES[name])[0]
        if text.lower().strip("+-")[0] == "n" or name == "fp8-e4m3":
            assert np.isnan(cast)
        else:
            assert float(cast) == float(text)


def test_bits_are_shown_in_their_parts() -> None:
    assert rounded(Fraction(65504), FORMATS["fp16"]).bits == "0 11110 1111111111"
    assert rounded(Fraction(0), FORMATS["fp16"], negative=True).bits == "1 00000 0000000000"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65519.5", Fraction(131039, 2)),
        ("1e-8", Fraction(1, 10**8)),
        ("1/3", Fraction(1, 3)),
        ("-0x1.8p3", Fraction(-12)),
    ],
)
def test_numbers_are_read_exactly(text: str, value: Fraction) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "1e", "1e99999999999", "1" * 5000, "1/0", "0xzz", "0x1p99999", "--1", "1e5e5"]
)
def test_text_that_is_not_a_number_is_refused(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        parse_number(text)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(FORMATS)))
def test_nearest_is_never_further_than_half_a_step(value: float, name: str) -> None:
    kind = FORMATS[name]
    found = rounded(Fraction(value), kind)
    if found.value is None:
        assert abs(Fraction(value)) > kind.limits.largest
    else:
        distance = abs(found.value - Fraction(value))
        assert distance <= max(abs(Fraction(value)) * kind.limits.epsilon, kind.limits.smallest_subnormal) / 2
