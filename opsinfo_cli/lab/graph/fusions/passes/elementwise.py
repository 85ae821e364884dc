"""Passes on single operators with a constant: a square, and a division that becomes a multiplication."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..rule import A3, COPY, NEWEST, UNNUMBERED, Change, FusionRule, input_of, with_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...graph import GraphNode
    from ..rule import FusionGraph

_CLOSE = 1e-6


def _square(it: FusionGraph) -> Iterator[Change]:
    """Pow with one constant float32 of 2 becomes Square, whatever the shape of its base."""
    for node in it.of("Pow"):
        exponent = _single(it, node)
        if exponent is not None and abs(exponent - 2) <= _CLOSE:
            yield Change((node,), with_inputs(node, "Square", [input_of(node, 0)]))


def _muls(it: FusionGraph) -> Iterator[Change]:
    """RealDiv of a tensor of known shape by one constant float32 other than 0 becomes Muls."""
    for node in it.of("RealDiv"):
        divisor = _single(it, node)
        if divisor is not None and abs(divisor) > _CLOSE and it.is_static(node.inputs[0]) and node.sources[0]:
            yield Change((node,), with_inputs(node, "Muls", [input_of(node, 0)]))


def _single(it: FusionGraph, node: GraphNode) -> float | None:
    """Return the second input, if it is one constant float32 of 4 bytes."""
    if len(node.sources) != 2 or node.inputs[1].first_dtype != "float32" or not it.is_const(node, 1):
        return None
    shape = node.inputs[1].shape
    return it.scalar(node, 1) if shape is not None and prod(shape) == 1 else None


RULES = (
    FusionRule(
        "Pow2SquareFusionPass",
        UNNUMBERED,
        _square,
        f"{COPY}/pow_2_square_fusion_pass.cpp (2019-2021); records of compilers' runs",
    ),
    FusionRule(
        "RealDiv2MulsFusionPass",
        UNNUMBERED,
        _muls,
        f"{COPY}/realdiv_2_muls_fusion_pass.cpp (2019-2021); documentation of CANN 9, RealDiv2MulsFusionPass",
        chips=frozenset({"ascend910b", "ascend910", "ascend310p", "ascend310b"}),
        never=NEWEST | {A3},
    ),
)
