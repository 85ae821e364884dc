"""Passes that join a Reshape and a TransposeD."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..pattern import Pattern
from ..rule import A2, COPY, NEWEST, UNNUMBERED, Change, FusionRule, input_of, join, output_of, with_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...graph import GraphTensor
    from ..rule import FusionGraph

_RESHAPE_FIRST = Pattern("""
    reshape = Reshape()
    transpose = TransposeD(reshape)
""")
_TRANSPOSE_FIRST = Pattern("""
    transpose = TransposeD()
    reshape = Reshape(transpose)
""")
_UNIT = 16


def _reshape_transpose(it: FusionGraph) -> Iterator[Change]:
    """A Reshape to a constant shape that only equal TransposeD read, with sizes of a multiple of 16."""
    seen: set[int] = set()
    for nodes in _RESHAPE_FIRST.matches(it):
        reshape = nodes["reshape"]
        if reshape.index in seen:
            continue
        seen.add(reshape.index)
        readers = it.readers(reshape)
        if any(reader.type != "TransposeD" for reader in readers) or not it.is_const(reshape, 1):
            continue
        alike = {(tuple(it.integers(reader, 1) or ()), reader.outputs[0].shape) for reader in readers}
        if len(alike) != 1 or not all(map(_is_aligned, (reshape.inputs[0], readers[0].outputs[0]))):
            continue
        node = with_inputs(reshape, "ConfusionTransposeD", [input_of(reshape, 0)])
        names = [name for part in (reshape, *readers) for name in part.part_names]
        origin = node.origin
        if origin is not None:
            values = [value for reader in readers if reader.origin is not None for value in reader.origin.outputs]
            inner = (*origin.inner, *origin.outputs, *values[1:])
            origin = origin._replace(outputs=tuple(values[:1]), inner=inner)
        node = replace(node, outputs=readers[0].outputs, fused_names=tuple(dict.fromkeys(names)), origin=origin)
        parts = tuple(dict.fromkeys((reshape, *readers)))
        yield Change(parts, node, output_of(reshape), continues=False, checked=True)


def _transpose_reshape(it: FusionGraph) -> Iterator[Change]:
    """A TransposeD that one Reshape to a constant shape reads, with sizes of a multiple of 16."""
    for nodes in _TRANSPOSE_FIRST.matches(it):
        transpose, reshape = nodes["transpose"], nodes["reshape"]
        fits = all(map(_is_aligned, (transpose.inputs[0], reshape.outputs[0])))
        if fits and it.is_read(transpose) and it.is_const(reshape, 1):
            change = join("ConfusionTransposeD", [input_of(transpose, 0)], [transpose, reshape], reshape)
            yield change._replace(checked=True)


def _is_aligned(tensor: GraphTensor) -> bool:
    """Return whether the last two dimensions, or the only one, are multiples of 16."""
    return bool(tensor.shape) and all(dim > 0 and dim % _UNIT == 0 for dim in (tensor.shape or ())[-2:])


_OTHERS = frozenset({"ascend910", "ascend310", "ascend310p", "ascend310b"})
RULES = (
    FusionRule(
        "ReshapeTransposeFusionPass",
        UNNUMBERED,
        _reshape_transpose,
        f"{COPY}/reshape_transpose_fusion_pass.cpp (2019-2021); documentation of CANN 8.1, ReshapeTransposeFusionPass",
        chips=frozenset({A2}),
        never=_OTHERS | NEWEST,
    ),
    FusionRule(
        "TransposeReshapeFusionPass",
        UNNUMBERED,
        _transpose_reshape,
        f"{COPY}/transpose_reshape_fusion_pass.cpp (2019); documentation of CANN 9, TransposeReshapeFusionPass",
        chips=frozenset({A2}),
        never=_OTHERS | NEWEST,
        confidence="medium",
    ),
)
