"""Dtypes: each one of the formats has a size, and the numbers of ONNX are those of its package."""

from __future__ import annotations

import re

import pytest
from onnx import TensorProto

from opsinfo_cli.lab.graph.casts import tensor_bytes
from opsinfo_cli.lab.graph.dtypes import BITS, GE, ONNX, TENSORFLOW, onnx_dtype

WITHOUT_SIZE = {None, "string", "string_ref", "resource", "variant"}
SAME = {"float": "float32", "double": "float64"}


@pytest.mark.parametrize("names", [GE, ONNX, TENSORFLOW], ids=["GE", "ONNX", "TensorFlow"])
def test_each_dtype_has_a_size_but_texts_and_handles(names: list[str | None]) -> None:
    assert {name for name in names if name not in BITS} <= WITHOUT_SIZE


def test_a_size_is_that_of_the_digits_in_a_name() -> None:
    for name, bits in BITS.items():
        digits = re.search(r"\d+", name)
        assert digits is None or int(digits[0]) == bits, name


@pytest.mark.parametrize("number", [number for number in TensorProto.DataType.values() if number])
def test_a_number_of_onnx_is_the_dtype_of_its_package(number: int) -> None:
    word = TensorProto.DataType.Name(number).lower()
    assert (onnx_dtype(number) or "").replace("_", "") == SAME.get(word, word)


def test_elements_of_less_than_a_byte_share_bytes() -> None:
    assert [tensor_bytes(name, (3, 3)) for name in ("uint2", "uint4", "float8_e5m2fnuz", "string")] == [3, 5, 9, None]
