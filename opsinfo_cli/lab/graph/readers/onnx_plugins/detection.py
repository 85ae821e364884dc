"""Plugins of hicann/ops-cv. That of Col2Im takes two pads, where ONNX has a begin and an end for each dimension."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..onnx_operator import Constant, From

if TYPE_CHECKING:
    from ..onnx_operator import OnnxOperator


def _non_max_suppression(it: OnnxOperator) -> None:
    if not 2 <= it.inputs <= 5:
        it.refuse("two to five inputs")
    it.add("Cast", it.add("NonMaxSuppressionV6", From(0), dtype="int32"), name="Cast", dtype="int64")


def _roi_align(it: OnnxOperator) -> None:
    batch = it.add("Cast", it.add("Unsqueeze", 2, name="unsqueeze"), name="cast", dtype="float32")
    rois = it.add("Cast", 1, name="cast1", dtype="float32")
    it.add("ROIAlign", 0, it.add("Concat", Constant("int32", 1), batch, rois, name="concat", dtype="float32"))


def _roi_align_rotated(it: OnnxOperator) -> None:
    it.require("output_height", "output_width", "spatial_scale")
    x = it.add("Transpose", 0, Constant("int32", [0, 2, 3, 1]), name="Transpose_0")
    rois = it.add("Transpose", 1, Constant("int32", [1, 0]), name="Transpose_1")
    it.add("Transpose", it.add("RoiAlignRotated", x, rois), Constant("int32", [0, 3, 1, 2]), name="Transpose_2")


def _nms_rotated(it: OnnxOperator) -> None:
    it.require("iou_threshold")
    if it.inputs not in (2, 3):
        it.refuse("two or three inputs")
    boxes = it.add("Mul", Constant("float32", [1.0, 1.0, 1.0, 1.0, 57.29578]), 0, name="mul")
    if it.inputs == 3:
        it.add("RotatedNMS", boxes, 1, 2)
    else:
        scores = it.add("Identity", 1, name="identity")
        shape = it.add("Shape", scores, name="shape", dtype="int32")
        it.add("RotatedNMS", boxes, scores, it.add("Empty", shape, name="empty", dtype="int64"))


def _giou(it: OnnxOperator) -> None:
    it.add("Transpose", it.add("GIoU", 0, 1), Constant("int32", [1, 0]), name="Transpose")


def _grid_assign_positive(it: OnnxOperator) -> None:
    it.add("GridAssignPositive", From(0), Constant("int32", [it.number("num_gts", 128)]))


def _nms_v4(it: OnnxOperator) -> None:
    it.add("NonMaxSuppressionV4", 0, 1, Constant("int32", it.number("max_output_size", 0)), 2, 3)


def _rotated(op_type: str, it: OnnxOperator) -> None:
    order = Constant("int32", [0, 2, 1])
    it.add(op_type, *[it.add("Transpose", number, order, name=f"Transpose_{number}") for number in (0, 1)])


def _col2im(it: OnnxOperator) -> None:
    it.require("dilations", "pads", "strides")
    if any(len(it.ints(name)) != 2 for name in ("dilations", "pads", "strides")):
        it.refuse("dilations, pads and strides must have two values each")
    it.add("Col2ImV2", 0, it.add("Cast", 1, name="cast", dtype="int32"), 2)


PLUGINS = {
    "Col2Im": _col2im,
    "NMSRotated": _nms_rotated,
    "NPUGiou": _giou,
    "NPUGridAssignPositive": _grid_assign_positive,
    "NPUNmsV4": _nms_v4,
    "NPURotatedIou": partial(_rotated, "RotatedIou"),
    "NPURotatedOverlaps": partial(_rotated, "RotatedOverlaps"),
    "NonMaxSuppression": _non_max_suppression,
    "RoiAlign": _roi_align,
    "RoiAlignRotated": _roi_align_rotated,
}
