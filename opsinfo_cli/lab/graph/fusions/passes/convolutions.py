"""Passes on convolutions: a constant added behind one becomes its bias, a BatchNorm behind one goes into its filter and
bias, a padding before one becomes its own, and a convolution over the whole input a FullyConnection.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..pattern import Pattern
from ..rule import (
    A2,
    A3,
    ABSENT,
    COPY,
    NEWEST,
    UNNUMBERED,
    Change,
    FusionRule,
    input_of,
    join,
    own_constant,
    with_host_inputs,
    with_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...graph import GraphNode
    from ..rule import FusionGraph

_BIAS_ADD = Pattern("""
    conv = Conv2D|DepthwiseConv2D|Conv3D()
    result = BiasAdd|Add(conv)
""")
_CONV_ADD = Pattern("""
    conv = Conv3D|Conv2D()
    result = Add(conv)
""")
_CONV_NORM = Pattern("""
    conv = Conv2D|Conv3D|DepthwiseConv2D()
    norm = BatchNorm|BNInferenceD(conv)
""")
_PAD_CONV = Pattern("""
    pad = Pad|PadV3()
    conv = Conv2D(pad, w)
""")
_FED_BY = frozenset({"Const", "Constant", "Mul"})
_QUANTIZED = frozenset({"AscendQuant", "AscendRequant"})
_MOST_PAD = 255


def _bias_add(it: FusionGraph) -> Iterator[Change]:
    """Add or BiasAdd of one constant behind a convolution without a bias: of rank 1, or with four dimensions of 1."""
    for nodes in _BIAS_ADD.matches(it):
        conv, result = nodes["conv"], nodes["result"]
        constants = _constants(it, result)
        shape = result.inputs[constants[0]].shape if len(constants) == 1 else None
        if shape is None or not it.is_read(conv) or input_of(conv, 2) != ABSENT:
            continue
        if it.is_static(conv.inputs[0], *result.outputs) and (len(shape) == 1 or shape.count(1) >= 4):
            yield _with_bias(conv, result, constants[0])


def _conv_add(it: FusionGraph) -> Iterator[Change]:
    """Add of one constant by channel, or of one value, behind a convolution; a bias of constants is added to it."""
    for nodes in _CONV_ADD.matches(it):
        conv, result = nodes["conv"], nodes["result"]
        constants = _constants(it, result)
        fed = [it.source(conv, number) for number in range(1, len(conv.sources)) if input_of(conv, number) != ABSENT]
        if len(constants) != 1 or not it.is_read(conv) or (conv.type == "Conv3D" and not it.is_read(result)):
            continue
        if any(producer is not None and producer.type not in _FED_BY for producer in fed):
            continue
        if _is_by_channel(it, conv, result.inputs[1 - constants[0]].shape, result.inputs[constants[0]].shape):
            yield _with_bias(conv, result, constants[0])


def _conv_norm(it: FusionGraph) -> Iterator[Change]:
    """A convolution that one BatchNorm of constants reads; the host computes filter and bias from both."""
    for nodes in _CONV_NORM.matches(it):
        conv, norm = nodes["conv"], nodes["norm"]
        weights = it.source(conv, 1)
        if any(it.readers(norm, number) for number in range(1, len(norm.outputs))) or not it.is_read(conv):
            continue
        if weights is None or weights.type == "QuantWeightRollBack":
            continue
        if all(it.is_const(norm, number) for number in range(1, 5 if norm.type == "BatchNorm" else len(norm.sources))):
            inputs = [input_of(conv, 0), input_of(conv, 1), own_constant("float32")]
            change = join(conv.type, inputs, [conv, norm], conv)
            yield with_host_inputs(change, (1, 2), norm.outputs[:1])


def _constants(it: FusionGraph, node: GraphNode) -> list[int]:
    return [number for number in range(len(node.sources)) if it.is_const(node, number)]


def _with_bias(conv: GraphNode, result: GraphNode, number: int) -> Change:
    return join(conv.type, [input_of(conv, 0), input_of(conv, 1), input_of(result, number)], [conv, result], conv)


def _is_by_channel(it: FusionGraph, conv: GraphNode, shape: Sequence[int] | None, added: Sequence[int] | None) -> bool:
    """Return whether a constant has one value for each channel, or one for all.

    :param shape: of the convolution's result
    :param added: of the constant
    """
    rank, last = 4 if conv.type == "Conv2D" else 5, is_channels_last(it, conv)
    at = rank - 1 if last or rank == 5 else 1
    if shape is None and last:  # a TensorFlow model does not state it
        shape = (*[1] * at, *(conv.inputs[1].shape or (-1,))[-1:])
    if shape is None or added is None or len(shape) != rank or shape[at] < 0:
        return False
    if rank == 4 and prod(added) == 1 and len(added) <= 1:
        return True
    if len(added) == 1:
        return added[0] == shape[at]
    return len(added) == rank and all(dim == (shape[at] if number == at else 1) for number, dim in enumerate(added))


def is_channels_last(it: FusionGraph, conv: GraphNode) -> bool:
    """Return whether the channels are the last dimension: in TensorFlow, unless the node says otherwise."""
    given = conv.attributes.get("given")
    layout = given.get("data_format") if isinstance(given, dict) else None
    return it.graph.model.format != "onnx" and layout not in ("NCHW", "NCDHW")


def _pad_conv(it: FusionGraph) -> Iterator[Change]:
    """A padding of height and width with zeros that one Conv2D reads becomes padding of the Conv2D."""
    for nodes in _PAD_CONV.matches(it):
        pad, conv = nodes["pad"], nodes["conv"]
        own, paddings = _pads(it, conv), _paddings(it, pad)
        filter_shape = conv.inputs[1].shape
        if it.source(conv, 0) is not pad or not it.is_read(pad) or pad.index in it.waited:
            continue
        if own is None or paddings is None or filter_shape is None or len(filter_shape) != 4:
            continue
        is_known = it.is_static(*pad.inputs[:1], *pad.outputs)
        first = 1 if is_channels_last(it, conv) else 2
        rest = [padding for axis, padding in enumerate(paddings) if axis not in (first, first + 1)]
        added = [*paddings[first], *paddings[first + 1]]
        sums = [one + other for one, other in zip(own, added, strict=True)]
        height = filter_shape[0 if is_channels_last(it, conv) else 2]
        fits = min(*own, *added) >= 0 and max(sums) <= _MOST_PAD and max(sums[:2]) < height
        if is_known and fits and all(padding == (0, 0) for padding in rest):
            inputs = [input_of(pad, 0), *(input_of(conv, number) for number in range(1, len(conv.sources)))]
            change = join("Conv2D", inputs, [pad, conv], conv)
            yield change._replace(feed=None)


def _pads(it: FusionGraph, conv: GraphNode) -> list[int] | None:
    """Return the padding of a Conv2D: top, bottom, left, right; None if it is not written down."""
    given = conv.attributes.get("given")
    if not isinstance(given, dict):
        return None
    if it.graph.model.format != "onnx":
        return [0] * 4 if given.get("padding") == "VALID" else None
    if given.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    pads = given.get("pads", [0] * 4)
    return [pads[0], pads[2], pads[1], pads[3]] if isinstance(pads, list) and len(pads) == 4 else None


def _paddings(it: FusionGraph, pad: GraphNode) -> list[tuple[int, int]] | None:
    """Return begin and end of each axis that a node pads with zeros; None if it may do something else."""
    values = it.integers(pad, 1)
    if values is None or len(values) != 8:
        return None
    if pad.type == "PadV3":
        given = pad.attributes.get("given")
        attributes = given if isinstance(given, dict) else {}
        is_zero = input_of(pad, 2) == ABSENT or (pad.inputs[2].first_dtype == "float32" and it.scalar(pad, 2) == 0)
        if attributes.get("mode", "constant") != "constant" or not is_zero or input_of(pad, 3) != ABSENT:
            return None
        if "pads" not in attributes:  # opset 11 and newer: all begins, then all ends
            return list(zip(values[:4], values[4:], strict=True))
    return list(zip(values[::2], values[1::2], strict=True))


def _fully_connection(it: FusionGraph) -> Iterator[Change]:
    """A Conv2D whose filter is as large as its input, without padding and groups, becomes FullyConnection."""
    for conv in it.of("Conv2D"):
        if not it.is_read(conv) or conv.index in it.waited:
            continue
        readers = it.readers(conv)
        if readers[0].type in _QUANTIZED:
            continue
        if readers[0].type == "AscendDequant" and any(reader.type == "Sigmoid" for reader in it.readers(readers[0])):
            continue
        x, weights = conv.inputs[0].shape, conv.inputs[1].shape if len(conv.inputs) > 1 else None
        if x is None or weights is None or len(x) != 4 or len(weights) != 4 or min(*x, *weights) <= 0:
            continue
        last = is_channels_last(it, conv)
        count, size = (weights[3], (*weights[:2], weights[2])) if last else (weights[0], (*weights[2:], weights[1]))
        covers = size == ((x[1], x[2], x[3]) if last else (x[2], x[3], x[1]))
        aligned = it.soc not in (A2, A3) or conv.inputs[0].first_dtype != "float32" or count % 16 == 0
        if covers and aligned and _is_not_padded(it, conv):
            inputs = [input_of(conv, number) for number in range(min(len(conv.sources), 3))]
            yield Change((conv,), with_inputs(conv, "FullyConnection", inputs))


def _is_not_padded(it: FusionGraph, conv: GraphNode) -> bool:
    """Return whether a Conv2D with a filter as large as its input adds no padding.

    Padding that is computed is 0 if the filter has one place only.
    """
    pads, shape = _pads(it, conv), conv.outputs[0].shape or ()
    if pads is not None:
        return not any(pads)
    first = 1 if is_channels_last(it, conv) else 2
    return "given" in conv.attributes and tuple(shape[first : first + 2]) == (1, 1)


_PAGE = "documentation of CANN 8.1"
_OLDER = frozenset({"ascend910", "ascend310p", "ascend310b"})
RULES = (
    FusionRule(
        "AABiasaddConvFusion",
        4030,
        _bias_add,
        f"{COPY}/biasadd_conv_fusion_pass.cpp (2019-2021); {_PAGE}, AABiasaddConvFusion; records of compilers' runs",
    ),
    FusionRule(
        "ConvBatchnormFusionPass",
        4060,
        _conv_norm,
        f"{COPY}/conv_batchnorm_fusion_pass.cpp (2019); documentation of CANN 8.1, ConvBatchnormFusionPass",
        chips=_OLDER,
        never=NEWEST | {A2, A3},
    ),
    FusionRule(
        "PadConv2dFusionPass",
        4190,
        _pad_conv,
        f"{COPY}/pad_conv2d_fusion_pass.cpp (2019); {_PAGE}, PadConv2dFusionPass; records of compilers' runs",
    ),
    FusionRule(
        "ConvToFullyConnectionFusionPass",
        UNNUMBERED,
        _fully_connection,
        f"{COPY}/conv_to_fullyconnection_fusion_pass.cpp (2020-2021); {_PAGE}, ConvToFullyConnectionFusionPass",
        chips=frozenset({"ascend910", "ascend310p", "ascend310b", A2, A3}),
        never=NEWEST,
    ),
    FusionRule(
        "TBEConvAddFusion",
        UNNUMBERED,
        _conv_add,
        f"{COPY}/conv_add_fusion_pass.cpp (2019-2021); a record of a compiler's run on ascend310p",
        confidence="medium",
        seen=frozenset({"ascend310p"}),
    ),
)
