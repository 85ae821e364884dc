"""Operators that become one node, and what their plugins, or the inputs that the op type has, refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator, OnnxPlugin


def _requiring(*attributes: str) -> OnnxPlugin:
    return lambda it: it.require(*attributes)


def _selu(it: OnnxOperator) -> None:
    if abs(it.number("alpha", 1.67326) - 1.67326) > 1e-5 or abs(it.number("gamma", 1.0507) - 1.0507) > 1e-5:
        it.refuse("only the default alpha and gamma are supported")


def _is_inf(it: OnnxOperator) -> None:
    if it.value("detect_negative", 1) != 1 or it.value("detect_positive", 1) != 1:
        it.refuse("detect_negative and detect_positive must be 1")


def _gather_nd(it: OnnxOperator) -> None:
    if it.value("batch_dims", 0) != 0:
        it.refuse("batch_dims must be 0")


def _dropout(it: OnnxOperator) -> None:
    if it.has(1) or it.has(2):
        it.refuse("the inputs ratio and training_mode are not supported")


def _mean_variance_normalization(it: OnnxOperator) -> None:
    if it.outputs >= 2:
        it.refuse("one output at most")


def _depth_to_space(it: OnnxOperator) -> None:
    it.require("blocksize")
    if it.value("blocksize") == 1:
        it.refuse("blocksize must be 2 or more")


def _unsqueeze(it: OnnxOperator) -> None:
    """The axes are an attribute up to opset 12, then an input."""
    if it.opset <= 12:
        it.require("axes")


PLUGINS = {
    "Cast": _requiring("to"),
    "Col2im": _requiring("kernel_size", "dilation", "padding", "stride"),
    "DepthToSpace": _depth_to_space,
    "Dropout": _dropout,
    "Einsum": _requiring("equation"),
    "GatherND": _gather_nd,
    "IsInf": _is_inf,
    "LRN": _requiring("size"),
    "MaxRoiPool": _requiring("pooled_shape"),
    "MeanVarianceNormalization": _mean_variance_normalization,
    "NPUAnchorResponseFlags": _requiring("featmap_sizes", "strides", "num_base_anchors"),
    "NPUBoundingBoxDecode": _requiring("max_shapes"),
    "NPUPsRoiPooling": _requiring("spatial_scale", "output_dim", "group_size"),
    "NPURoiAlign": _requiring("spatial_scale", "pooled_height", "pooled_width"),
    "NPUScatter": _requiring("dim"),
    "NPUSignBitsPack": _requiring("size"),
    "NPUSignBitsUnpack": _requiring("size", "dtype"),
    "PSROIPooling": _requiring("spatial_scale", "output_dim", "group_size"),
    "Selu": _selu,
    "SpaceToDepth": _requiring("blocksize"),
    "Unsqueeze": _unsqueeze,
}
