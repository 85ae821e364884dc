"""random_normal, random_uniform, random_*_like, bernoulli and multinomial_onnx_plugin.cpp. The last one overwrites
the attributes that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..onnx_operator import OUTPUT, Constant

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator

_FLOAT32, _UINT8, _INT32, _FLOAT16, _FLOAT64 = 1, 2, 6, 10, 11
"""Dtypes by ONNX' numbers."""


def _require_float(it: OnnxOperator) -> None:
    if it.number("dtype", _FLOAT32) not in (_FLOAT32, _FLOAT16, _FLOAT64):
        it.refuse("dtype must be float32, float16 or float64")


def _normal(it: OnnxOperator) -> None:
    it.require("shape")
    _require_float(it)
    y = it.add("RandomStandardNormal", Constant("int32", it.ints("shape")))
    it.add("Adds", it.add("Muls", y, name="mul"), name="add")


def _uniform(it: OnnxOperator) -> None:
    shape, dtype = Constant("int32", it.ints("shape")), it.value("dtype", _FLOAT32)
    if dtype in (_INT32, _UINT8):
        of_bounds = "int32" if dtype == _INT32 else "uint8"
        low, high = Constant(of_bounds, it.number("low", 0)), Constant(of_bounds, it.number("high", 1))
        it.add("RandomUniformInt", shape, low, high)
        return
    if it.number("dtype", _FLOAT32) not in (_FLOAT32, _FLOAT16):
        it.refuse("dtype must be float32, float16, int32 or uint8")
    y = it.add("RandomUniform", shape)
    it.add("Adds", it.add("Muls", y, name="Muls"), name="Adds")


def _normal_like(it: OnnxOperator) -> None:
    _like(it, "RandomStandardNormal", it.number("scale", 1.0), it.number("mean", 0.0))


def _uniform_like(it: OnnxOperator) -> None:
    _like(it, "RandomUniform", it.number("high", 1.0) - it.number("low", 0.0), it.number("low", 0.0))


def _like(it: OnnxOperator, op_type: str, scale: float, mean: float) -> None:
    _require_float(it)
    y = it.add(op_type, it.add("Shape", 0, name="shape", dtype="int32"))
    scaled = it.add("Cast", Constant("float32", scale), name="cast_scale", dtype=OUTPUT)
    added = it.add("Cast", Constant("float32", mean), name="cast_mean", dtype=OUTPUT)
    it.add("Add", it.add("Mul", y, scaled, name="mul"), added, name="add")


def _bernoulli(it: OnnxOperator) -> None:
    it.add("StatelessBernoulliV2", 0, Constant("int64", it.number("seed", -1)), Constant("int64", 0))


def _multinomial(it: OnnxOperator) -> None:
    it.add("Multinomial", 0, Constant("int32", 1), dtype="int32")


PLUGINS = {
    "Bernoulli": _bernoulli,
    "Multinomial": _multinomial,
    "RandomNormal": _normal,
    "RandomNormalLike": _normal_like,
    "RandomUniform": _uniform,
    "RandomUniformLike": _uniform_like,
}
