"""average_pool, max_pool, lppool, global_max_pool, maxunpool and int8_dequantize_onnx_plugin.cpp"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..onnx_operator import Constant, pairs

if TYPE_CHECKING:
    from ..onnx_operator import Input, OnnxOperator


def _require_kernel(it: OnnxOperator) -> None:
    it.require_even_pads()
    if not 1 <= len(it.ints("kernel_shape")) <= 3:
        it.refuse("kernel_shape must have one to three values")


def _is_large(it: OnnxOperator) -> bool:
    """A kernel or stride that the pooling of AI Core does not take."""
    return prod(it.ints("kernel_shape")) > 255 or any(stride > 63 for stride in it.ints("strides"))


def _padded(it: OnnxOperator, x: str, value: Constant) -> str:
    """Return a tensor in NHWC with the pads around it, if there are any."""
    if not any(it.ints("pads")):
        return x
    paddings = [0, 0, *[*pairs(it.ints("pads")), 0, 0, 0, 0][:4], 0, 0]
    return it.add("PadV2", x, Constant("int32", paddings), value, name="PadV2")


def _average_pool(it: OnnxOperator) -> None:
    _require_kernel(it)
    if it.dims == 1:
        it.add("Squeeze", it.add("AvgPoolV2", it.add("Unsqueeze", 0, name="UnsqueezeX")), name="SqueezeAvgpoolv2")
    else:
        it.add("AvgPool3D" if it.dims == 3 else "AvgPoolV2", 0)


def _max_pool(it: OnnxOperator) -> None:
    _require_kernel(it)
    if it.outputs >= 2:
        it.refuse("the output Indices is not supported")
    if it.value("storage_order") == 1:
        it.refuse("storage_order must be 0")
    if it.dims == 3:
        it.add("MaxPool3D", 0)
        return
    x: Input = it.add("Unsqueeze", 0, name="UnsqueezeX") if it.dims == 1 else 0
    if _is_large(it):
        x = it.add("TransposeD", x, name="permuteIn")
        x = it.add("MaxPool", _padded(it, x, Constant("float32", -65504.0)))
        x = it.add("TransposeD", x, name="permuteOut")
    else:
        x = it.add("MaxPoolV3", x)
    if it.dims == 1:
        it.add("Squeeze", x, name="SqueezeTranspose" if _is_large(it) else "SqueezeMaxpoolv3")


def _lp_pool(it: OnnxOperator) -> None:
    _require_kernel(it)
    x = it.add("Power", it.add("Abs", 0, name="Abs"), name="Power_0")
    if it.dims == 3:
        x = it.add("AvgPool3D", x)
    else:
        if it.dims == 1:
            x = it.add("Unsqueeze", x, name="UnsqueezeX")
        if _is_large(it):
            x = it.add("Transpose", x, Constant("int32", [0, 2, 3, 1]), name="permuteIn")
            x = it.add("AvgPool", _padded(it, x, Constant("int32", 0)))
            x = it.add("Transpose", x, Constant("int32", [0, 3, 1, 2]), name="permuteOut")
        else:
            x = it.add("AvgPoolV2", x)
        if it.dims == 1:
            x = it.add("Squeeze", x, name="Squeeze")
    it.add("Power", it.add("Muls", x, name="Muls"), name="Power_1")


def _global_max_pool(it: OnnxOperator) -> None:
    it.add("ReduceMax", 0, Constant("int32", [-1, 2]))


def _max_unpool(it: OnnxOperator) -> None:
    it.require("kernel_shape")
    kernel, pads = it.ints("kernel_shape"), it.ints("pads")
    if len(pads) not in (0, 2 * len(kernel)):
        it.refuse("pads must have two values for each of kernel_shape")
    pads = pads or [0] * 2 * len(kernel)
    x = it.add("Identity", 0, name="identity1")
    if it.inputs == 2:
        rest = [0, 0, *(pads[at] + pads[at + len(kernel)] - size for at, size in enumerate(kernel))]
        strides = [1, 1, *(it.ints("strides") or [1] * len(kernel))]
        shape = it.add("Shape", x, name="shape1", dtype="int32")
        shape = it.add("Sub", shape, Constant("int32", [0, 0] + [1] * len(kernel)), name="sub1")
        shape = it.add("Mul", shape, Constant("int32", strides), name="mul1")
        shape = it.add("Sub", shape, Constant("int32", rest), name="sub2")
        shape = it.add("Identity", shape, name="identity2")
    else:
        shape = it.add("Identity", 2, name="identity2")
    flat = it.add("Reshape", x, Constant("int32", [-1]), name="reshape1")
    indices = it.add("Reshape", 1, Constant("int32", [-1]), name="reshape2")
    begin, end, stride = (Constant("int32", [number]) for number in (0, 1, 1))
    zero = it.add(
        "ZerosLike", it.add("StridedSlice", flat, begin, end, stride, name="StridedSlice1"), name="zeroslike1"
    )
    zeros = it.add("BroadcastTo", zero, shape, name="BroadcastTo1")
    zeros = it.add("Reshape", zeros, Constant("int32", [-1]), name="reshape3")
    it.add("Reshape", it.add("ScatterElements", zeros, indices, flat), shape, name="reshape4")


def _int8_dequantize(it: OnnxOperator) -> None:
    it.add("MaxPool", it.add("AscendAntiQuant", 0, name="antiquant", dtype="float16"))


PLUGINS = {
    "AveragePool": _average_pool,
    "GlobalMaxPool": _global_max_pool,
    "Int8Dequantize": _int8_dequantize,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
