"""gather, compress, scatter_nd, non_zero, topk, unique, onehot and one_hot_d_onnx_plugin.cpp. ScatterND is in
similar_opp_onnx_plugin.cpp too, as TensorScatterUpdate: the compiler's answers have ScatterNdUpdate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..onnx_operator import OUTPUT, Constant

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _gather(it: OnnxOperator) -> None:
    it.add("GatherV2", 0, 1, Constant("int32", it.number("axis", 0)))


def _compress(it: OnnxOperator) -> None:
    indices = it.add("Squeeze", it.add("Where", 1, name="condition", dtype="int64"), name="squeeze_where")
    if it.has("axis"):
        it.add("GatherV2", 0, indices, Constant("int32", it.number("axis", 0)))
    else:
        flat = it.add("Squeeze", it.add("Flatten", 0, name="flatten"), name="squeeze")
        it.add("GatherV2", flat, indices, Constant("int32", 0))


def _scatter_nd(it: OnnxOperator) -> None:
    by_reduction = {"none": "ScatterNdUpdate", "add": "ScatterNdAdd", "max": "ScatterNdMax", "min": "ScatterNdMin"}
    reduction = it.word("reduction", "none")
    if reduction not in by_reduction:
        it.refuse("reduction is not supported")
    it.add(by_reduction[reduction], it.add("TensorMove", 0, name="TensorMove"), 1, 2)


def _non_zero(it: OnnxOperator) -> None:
    it.add("NonZero", 0)


def _top_k(it: OnnxOperator) -> None:
    """k is an attribute up to opset 9, then an input."""
    if it.opset <= 9:
        it.require("k")
        it.add("TopK", 0, Constant("int32", it.number("k", 1)))


def _unique(it: OnnxOperator) -> None:
    y = it.add("UniqueWithCountsAndSorting", 0)
    empty = it.add("Empty", it.add("Shape", y, name="shape", dtype="int32"), name="empty", dtype="int64")
    it.results = (y, empty, f"{y}:1", f"{y}:2")


def _one_hot(it: OnnxOperator) -> None:
    off_on = it.add("Split", Constant("int32", 0), 2, name="Split", dtype=OUTPUT)
    indices = it.add("Identity", 0, name="identity_1")
    depth = it.add("Identity", 1, name="identity_2")
    indices = it.add("Mod", it.add("Add", indices, depth, name="Add"), depth, name="Mod")
    it.add("OneHot", indices, depth, f"{off_on}:1", off_on)


def _npu_one_hot(it: OnnxOperator) -> None:
    it.require("depth")
    x = it.add("Cast", 0, name="Cast_data0", dtype="int32")
    on = it.add("Cast", Constant("int32", it.number("on_value", 1)), name="on", dtype="float32")
    off = it.add("Cast", Constant("int32", it.number("off_value", 0)), name="off", dtype="float32")
    it.add("OneHotD", x, on, off)


PLUGINS = {
    "Compress": _compress,
    "Gather": _gather,
    "NPUOneHot": _npu_one_hot,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
    "ScatterND": _scatter_nd,
    "TopK": _top_k,
    "Unique": _unique,
}
