"""reduce_*_onnx_plugin.cpp, argmax and argmin_onnx_plugin.cpp, lp_normalization_onnx_plugin.cpp"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..onnx_operator import Constant

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _reduce(it: OnnxOperator, op_type: str) -> str:
    """The axes are an attribute up to opset 12, then an input."""
    if it.opset >= 13 and it.inputs not in (1, 2):
        it.refuse("one or two inputs")
    axes_input = it.opset >= 13 and it.inputs == 2
    return it.add(op_type, 0, 1 if axes_input else Constant("int32", it.ints("axes")))


def _simple(op_type: str, it: OnnxOperator) -> None:
    _reduce(it, op_type)


def _log_sum(it: OnnxOperator) -> None:
    it.add("Log", _reduce(it, "ReduceSum"), name="Log")


def _sum_square(it: OnnxOperator) -> None:
    if it.has(1):
        it.refuse("the input axes is not supported")
    it.add("SquareSumV1", 0)


def _arg(op_type: str, dtype: str, it: OnnxOperator) -> None:
    if it.value("select_last_index") == 1:
        it.refuse("select_last_index must be 0")
    axis = Constant("int32", it.number("axis", 0))
    index = it.add(op_type, 0, axis, dtype=dtype)
    if it.value("keepdims", 1) == 1:
        it.add("ExpandDims", index, axis, name="ExpandDims", dtype=dtype)


def _lp_normalization(it: OnnxOperator) -> None:
    x = it.add("Identity", 0, name="Identity")
    it.add("Div", x, it.add("LpNormV2", x), name="Div")


_REDUCTIONS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceLogSumExp")
PLUGINS = {
    **{name: partial(_simple, name) for name in _REDUCTIONS},
    "ArgMax": partial(_arg, "ArgMaxV2", ""),
    "ArgMin": partial(_arg, "ArgMin", "int32"),
    "LpNormalization": _lp_normalization,
    "ReduceLogSum": _log_sum,
    "ReduceSumSquare": _sum_square,
}
