"""gemm, layer_normalization, clip, max, min, mean, xor, bitshift and threshold_relu_onnx_plugin.cpp"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..onnx_operator import Constant, From

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _gemm(it: OnnxOperator) -> None:
    if it.inputs != 3:
        it.add("MatMulV2", 0, 1)
    elif it.value("alpha", 1) == 1 and it.value("beta", 1) == 1:
        it.add("Add", it.add("MatMulV2", 0, 1), 2, name="add")
    else:
        bias = it.add("Muls", 2, name="Muls2")
        product = it.add("Muls", it.add("MatMulV2", 0, 1), name="Muls1")
        it.add("Add", product, bias, name="add")


def _layer_normalization(it: OnnxOperator) -> None:
    x = it.add("Identity", 0, name="identity_0")
    shape = it.add("Shape", x, name="shape", dtype="int32")
    scale = it.add("BroadcastTo", it.add("Identity", 1, name="identity_1"), shape, name="broadcastto1")
    bias = it.add("Identity", Constant("float32", 0.0) if it.inputs == 2 else 2, name="identity_2")
    bias = it.add("BroadcastTo", bias, shape, name="broadcastto2")
    y = it.add("LayerNorm", x, scale, bias)
    deviation = it.add("Rsqrt", it.add("Adds", f"{y}:2", name="Adds"), name="Rsqrt")
    if it.value("stash_type", 1) == 0:
        deviation = it.add("Identity", deviation, name="cast1")
        mean = it.add("Identity", f"{y}:1", name="cast2")
    else:
        deviation = it.add("Cast", it.add("Identity", deviation, name="identity_3"), name="cast1", dtype="float32")
        mean = it.add("Cast", it.add("Identity", f"{y}:1", name="identity_4"), name="cast2", dtype="float32")
    it.results = (y, mean, deviation)


def _clip(it: OnnxOperator) -> None:
    """The bounds are attributes up to opset 10, then inputs."""
    if it.opset <= 10:
        x = it.add("Cast", 0, name="cast", dtype="float32")
        least, most = it.number("min", -3.402823e38), it.number("max", 3.402823e38)
        it.add("ClipByValue", x, Constant("float32", least), Constant("float32", most))
    elif it.has(1) and it.has(2):
        it.add("ClipByValue", 0, 1, 2)
    elif it.has(1):
        it.add("Maximum", 0, 1)
    elif it.has(2):
        it.add("Minimum", 0, 2)
    else:
        it.refuse("min or max must be given")


def _chain(op_type: str, it: OnnxOperator) -> None:
    """An operator of two inputs, again for each further input."""
    if it.inputs == 1:
        it.add("Identity", 0)
        return
    value = it.add(op_type, 0, 1)
    for number in range(2, it.inputs):
        value = it.add(op_type, value, number, name=f"{op_type}_{number}")


def _mean(it: OnnxOperator) -> None:
    it.add("Muls", it.add("AccumulateNV2", From(0)), name="Muls")


def _xor(it: OnnxOperator) -> None:
    first = it.add("Cast", 0, name="Cast_a", dtype="int32")
    second = it.add("Cast", 1, name="Cast_b", dtype="int32")
    it.add("Cast", it.add("BitwiseXor", first, second, dtype="int32"), name="Cast_out")


def _bit_shift(it: OnnxOperator) -> None:
    shifts = {"LEFT": "LeftShift", "RIGHT": "RightShift"}
    direction = it.word("direction", "")
    if direction not in shifts:
        it.refuse("direction must be LEFT or RIGHT")
    it.add(shifts[direction], 0, 1)


def _thresholded_relu(it: OnnxOperator) -> None:
    x = it.add("Identity", 0, name="identity")
    it.add("Mul", x, it.add("Threshold", x), name="mul")


PLUGINS = {
    "BitShift": _bit_shift,
    "Clip": _clip,
    "Gemm": _gemm,
    "LayerNormalization": _layer_normalization,
    "Max": partial(_chain, "Maximum"),
    "Mean": _mean,
    "Min": partial(_chain, "Minimum"),
    "ThresholdedRelu": _thresholded_relu,
    "Xor": _xor,
}
