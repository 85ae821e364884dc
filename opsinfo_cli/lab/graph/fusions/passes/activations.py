"""Passes that find an activation in its parts: Gelu, with tanh or erf, and LeakyRelu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..pattern import Pattern
from ..rule import A2, A3, COPY, HALF_AND_SINGLE, NEWEST, UNNUMBERED, FusionRule, in_order, input_of, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..rule import Change, FusionGraph

_TANH = """
    power = Pow(x)
    cubed = Mul(power)
    sum = Add(x, cubed)
    scaled = Mul(sum)
    tanh = Tanh(scaled)
    shifted = Add(tanh)
    half = Mul({half})
    result = Mul({result})
"""
_GELUS = [
    Pattern(_TANH.format(half="shifted", result="x, half")),
    Pattern(_TANH.format(half="x", result="half, shifted")),
]
_ERF_GELUS = [
    Pattern("""
    quotient = RealDiv()
    erf = Erf(quotient)
    shifted = Add(erf)
    inner = Mul()
    result = Mul(inner, shifted)
"""),
    Pattern("""
    quotient = RealDiv(x)
    erf = Erf(quotient)
    shifted = Add(erf)
    inner = Mul(x, shifted)
    result = Mul(inner)
"""),
]
_LEAKY = Pattern("""
    product = Mul(x)
    result = Maximum(product, x)
""")


def _gelu(it: FusionGraph) -> Iterator[Change]:
    """Gelu with tanh. Neither the constants are compared nor whether Add and Mul read the x that Pow reads: the
    published copy does not either. Every node is read once, the last one too.
    """
    for pattern in _GELUS:
        for nodes in pattern.matches(it):
            parts = in_order(nodes)
            two = all(sum(map(bool, node.sources)) == 2 for node in parts if node.type != "Tanh")
            once = all(it.is_read(node) for node in parts)
            if two and once and it.is_static(*(tensor for node in parts for tensor in node.outputs)):
                yield join("Gelu", [input_of(nodes["power"], 0)], parts)


def _erf_gelu(it: FusionGraph) -> Iterator[Change]:
    """Gelu with erf: ``x * (erf(x / 1.41421) + 1) * 0.5``, in this order or with the half first. Whether the Mul reads
    the x that is divided is not compared: the published copy does not either.
    """
    for pattern in _ERF_GELUS:
        for nodes in pattern.matches(it):
            inner = [nodes[name] for name in ("quotient", "erf", "shifted", "inner")]
            two = all(sum(map(bool, node.sources)) == 2 for node in inner if node.type != "Erf")
            divisor = it.one_constant(nodes["quotient"])
            half = it.one_constant(nodes["inner"])
            half = it.one_constant(nodes["result"]) if half is None else half
            fits = divisor is not None and abs(divisor - 1.41421) <= 1e-5
            if not two or not fits or it.one_constant(nodes["shifted"]) != 1 or half != 0.5:
                continue
            if all(it.is_read(node) for node in inner):
                yield join("Gelu", [input_of(nodes["quotient"], 0)], in_order(nodes))


def _leaky_relu(it: FusionGraph) -> Iterator[Change]:
    """``max(x * a, x)`` with a constant of rank 0 below 1 becomes LeakyRelu. Both x come from one node; that they are
    one output of it is not compared: the published copy does not either.
    """
    for nodes in _LEAKY.matches(it):
        product, result = nodes["product"], nodes["result"]
        constants = [number for number in range(len(product.sources)) if it.is_const(product, number)]
        if len(constants) != 1 or len(product.sources) != 2 or not it.is_read(product):
            continue
        if any(it.is_const(result, number) for number in range(len(result.sources))):
            continue
        number, x = constants[0], 1 - constants[0]
        tensor, slope = product.inputs[number], it.scalar(product, number)
        is_scalar = tensor.shape == () and tensor.first_dtype in HALF_AND_SINGLE and slope is not None and slope < 1
        if is_scalar and any(it.source(product, x) is it.source(result, at) for at in (0, 1)):
            yield join("LeakyRelu", [input_of(product, x)], [product, result], product)


_DOCUMENTED = frozenset({A2, A3, "ascend910", "ascend310p", "ascend310b"})
RULES = (
    FusionRule(
        "GeluFusionPass",
        UNNUMBERED,
        _gelu,
        f"{COPY}/gelu_fusion_pass.cpp (2019-2021); documentation of CANN 8.1, GeluFusionPass",
        chips=_DOCUMENTED,
        never=NEWEST,
        confidence="medium",
    ),
    FusionRule(
        "GeluONNXFusionPass",
        UNNUMBERED,
        _erf_gelu,
        f"{COPY}/gelu_onnx_fusion_pass.cpp (2019); a record of a compiler's run on ascend310p",
        never=NEWEST,
        confidence="medium",
        seen=frozenset({"ascend310p"}),
    ),
    FusionRule(
        "MulMaximumFusionPass",
        UNNUMBERED,
        _leaky_relu,
        f"{COPY}/mul_maximum_fusion_pass.cpp (2020); a record of a compiler's run",
        confidence="medium",
    ),
)
