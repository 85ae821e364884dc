"""npu_lstm, npu_lstm_cell, npu_gru and npu_dropout_with_add_softmax_onnx_plugin.cpp"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..onnx_operator import Constant

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _lstm(it: OnnxOperator) -> None:
    it.add("DynamicRNN", 0, 1, 2, 3 if it.value("flagSeq") == 1 else None, 4, 5)


def _lstm_cell(it: OnnxOperator) -> None:
    x, h, c = (
        it.add("ExpandDims", number, Constant("int32", [0]), name=name)
        for number, name in ((0, "x"), (3, "h"), (4, "c"))
    )
    bias = None if it.value("hasBias") == 0 else it.add("Add", 5, 6, name="bias")
    it.add("DynamicRNNV2", x, 1, 2, bias, None, h, c)


def _gru(it: OnnxOperator) -> None:
    it.add("DynamicGRUV2", 0, 2, 3, 4, 5, None, 1)


def _dropout_with_add_softmax(it: OnnxOperator) -> None:
    it.require("alpha")
    x2 = it.add("Identity", 0, name="x2")
    x1 = it.add("Identity", 1, name="x1")
    mask = it.add("Cast", it.add("OnesLike", x2, name="ones"), name="mask", dtype="uint8")
    low2 = it.add("Cast", x2, name="cast2", dtype="float16")
    low1 = it.add("Cast", x1, name="cast1", dtype="float16")
    y = it.add("AxpyWithSoftmaxAndDropOutDoMask", low1, low2, mask)
    it.results = (mask, y, f"{y}:1")


PLUGINS = {
    "NPUDropoutWithAddSoftmax": _dropout_with_add_softmax,
    "NPUGru": _gru,
    "NPULstm": _lstm,
    "NPULstmCell": _lstm_cell,
}
