"""Passes that make attributes of constant inputs: the D forms of op types, slices, paddings and repetitions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from .....core.package_data import package_data
from ..rule import COPY, UNNUMBERED, Change, FusionRule, input_of, is_unknown, own_constant, with_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...graph import GraphNode
    from ..rule import FusionGraph

_TABLE = package_data("opsinfo_cli.lab.graph", "const-to-attr")
_PADDED = frozenset({"float16", "float32", "int32", "int8", "uint8"})


def _reduced_away(op_type: str, it: FusionGraph) -> Iterator[Change]:
    """A reduction is removed if all its axes have length 1."""
    for node in it.of(op_type):
        before, after = node.inputs[0].shape, node.outputs[0].shape
        if before is None or after is None or not it.is_const(node, 1):
            continue
        known = all(dim > 0 for dim in (*before, *after))
        if known and node.sources[0] is not None and prod(before) == prod(after):
            yield Change((node,), None, node.sources[0])


def _arg_max(it: FusionGraph) -> Iterator[Change]:
    """An int64 result of ArgMaxV2 becomes int32, and its readers get a Cast, if its axis is shorter than 2^31."""
    for node in it.of("ArgMaxV2"):
        shape, axes = node.inputs[0].shape or (), it.integers(node, 1)
        lengths = [shape[axes[0]]] if axes and -len(shape) <= axes[0] < len(shape) else shape
        is_short = bool(lengths) and all(0 <= length < 1 << 31 for length in lengths)
        if is_short and node.outputs[0].dtype == "int64":
            outputs = node.outputs[0]._replace(dtype="int32"), *node.outputs[1:]
            yield Change((node,), replace(node, outputs=outputs))


def _gather(it: FusionGraph) -> Iterator[Change]:
    """GatherV2 with a constant axis, only if it is not supported; a Cast of the indices to int32 goes."""
    for node in it.of("GatherV2"):
        if not it.is_const(node, 2) or it.supported(node):
            continue
        attributed = it.without_inputs(node, "GatherV2D", {2})
        change = Change((node,), attributed, checked=True)
        cast = it.source(attributed, 1)
        if (
            cast is not None
            and cast.type == "Cast"
            and (cast.inputs[0].dtype, cast.outputs[0].dtype) == ("int64", "int32")
        ):
            sources = (attributed.sources[0], cast.sources[0])
            tensors = (attributed.inputs[0], cast.inputs[0])
            parts = (node, cast) if it.is_read(cast) else (node,)
            change = Change(parts, replace(attributed, sources=sources, inputs=tensors), cast.sources[0], checked=True)
        yield change


def _const_to_attr(name: str, prefers_own: bool, it: FusionGraph) -> Iterator[Change]:
    """Constant inputs become attributes of the D form; which ones is in ``data/const-to-attr.json``.

    :param prefers_own: with unknown shapes, only if the type itself is not supported
    """
    table = _TABLE[name]
    for node in it.of(*table):
        row = table[node.type]
        checked = row.get("checked", True)
        if not all(it.is_const(node, number) for number in row["inputs"]):
            continue
        if prefers_own and checked and is_unknown(*node.inputs, *node.outputs) and it.supported(node):
            continue
        yield Change((node,), it.without_inputs(node, row["type"], row["inputs"]), checked=checked)


def _strided_slice(it: FusionGraph) -> Iterator[Change]:
    """StridedSliceV2 with constant begin, end and strides, by its shape and strides."""
    for node in it.of("StridedSliceV2"):
        given = [number for number in range(1, len(node.sources)) if node.sources[number] is not None]
        if not all(it.is_const(node, number) for number in given):
            continue
        shape = node.outputs[0].shape
        strides = it.integers(node, 4) or []
        if strides and all(stride == -1 for stride in strides) and _is_whole_reverse(it, node):
            op_type, gone = ("ReverseV2", {2, 3, 4}) if is_unknown(*node.outputs) else ("ReverseV2D", {1, 2, 3, 4})
        elif 0 in (shape or ()) or any(stride < 0 for stride in strides):
            op_type, gone = "StridedSlice", {3}
        elif is_unknown(*node.outputs):
            op_type, gone = "StridedSliceV3", set()
        else:
            op_type, gone = "StridedSliceD", {1, 2, 3, 4}
        yield Change((node,), it.without_inputs(node, op_type, gone))


def _is_whole_reverse(it: FusionGraph, node: GraphNode) -> bool:
    """Return whether a slice with strides of -1 goes from the last element of each axis before the first one."""
    begin, end, shape = it.integers(node, 1), it.integers(node, 2), node.inputs[0].shape
    axes = it.integers(node, 3)
    if not begin or not end or shape is None:
        return False
    axes = list(range(len(begin))) if axes is None else [axis + len(shape) * (axis < 0) for axis in axes]
    return all(
        first == -1 and 0 <= axis < len(shape) and last <= -shape[axis] - 1
        for first, last, axis in zip(begin, end, axes, strict=False)
    )


def _global_average_pool(it: FusionGraph) -> Iterator[Change]:
    """GlobalAveragePool of rank 3 to 5 becomes ReduceMean with constant int64 axes; in 2020, ReduceMeanD at once."""
    for node in it.of("GlobalAveragePool"):
        if 3 <= len(node.inputs[0].shape or ()) <= 5:
            yield Change((node,), with_inputs(node, "ReduceMean", [input_of(node, 0), own_constant("int64")]))


def _pad(it: FusionGraph) -> Iterator[Change]:
    """Pad with constant paddings, known shapes and a dtype of PadD becomes PadD."""
    for node in it.of("Pad"):
        is_known = not is_unknown(*node.inputs, *node.outputs)
        if it.is_const(node, 1) and is_known and node.inputs[0].first_dtype in _PADDED:
            yield Change((node,), it.without_inputs(node, "PadD", {1}))


def _tile(it: FusionGraph) -> Iterator[Change]:
    """Tile with constant multiples and known shapes becomes TileD; it is removed if it repeats nothing."""
    for node in it.of("Tile"):
        before, after = node.inputs[0].shape, node.outputs[0].shape
        if not it.is_const(node, 1) or None in (before, after) or is_unknown(*node.inputs, *node.outputs):
            continue
        if before == after:
            yield Change((node,), None, node.sources[0])
        else:
            yield Change((node,), it.without_inputs(node, "TileD", {1}), checked=True)


def _concat(it: FusionGraph) -> Iterator[Change]:
    """ConcatV2 with a constant axis, its last input, becomes ConcatV2D."""
    for node in it.of("ConcatV2"):
        last = len(node.sources) - 1
        if last > 0 and it.is_const(node, last):
            yield Change((node,), it.without_inputs(node, "ConcatV2D", {last}))


def _cast(it: FusionGraph) -> Iterator[Change]:
    """Cast to the dtype that its input has is removed."""
    for node in it.of("Cast"):
        if node.sources[0] is not None and node.inputs[0].dtype and node.inputs[0].dtype == node.outputs[0].dtype:
            yield Change((node,), None, node.sources[0])


def _table(name: str, priority: int, source: str, prefers_own: bool = False) -> FusionRule:
    own = ", with unknown shapes only if AI Core does not support the type itself" if prefers_own else ""
    types = ", ".join(f"`{before}`" for before in _TABLE[name])
    about = f"The D form of {types}: constant inputs become attributes, if AI Core supports it{own}."
    return FusionRule(name, priority, partial(_const_to_attr, name, prefers_own), source, about=about)


_2022 = f"{COPY} (2022)"
RULES = (
    FusionRule("AReduceMeanFusionPass", 4120, partial(_reduced_away, "ReduceMean"), _2022),
    FusionRule("AReduceSumFusionPass", 4150, partial(_reduced_away, "ReduceSum"), _2022),
    FusionRule("ArgMaxV2FusionPass", 4165, _arg_max, _2022),
    FusionRule("ConstToAttrStridedSliceV2Fusion", 4175, _strided_slice, _2022),
    FusionRule(
        "Globalavgpoolpass",
        4177,
        _global_average_pool,
        "hicann/ops-math, math/reduce_mean/op_graph/fusion_pass/globalavgpool_fusion_pass.cpp",
    ),
    _table("ConstToAttrPass", 4178, f"{COPY}/const2attr_fusion_pass.cpp (2022)", prefers_own=True),
    FusionRule("PadFusionPass", 4195, _pad, _2022),
    FusionRule("TileConstToAttrFusion", 4215, _tile, _2022),
    _table("ConstToAttrReduceSumFusion", 4220, f"{_2022}, in part"),
    FusionRule("CastRemoveFusionPass", UNNUMBERED, _cast, _2022),
    FusionRule("ConstToAttrGatherV2Fusion", UNNUMBERED, _gather, _2022),
    _table("OneHotFusionPass", UNNUMBERED, _2022),
    FusionRule("ZConcatExt2FusionPass", 5010, _concat, _2022),
    _table("ZConcatFusionPass", 5020, _2022),
    _table("ZSplitFusionPass", 5050, _2022, prefers_own=True),
    _table("ZSplitVFusionPass", 5070, f"{COPY}/splitv_fusion_pass.cpp (2020-2021)", prefers_own=True),
)
