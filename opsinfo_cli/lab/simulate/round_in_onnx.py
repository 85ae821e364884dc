"""ONNX nodes that round one tensor to a low dtype and convert it back to its own.

float16 and bfloat16 are a pair of Casts, which onnxruntime rounds to the nearest, ties to even. Where there is no such
Cast (bfloat16 before opset 13, hifloat8), the same values are computed in float64: ``(2^s + 1) * x - 2^s * x``, rounded
at every step, is x with 53 - s bits (Veltkamp; Dekker, "A floating-point technique for extending the available
precision", 1971). For an x of 24 bits that is exact, ties included; the tests compare every kind of tie.

HiFloat8 is rounded to the nearest, ties away from zero: en_dtypes 0.0.4 of PyPI, by Huawei, which the tests compare
with. It has 3 bits of mantissa from 2^-3 to 2^4, 2 from 2^-7 to 2^8, 1 from 2^-15 to 2^16, none below that; from
1.25 * 2^15 on it is infinite, below 2^-23 zero (arXiv 2409.16626, section 2).

HF32 has the range of float32 with 11 bits of mantissa: the inputs of what is computed in it are rounded to the nearest,
ties to even. The rounding of ties on a chip is in no public source.

Saturation, as devices do it in that mode: what is larger than the largest value, infinities included, becomes that
value, and NaN becomes 0 (the conversions of Ascend C in saturation mode: cannmirror/asc-devkit ad0b3566,
docs/api/SIMD-API/C-API/reg/reg_vector/asc_float2half.md, under its description).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Refused
from ..numbers.float_formats import FORMATS, HIF8

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LARGEST = {
    "float16": FORMATS["fp16"].limits.largest,
    "bfloat16": FORMATS["bf16"].limits.largest,
    "hifloat8": HIF8.largest,
}
FIRST_BFLOAT16_CAST = 13
FIRST_WHERE = 9
"""The opset of the operators that the other methods need."""
_CODES = {"float32": 1, "float16": 10, "float64": 11, "bfloat16": 16}
_DOUBLE = 11


class Rounder(NamedTuple):
    """How tensors are rounded in one model.

    :param opset: the version of the default domain
    """

    opset: int
    saturate: bool

    def nodes(self, value: str, made: str, own: str, dtype: str, prefix: str) -> list[Any]:
        """Return nodes that read ``value``, of the dtype ``own``, and yield it rounded as ``made``.

        :raises Refused: if the model's opset lacks operators that it needs
        """
        by_cast = dtype == "float16" or (dtype == "bfloat16" and self.opset >= FIRST_BFLOAT16_CAST)
        if self.opset < FIRST_WHERE and (self.saturate or not by_cast):
            raise Refused(
                f"opset {self.opset} is too old to round to {dtype}{' with --saturate' if self.saturate else ''}",
                name="old-opset",
                hint="convert the model with onnx.version_converter",
            )
        chain = _Chain(prefix, value)
        if self.saturate and dtype in LARGEST:
            x = chain.add("Cast", to=_DOUBLE) if own != "float64" else chain.last
            top, bottom = chain.constant(LARGEST[dtype]), chain.constant(-LARGEST[dtype])
            x = chain.add("Where", chain.add("Less", top, x), top, x)
            x = chain.add("Where", chain.add("Less", x, bottom), bottom, x)
            is_number = chain.add("Not", chain.add("IsNaN", chain.add("Cast", x, to=1)))
            chain.add("Where", is_number, x, chain.constant(0.0))
        if by_cast:
            chain.add("Cast", to=_CODES[dtype])
        else:
            chain.add("Cast", to=_DOUBLE)
            _ROUNDINGS[dtype](chain)
        chain.add("Cast", to=_CODES[own])
        return chain.end(made)


class _Chain:
    """Nodes that follow one another."""

    def __init__(self, prefix: str, value: str) -> None:
        self.prefix = prefix
        self.last = value
        self.made: list[Any] = []

    def add(self, op: str, *inputs: str, to: int | None = None) -> str:
        """Add a node; not by ``helper.make_node``, because a model needs thousands.

        :param inputs: none: the node reads the last value
        :param to: the attribute of a Cast
        """
        from onnx import AttributeProto, NodeProto

        name = f"{self.prefix}/{len(self.made)}"
        node = NodeProto(op_type=op, input=inputs or (self.last,), output=(name,), name=name)
        if to is not None:
            node.attribute.add(name="to", type=AttributeProto.INT, i=to)
        self.made.append(node)
        self.last = name
        return name

    def constant(self, value: float) -> str:
        from onnx import AttributeProto, NodeProto, TensorProto

        name = f"{self.prefix}/{len(self.made)}"
        node = NodeProto(op_type="Constant", output=(name,), name=name)
        tensor = TensorProto(data_type=_DOUBLE, double_data=(value,), name=name)
        node.attribute.add(name="value", type=AttributeProto.TENSOR, t=tensor)
        self.made.append(node)
        return name

    def end(self, name: str) -> list[Any]:
        self.made[-1].output[0] = name
        return self.made


def _nearest(chain: _Chain, x: str, bits: int) -> str:
    """Return ``x`` with so many significant bits, including the leading one."""
    scaled = chain.add("Mul", x, chain.constant(2.0 ** (53 - bits) + 1))
    return chain.add("Add", chain.add("Sub", x, scaled), scaled)


def _round_bfloat16(chain: _Chain, bits: int = 8) -> None:
    """Round to so many significant bits, with the range of float32."""
    x = chain.last
    size = chain.add("Abs", x)
    near = _nearest(chain, x, bits)
    big = chain.constant(1.5 * 2.0 ** (52 - 125 - bits))  # the sum has its last bit at the smallest value
    small = chain.add("Sub", chain.add("Add", x, big), big)
    near = chain.add("Where", chain.add("Less", size, chain.constant(2.0**-126)), small, near)
    chain.add("Where", chain.add("Less", size, chain.constant(2.0**128)), near, x)


def _round_hifloat8(chain: _Chain) -> None:
    x = chain.last
    size = chain.add("Abs", x)
    away = chain.add("Mul", x, chain.constant(1 + 2.0**-26))  # ties away from zero: no value of 24 bits comes near
    near = _nearest(chain, away, 1)
    for low, high, bits in ((-15, 16, 2), (-7, 8, 3), (-3, 4, 4)):
        below = chain.add("Less", size, chain.constant(2.0**low))
        inside = chain.add("And", chain.add("Not", below), chain.add("Less", size, chain.constant(2.0**high)))
        near = chain.add("Where", inside, _nearest(chain, away, bits), near)
    least = chain.add("Mul", chain.add("Sign", x), chain.constant(2.0**-22))
    near = chain.add("Where", chain.add("Less", size, chain.constant(2.0**-22)), least, near)
    near = chain.add("Where", chain.add("Less", size, chain.constant(2.0**-23)), chain.constant(0.0), near)
    infinite = chain.add("Mul", x, chain.constant(float("inf")))
    is_nan = chain.add("IsNaN", chain.add("Cast", x, to=1))  # no other comparison is true for it
    large = chain.add("Where", is_nan, x, infinite)
    chain.add("Where", chain.add("Less", size, chain.constant(1.25 * 2.0**15)), near, large)


_ROUNDINGS: dict[str, Callable[[_Chain], None]] = {
    "bfloat16": _round_bfloat16,
    "hifloat8": _round_hifloat8,
    "hf32": partial(_round_bfloat16, bits=12),
}
