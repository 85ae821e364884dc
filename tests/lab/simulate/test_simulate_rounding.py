"""How one tensor is rounded: float16, bfloat16 and HiFloat8, with and without saturation, against exact arithmetic."""

from __future__ import annotations

import platform
import sys
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from opsinfo_cli.errors import Refused
from opsinfo_cli.lab.simulate.round_in_onnx import LARGEST, Rounder

WAYS = [
    ("float16", 9),
    ("float16", 17),
    ("bfloat16", 9),
    ("bfloat16", 12),
    ("bfloat16", 13),
    ("hifloat8", 9),
    ("hf32", 9),
]
LEVELS = {"off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC}
EDGES = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    70000.0,
    -70000.0,
    65503.99,
    65519.99,
    65520.0,
    3.3895e38,
    3.3961e38,
    3.4e38,
]
EDGES += [2.0**-24, 2.0**-25, 1.5 * 2.0**-25, 2.0**-126, 2.0**-127, 2.0**-133, 2.0**-134, 1.5 * 2.0**-134, 1e-45]
EDGES += [40959.0, 40960.0, 32768.0, 2.0**-22, 2.0**-23, 0.999 * 2.0**-23, 1.1 * 2.0**-23, 1.5 * 2.0**-22, 2.0**-16]


def rounded(values: Any, dtype: str, opset: int = 17, saturate: bool = False, level: str = "off") -> Any:
    """The results of the rounding nodes in onnxruntime."""
    nodes = Rounder(opset, saturate).nodes("x", "y", "float32", dtype, "p")
    nodes.append(helper.make_node("Identity", ["y"], ["z"]))
    x, z = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [None]) for name in "xz")
    graph = helper.make_graph(nodes, "g", [x], [z])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, {"x": np.asarray(values, np.float32)})[0]


def hif8_values() -> list[Fraction]:
    """The positive finite values of HiFloat8: after the sign a prefix code gives the width of the exponent, 4 to 0,
    or the denormals 2^(m-23). The exponent has a sign bit of its own and a leading one that is not stored; the last
    code, 0x6f, is infinity (Luo et al. 2024, "Ascend HiFloat8 Format for Deep Learning")."""
    values = [Fraction(2) ** (m - 23) for m in range(1, 8)]
    for width, mantissa in enumerate((3, 3, 3, 2, 1)):
        sizes = range(2 ** (width - 1), 2**width) if width else (0,)
        for exponent in {sign * size for size in sizes for sign in (1, -1)}:
            values += [Fraction(2) ** exponent * (1 + Fraction(m, 2**mantissa)) for m in range(2**mantissa)]
    return sorted(values)[:-1]


@cache
def values_of(dtype: str) -> list[Fraction]:
    """The finite values from 0 on, and the first value that is too large."""
    if dtype == "hifloat8":
        return [Fraction(0), *hif8_values(), Fraction(3, 2) * 2**15]
    bits, lowest, highest = {"float16": (10, -14, 15), "bfloat16": (7, -126, 127), "hf32": (11, -126, 127)}[dtype]
    small = [Fraction(n, 2**bits) * Fraction(2) ** lowest for n in range(2**bits)]
    large = [
        Fraction(2**bits + n, 2**bits) * Fraction(2) ** exponent
        for exponent in range(lowest, highest + 1)
        for n in range(2**bits)
    ]
    return [*small, *large, Fraction(2) ** (highest + 1)]


def nearest(value: float, dtype: str) -> float:
    """The stored value of a float, found by comparing exact distances."""
    if np.isnan(value) or np.isinf(value):
        return value
    from bisect import bisect_left

    known, size = values_of(dtype), abs(Fraction(value))
    at = min(bisect_left(known, size), len(known) - 1)
    below, above = known[max(at - 1, 0)], known[at]
    if size >= above:
        found = at
    elif size - below != above - size:
        found = at if above - size < size - below else at - 1
    elif dtype == "hifloat8":
        found = at
    else:
        found = at if at % 2 == 0 else at - 1
    sign = -1.0 if value < 0 else 1.0
    return sign * (np.inf if found == len(known) - 1 else float(known[found]))


def ties(dtype: str) -> list[float]:
    """Midpoints between values, and their neighbours in float32, from the whole range."""
    known = values_of(dtype)
    step = max(1, len(known) // 400)
    middles = [np.float32(float((a + b) / 2)) for a, b in zip(known[::step], known[1::step], strict=False)]
    middles += [np.float32(float((a + b) / 2)) for a, b in zip(known[-20:-1], known[-19:], strict=True)]
    return [
        float(each) for m in middles for each in (m, np.nextafter(m, np.float32(0)), np.nextafter(m, np.float32(9e37)))
    ]


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, np.asarray(expected, np.float32))


@pytest.mark.parametrize(("dtype", "opset"), WAYS)
def test_ties_and_edges_are_rounded_as_exact_arithmetic_has_them(dtype: str, opset: int) -> None:
    values = [float(np.float32(each)) for each in (*EDGES, *ties(dtype), *(-each for each in ties(dtype)))]
    assert_same(rounded(values, dtype, opset), [nearest(each, dtype) for each in values])


@given(st.lists(st.floats(width=32), min_size=1, max_size=200))
@pytest.mark.parametrize(
    ("dtype", "opset"), [("float16", 17), ("bfloat16", 12), ("bfloat16", 13), ("hifloat8", 17), ("hf32", 17)]
)
def test_any_float_is_rounded_as_exact_arithmetic_has_it(dtype: str, opset: int, values: list[float]) -> None:
    assert_same(rounded(values, dtype, opset), [nearest(each, dtype) for each in values])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("dtype", "stored"), [("float16", np.inf), ("bfloat16", 70144.0), ("hifloat8", np.inf)])
def test_70000_overflows_whether_the_model_is_optimised_or_not(level: str, dtype: str, stored: float) -> None:
    assert_same(rounded([70000.0, -70000.0], dtype, level=level), [stored, -stored])


@pytest.mark.parametrize(("dtype", "opset"), WAYS[:-1])
def test_with_saturation_overflow_is_the_largest_value_and_nan_is_zero(dtype: str, opset: int) -> None:
    largest = LARGEST[dtype]
    found = rounded([np.inf, -np.inf, 3.4e38, -3.4e38, np.nan, 1.0, -2.0], dtype, opset, saturate=True)
    assert_same(found, [largest, -largest, largest, -largest, 0.0, 1.0, -2.0])


def test_hifloat8_is_rounded_as_the_package_of_its_vendor_rounds_it() -> None:
    has_wheel = sys.version_info < (3, 13) and sys.platform == "linux" and platform.machine() == "x86_64"
    reason = "is not installed" if has_wheel else "has no wheel for this system"
    package = pytest.importorskip("en_dtypes", reason=f"en_dtypes, the vendor's HiFloat8, {reason}")
    values = np.asarray([*EDGES, *ties("hifloat8"), *np.random.default_rng(0).normal(size=2000) * 1000], np.float32)
    assert_same(rounded(values, "hifloat8"), values.astype(package.hifloat8).astype(np.float32))


def test_an_opset_without_the_operators_of_a_rounding_is_refused() -> None:
    with pytest.raises(Refused, match="opset 8 is too old to round to bfloat16"):
        Rounder(8, False).nodes("x", "y", "float32", "bfloat16", "p")
    assert len(Rounder(8, False).nodes("x", "y", "float32", "float16", "p")) == 2
