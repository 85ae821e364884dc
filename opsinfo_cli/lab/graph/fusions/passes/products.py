"""Passes on matrix products: a Transpose before one becomes its flag, and an addition behind one its bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rule import COPY, UNNUMBERED, Change, FusionRule, input_of, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...graph import GraphNode, GraphTensor
    from ..rule import FusionGraph

_PRODUCTS = ("MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2")
_TRANSPOSED = frozenset({"float16", "float32", "bfloat16"})


def _transposed(it: FusionGraph) -> Iterator[Change]:
    """A product takes over a Transpose of the last two axes that it alone reads."""
    for node in it.of(*_PRODUCTS):
        sources, tensors, values = list(node.sources), list(node.inputs), [""] * len(node.sources)
        if len(sources) < 2 or tensors[1].first_dtype not in _TRANSPOSED:
            continue
        values[: len(node.origin.inputs) if node.origin else 0] = node.origin.inputs if node.origin else ()
        parts: list[GraphNode] = []
        for number in (0, 1):
            before = it.source(node, number)
            if before is not None and _swaps_last(it, before):
                parts.append(before)
                sources[number], tensors[number], values[number] = input_of(before, 0)
        if not parts:
            continue
        change = join(node.type, list(zip(sources, tensors, values, strict=True)), [*parts, node], node)
        yield change._replace(feed=None)


def _swaps_last(it: FusionGraph, node: GraphNode) -> bool:
    """Return whether a Transpose that is read once swaps the last two axes and no others."""
    if node.type not in ("Transpose", "TransposeD") or not it.is_read(node):
        return False
    axes, rank = it.integers(node, 1), len(node.inputs[0].shape or ())
    return rank >= 2 and axes == [*range(rank - 2), rank - 1, rank - 2]


def _bias_add(it: FusionGraph) -> Iterator[Change]:
    """A matrix product that one Add or BiasAdd reads takes a bias of one dimension as its third input."""
    for add in it.of("Add", "BiasAdd"):
        if len(add.sources) != 2:
            continue
        producers = [it.source(add, 0), it.source(add, 1)]
        at = 0 if add.type == "BiasAdd" or (producers[0] and producers[0].type in _PRODUCTS) else 1
        product, bias = producers[at], producers[1 - at]
        if product is None or bias is None or product.type not in _PRODUCTS or not it.is_read(product):
            continue
        if sum(source is not None for source in product.sources) != 2 or len(bias.outputs) != 1:
            continue
        if add.type == "Add" and not _is_bias(it, product, add.inputs[at], add.inputs[1 - at]):
            continue
        op_type = "BatchMatMulV2" if product.type == "BatchMatMul" else product.type
        inputs = [input_of(product, 0), input_of(product, 1), input_of(add, 1 - at)]
        yield join(op_type, inputs, [product, add], product)


def _is_bias(it: FusionGraph, product: GraphNode, result: GraphTensor, bias: GraphTensor) -> bool:
    if bias.shape is None or len(bias.shape) != 1:
        return False
    if result.shape is None:  # a TensorFlow model does not state it; its MatMul has two dimensions
        return it.is_static(result) and not product.type.startswith("Batch")
    if not result.shape:
        return False
    if not product.type.startswith("Batch") and len(result.shape) != 2:
        return False
    return bias.shape[0] <= 0 or result.shape[-1] <= 0 or bias.shape[0] == result.shape[-1]


RULES = (
    FusionRule(
        "BatchMatMulFusionPass",
        UNNUMBERED,
        _transposed,
        f"{COPY}/batch_matmul_fusion_pass.cpp (2021); documentation of CANN 8.1, BatchMatMulFusionPass; records of "
        "compilers' runs",
    ),
    FusionRule(
        "MatMulBiasAddFusionPass",
        5120,
        _bias_add,
        "hicann/ops-nn, matmul/mat_mul_v3/op_graph/fusion_pass/matmul_biasadd_fusion_pass.cpp",
    ),
)
