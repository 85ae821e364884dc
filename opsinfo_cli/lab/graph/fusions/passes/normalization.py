"""Passes on normalizations: BatchNorm of inference, and LayerNorm in parts.

A BatchNorm behind a convolution goes into it: ``convolutions.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..pattern import Pattern
from ..rule import (
    COPY,
    HALF_AND_SINGLE,
    NEWEST,
    Change,
    FusionRule,
    in_order,
    input_of,
    join,
    own_constant,
    with_host_inputs,
    with_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...graph import GraphNode
    from ..rule import FusionGraph, Input

_LAYER_NORM = """
    mean = ReduceMeanD(x)
    sub = Sub(x, mean)
    {cast}
    power = Pow({powered})
    variance = ReduceMeanD(power)
    shifted = Add(variance)
    root = Sqrt(shifted)
    quotient = RealDiv(sub, root)
    {affine}
"""
_AFFINE = """
    scaled = Mul(quotient)
    result = Add(scaled)
"""
_CAST = {"cast": "cast = Cast(sub)", "powered": "cast"}
_LAYER_NORMS = [
    Pattern(_LAYER_NORM.format(affine=affine, **cast))
    for cast in ({"cast": "", "powered": "sub"}, _CAST)
    for affine in (_AFFINE, "")
]
_MOST_EPSILON = 0.1


def _batch_norm(it: FusionGraph) -> Iterator[Change]:
    """BatchNorm of inference; with constant parameters BNInference with a constant momentum, else BNInfer."""
    for node in it.of("BatchNorm"):
        is_fed = len(node.sources) >= 5 and all(node.sources[number] for number in range(5))
        in_training = node.attributes.get("is_training") or any(
            0 in (tensor.shape or ()) for tensor in node.inputs[3:5]
        )
        if not is_fed or in_training or any(it.readers(node, number) for number in range(1, len(node.outputs))):
            continue
        x, scale, offset, mean, variance = (input_of(node, number) for number in range(5))
        result = with_inputs(node, "BNInfer", [x, scale, offset, mean, variance])
        if all(it.is_const(node, number) for number in range(1, 5)):
            result = with_inputs(node, "BNInference", [x, mean, variance, own_constant("float32"), scale, offset])
        yield Change((node,), replace(result, outputs=node.outputs[:1]))


def _host_norm(it: FusionGraph) -> Iterator[Change]:
    """BNInference becomes BNInferenceD: the host computes its alpha and beta from the parameters (BnHost)."""
    for node in it.of("BNInference"):
        given = sum(input_of(node, number)[1].dtype is not None for number in range(len(node.sources)))
        if given in (4, 6):
            dtype = node.inputs[1].dtype or "float32"
            result = with_inputs(node, "BNInferenceD", [input_of(node, 0), own_constant(dtype), own_constant(dtype)])
            yield with_host_inputs(Change((node,), result), (1, 2), node.outputs)


def _layer_norm(it: FusionGraph) -> Iterator[Change]:
    """LayerNorm as exporters below opset 17 write it; without a scale and an offset it gets ones and zeros.

    A scale without an offset, an offset without a scale, and one of another shape are left as they are.
    """
    for pattern in _LAYER_NORMS:
        for nodes in pattern.matches(it):
            affine = _affine_of(it, nodes)
            if affine is not None and _is_layer_norm(it, nodes):
                yield join("LayerNorm", [input_of(nodes["mean"], 0), *affine], in_order(nodes))


def _affine_of(it: FusionGraph, nodes: dict[str, GraphNode]) -> list[Input] | None:
    """Return scale and offset; None if there is no LayerNorm with them."""
    quotient = nodes["quotient"]
    if "result" not in nodes:
        halves = [node for node in it.readers(quotient) if node.type in ("Mul", "Add")]
        is_half = any(it.is_const(node, number) for node in halves for number in (0, 1))
        dtype = quotient.outputs[0].first_dtype
        return None if is_half or dtype not in HALF_AND_SINGLE else [own_constant(dtype), own_constant(dtype)]
    inputs = [input_of(nodes[name], 1) for name in ("scaled", "result")]
    axes = _axes(it, nodes["mean"])
    wanted = None if axes is None else tuple((nodes["mean"].inputs[0].shape or ())[axis] for axis in axes)
    fits = all(it.is_const(nodes[name], 1) for name in ("scaled", "result"))
    return inputs if fits and all(tensor.shape == wanted for _, tensor, _ in inputs) else None


def _axes(it: FusionGraph, mean: GraphNode) -> list[int] | None:
    """Return the axes, counted from the first; None if they are not known, or the pass cannot take them."""
    rank, axes = len(mean.inputs[0].shape or ()), it.integers(mean, 1)
    if not axes or not all(-rank <= axis < rank for axis in axes) or 0 in axes:
        return None  # the copy of 2019 counts 0 from the end
    return [axis % rank for axis in axes]


def _is_layer_norm(it: FusionGraph, nodes: dict[str, GraphNode]) -> bool:
    mean, sub, quotient = nodes["mean"], nodes["sub"], nodes["quotient"]
    powered = nodes.get("cast", nodes["power"])
    last = nodes.get("result", quotient)
    read_once = [node for name, node in nodes.items() if name not in ("x", "sub") and node is not last]
    same_nodes = (
        it.source(mean, 0) is it.source(sub, 0)
        and it.source(powered, 0) is sub
        and it.source(quotient, 0) is sub
        and _axes(it, mean) is not None
    )
    keeps_dims = len(mean.inputs[0].shape or ()) == len(mean.outputs[0].shape or ())
    exponent, epsilon = it.one_constant(nodes["power"]), it.one_constant(nodes["shifted"])
    return (
        same_nodes
        and keeps_dims
        and it.is_read(sub, 2)
        and all(it.is_read(node) for node in read_once)
        and exponent == 2
        and epsilon is not None
        and epsilon <= _MOST_EPSILON
    )


RULES = (
    FusionRule(
        "LayerNormONNXFusionPass",
        4336,
        _layer_norm,
        f"{COPY}/layer_norm_onnx_fusion_pass.cpp (2019); a record of a compiler's run on ascend310p",
        never=NEWEST,
        confidence="medium",
        seen=frozenset({"ascend310p"}),
    ),
    FusionRule("BatchNormBnInferFusionPass", 5140, _batch_norm, f"{COPY} (2022)"),
    FusionRule(
        "HostBNFusionPass", 5150, _host_norm, f"{COPY}/hostbn_fusion_pass.cpp (2019); records of compilers' runs"
    ),
)
