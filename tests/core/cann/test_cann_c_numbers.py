"""Numbers as the C++ library reads them; floats as seen with glibc 2.36."""

from __future__ import annotations

import pytest
from tables import cases

from opsinfo_cli.core.cann.c_numbers import LONGEST, is_float, long_or_none, saturated


@cases(
    "text, number",
    {
        "digits": ("12", 12),
        "blanks and a sign": (" \t\v+7", 7),
        "minus zero": ("-0", 0),
        "leading zeros": ("007x", 7),
        "up to a point": ("1.9", 1),
        "largest": ("9223372036854775807", LONGEST),
        "smallest": ("-9223372036854775808", -LONGEST - 1),
        "5000 leading zeros": ("0" * 5000 + "1", 1),
    },
)
def test_a_number_is_read_from_a_numeric_prefix(text: str, number: int) -> None:
    assert long_or_none(text) == number


@cases(
    "text",
    {
        "empty": "",
        "letter": "x",
        "sign alone": "+",
        "blank after the sign": "- 1",
        "no-break space": "\u00a01",
        "Arabic digit": "\u0661",
        "largest plus 1": "9223372036854775808",
        "smallest minus 1": "-9223372036854775809",
        "5000 digits": "1" * 5000,
    },
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


@cases(
    "text",
    {
        "empty": "",
        "letter": "x",
        "exponent alone": "e5",
        "point alone": ".",
        "dotless i": "\u0131nf",
        "above the largest": "3.4028236e38",
        "1e39": "1e39",
        "hexadecimal overflow": "0x1p128",
        "1e999": "1e999",
        "subnormal": "1e-40",
        "underflow": "1e-60",
        "1e-999": "1e-999",
        "hexadecimal underflow": "0x1p-150",
    },
)
def test_text_that_is_not_a_float(text: str) -> None:
    assert not is_float(text)
