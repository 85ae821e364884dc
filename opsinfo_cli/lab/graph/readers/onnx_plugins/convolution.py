"""conv_onnx_plugin.cpp, conv_transpose_onnx_plugin.cpp, int8_conv*_onnx_plugin.cpp, int8_fc_onnx_plugin.cpp,
npu_deformable_conv2d_onnx_plugin.cpp, correlation_onnx_plugin.cpp"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..onnx_operator import Constant

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _conv(it: OnnxOperator) -> None:
    it.require_even_pads()
    if not any(it.has(name) for name in ("kernel_shape", "strides", "dilations", "pads")):
        it.refuse("needs kernel_shape, pads, strides or dilations")
    if it.dims == 3 and it.word("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        it.refuse("auto_pad is not supported in three dimensions")
    it.require_two_or_three_inputs()
    if it.dims == 1:
        x = it.add("Unsqueeze", 0, name="UnsqueezeX")
        w = it.add("Unsqueeze", 1, name="UnsqueezeW")
        it.add("Squeeze", it.add("Conv2D", x, w, 2), name="SqueezeY")
    else:
        it.add("Conv3D" if it.dims == 3 else "Conv2D", 0, 1, 2)


def _conv_transpose(it: OnnxOperator) -> None:
    it.require("kernel_shape")
    it.require_even_pads()
    dims, shape, padding = max(it.dims, 2), len(it.ints("output_shape")), len(it.ints("output_padding"))
    if 0 < shape < dims or 0 < (2 if padding == 1 else padding) < dims:
        it.refuse("output_shape and output_padding need a value for each dimension, two at least")
    it.require_two_or_three_inputs()
    if it.dims == 1:
        x = it.add("Unsqueeze", 0, name="UnsqueezeX")
        w = it.add("Unsqueeze", 1, name="UnsqueezeW")
        it.add("Squeeze", it.add("Conv2DTranspose", Constant("int64", [0] * 4), x, w, 2), name="SqueezeY")
    elif it.dims == 3:
        it.add("Conv3DTranspose", Constant("int64", [0] * 5), 0, 1, 2)
    else:
        it.add("Conv2DTranspose", Constant("int64", [0] * 4), 0, 1, 2)


def _int8_conv(it: OnnxOperator) -> None:
    it.add("AscendQuant", _dequantized(it, "Conv2D", "float16"), name="Quant", dtype="int8")


def _int8_conv_relu(it: OnnxOperator) -> None:
    relu = it.add("Relu", _dequantized(it, "Conv2D", "float32"), name="Relu")
    it.add("AscendQuant", relu, name="Quant", dtype="int8")


def _int8_fc(it: OnnxOperator) -> None:
    it.require_two_or_three_inputs()
    it.add("AscendQuant", _dequantized(it, "FullyConnection", "float16"), name="Quant", dtype="int8")


def _dequantized(it: OnnxOperator, op_type: str, scale: str) -> str:
    product = it.add(op_type, 0, 1, 2, dtype="int32")
    return it.add("AscendDequant", product, Constant(scale, it.number("Y_scale", 1.0)), name="Deq", dtype="float16")


def _deformable_conv(it: OnnxOperator) -> None:
    it.require("strides", "paddings")
    names = ("x", "filter", "offsets", "bias")
    it.add("DeformableConv2D", *[it.add("Identity", number, name=name) for number, name in enumerate(names)])


def _correlation(it: OnnxOperator) -> None:
    it.add("Correlation", 0, 1)


PLUGINS = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Corr": _correlation,
    "Int8Conv": _int8_conv,
    "Int8ConvRelu": _int8_conv_relu,
    "Int8FC": _int8_fc,
    "NPUDeformableConv2d": _deformable_conv,
}
