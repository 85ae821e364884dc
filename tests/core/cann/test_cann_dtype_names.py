"""The precision that an operator runs in, by its dtypes: one answer for graphs and for tables of a profiler."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.cann.dtype_names import leading_dtype, precision_of
from opsinfo_cli.lab.profile.table import DeviceTask
from opsinfo_cli.lab.profile.times import state_of


@pytest.mark.parametrize(
    ("inputs", "outputs", "dtype", "precision"),
    [
        (("float32",), ("float16",), "float16", "low"),
        (("float16",), ("float32",), "float32", "high"),
        (("float32", "float16"), ("bool",), "float16", "low"),
        (("float32",), ("int64", None), "float32", "high"),
        (("float32",), ("float32", "bfloat16"), "bfloat16", "low"),
        (("hifloat8",), (), "hifloat8", "low"),
        (("int32",), ("bool", "float64"), "float64", "high"),
        (("complex64",), ("bool",), "complex64", "high"),
        (("int32", None), ("bool",), "bool", None),
        ((), (None,), None, None),
    ],
)
def test_outputs_count_before_inputs_and_low_before_high(
    inputs: tuple[str | None, ...], outputs: tuple[str | None, ...], dtype: str | None, precision: str | None
) -> None:
    assert leading_dtype(inputs, outputs) == dtype
    assert precision_of(inputs, outputs) == precision
    kernel = DeviceTask("x", "Add", "AI_CORE", 1.0, inputs, outputs, None, "0", "1", 1)
    assert state_of(kernel) == (precision or "other")
    assert state_of(kernel._replace(hf32=True)) == ("hf32" if precision == "high" else precision or "other")
