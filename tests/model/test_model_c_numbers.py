"""Numbers as the C++ library reads them; floats as seen with glibc 2.36."""

from __future__ import annotations

import pytest

from opsinfo_cli.model.c_numbers import LONGEST, is_float, long_or_none, saturated


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" \t\v+7", 7),
        ("-0", 0),
        ("007x", 7),
        ("1.9", 1),
        ("9223372036854775807", LONGEST),
        ("-9223372036854775808", -LONGEST - 1),
        ("0" * 5000 + "1", 1),
    ],
    ids=[
        "digits",
        "blanks and a sign",
        "minus zero",
        "leading zeros",
        "up to a point",
        "largest",
        "smallest",
        "5000 leading zeros",
    ],
)
def test_a_number_is_read_from_a_numeric_prefix(text: str, number: int) -> None:
    assert long_or_none(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "x", "+", "- 1", "\u00a01", "\u0661", "9223372036854775808", "-9223372036854775809", "1" * 5000],
    ids=[
        "empty",
        "letter",
        "sign alone",
        "blank after the sign",
        "no-break space",
        "Arabic digit",
        "largest plus 1",
        "smallest minus 1",
        "5000 digits",
    ],
)
def test_text_on_which_stol_throws_is_not_a_number(text: str) -> None:
    assert long_or_none(text) is None


@pytest.mark.parametrize(
    ("digits", "number"),
    [("", 0), ("0", 0), ("0012", 12), ("9223372036854775808", LONGEST), ("1" * 5000, LONGEST)],
    ids=["empty", "zero", "leading zeros", "largest plus 1", "5000 digits"],
)
def test_a_tensor_number_saturates_at_the_largest_long(digits: str, number: int) -> None:
    assert saturated(digits) == number


@pytest.mark.parametrize(
    "text",
    [
        "1",
        " -1.5e3x",
        ".5",
        "1.",
        "0",
        "0e999",
        "-0.000",
        "inf",
        "-INFINITY",
        "nan",
        "0x",
        "0x1.8p3",
        "0x0p-999",
        "3.4028235e38",
        "1.17549436e-38",
        "0x1p-149",
        "1e",
    ],
)
def test_a_float(text: str) -> None:
    assert is_float(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "e5",
        ".",
        "\u0131nf",
        "3.4028236e38",
        "1e39",
        "0x1p128",
        "1e999",
        "1e-40",
        "1e-60",
        "1e-999",
        "0x1p-150",
    ],
    ids=[
        "empty",
        "letter",
        "exponent alone",
        "point alone",
        "dotless i",
        "above the largest",
        "1e39",
        "hexadecimal overflow",
        "1e999",
        "subnormal",
        "underflow",
        "1e-999",
        "hexadecimal underflow",
    ],
)
def test_text_that_is_not_a_float(text: str) -> None:
    assert not is_float(text)
