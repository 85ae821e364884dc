"""ONNX operators that CANN expands to several nodes.

Source: the ParseOpToGraph functions of the ONNX plugins in hicann/ops-nn common/src/framework/ and index/
(conv_onnx_plugin.cpp:262-337, gemm_onnx_plugin.cpp:75-134, layer_normalization_onnx_plugin.cpp:95-146,
average_pool_onnx_plugin.cpp:227-262, max_pool_onnx_plugin.cpp:303-372, gather_onnx_plugin.cpp:59-76) and in
hicann/ops-math (argmax, clip, concat, max, min, mean, pad, reduce_*, split, slice). Nodes are named as there, but for
the main one, which keeps its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import GraphTensor
from .source import SourceGraph, SourceNode, constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from .op_names import Mapping

    Rule: TypeAlias = Callable[["Expansion"], None]

_NAMES = "Squeeze Unsqueeze Identity Cast Shape Const ExpandDims Transpose TransposeD Empty Flatten"
_PLUMBING = frozenset(_NAMES.split())
"""Op types of helper nodes around the operator."""


class Expansion:
    """The expansion of one node; a rule sets its type and adds nodes before and after it.

    :ivar made: the resulting nodes, in order
    :ivar followed: whether a rule applied
    """

    def __init__(self, graph: SourceGraph, node: SourceNode, types: Sequence[str]) -> None:
        self.graph = graph
        self.node = node
        self.types = types
        self.made = [node]
        self.followed = True

    def rank(self, number: int = 0) -> int:
        """Return the number of dimensions of an input; -1 if unknown."""
        shape = self.graph.tensor(self.node.inputs[number]).shape if number < len(self.node.inputs) else None
        return -1 if shape is None else len(shape)

    def number(self, name: str, default: float) -> float:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, (int, float)) else default

    def before(self, number: int, op_type: str, suffix: str, shape: tuple[int, ...] | None = None) -> None:
        """Put a node of one input before input ``number``."""
        given = self.node.inputs[number]
        name = self.node.name + suffix
        made = self._made(name, op_type, [given], name)
        self.graph.tensors[name] = self.graph.tensor(given)._replace(shape=shape)
        self.node.inputs[number] = name
        self.made.insert(len(self.made) - 1, made)

    def behind(
        self, op_type: str, suffix: str, more: Sequence[str] = (), shape: tuple[int, ...] | None = None
    ) -> SourceNode:
        """Put a node after the last one; it takes over its first value."""
        last = self.made[-1]
        value = last.outputs[0]
        inner = last.name + ":inner" if last is self.node else last.name
        self.graph.tensors[inner] = self.graph.tensor(value)._replace(shape=shape)
        last.outputs = [inner, *last.outputs[1:]]
        made = self._made(self.node.name + suffix, op_type, [inner, *more], value)
        self.made.append(made)
        return made

    def const(self, suffix: str, dtype: str = "int64", shape: tuple[int, ...] = ()) -> str:
        """Add a constant, and return the name of its value."""
        made = constant(self.graph, self.node.name + suffix, dtype, shape)
        self.made.insert(0, made)
        return made.name

    def _made(self, name: str, op_type: str, inputs: list[str], output: str) -> SourceNode:
        extra = {"source": self.node.name}
        return SourceNode(name, op_type, inputs, [output], number=self.node.number, extra=extra, type=op_type)

    def step(self, op_type: str, suffix: str, value: str) -> SourceNode:
        """Return a node of one input that is not placed yet."""
        name = self.node.name + suffix
        made = self._made(name, op_type, [value], name)
        self.graph.tensors[name] = self.graph.tensor(value)
        return made


def expand(graph: SourceGraph, node: SourceNode, mapping: Mapping) -> Expansion:
    """Return the nodes that replace an operator, with their types."""
    expansion = Expansion(graph, node, mapping.types)
    rule = _RULES.get(node.op)
    if rule:
        rule(expansion)
    else:
        node.type = next((each for each in mapping.types if each not in _PLUMBING), mapping.types[0])
        expansion.followed = len(mapping.types) == 1
    return expansion


def _spatial(flat: str, deep: str, filters: int) -> Rule:
    """Convolutions and pools: one-dimensional ones become two-dimensional, with an axis inserted and removed."""

    def rule(it: Expansion) -> None:
        rank = it.rank()
        kernel = it.node.attributes.get("kernel_shape")
        dims = rank - 2 if rank > 2 else len(kernel) if isinstance(kernel, list) else it.rank(1) - 2
        it.node.type = deep if dims == 3 else flat
        if dims == 1:
            for number in range(filters):
                it.before(number, "Unsqueeze", "_Unsqueeze" + "XW"[number])
            it.behind("Squeeze", "_SqueezeY" if filters > 1 else f"_Squeeze{flat.capitalize()}")

    return rule


def _gemm(it: Expansion) -> None:
    it.node.type = "MatMulV2"
    if len(it.node.inputs) < 3 or not it.node.inputs[2]:
        return
    added = it.node.inputs.pop()
    shape = it.graph.tensor(it.node.outputs[0]).shape
    if it.number("alpha", 1.0) != 1.0 or it.number("beta", 1.0) != 1.0:
        it.behind("Muls", "_Muls1", shape=shape)
        scaled = it.step("Muls", "_Muls2", added)
        it.made.insert(0, scaled)
        added = scaled.name
    it.behind("Add", "_add", [added], shape)


def _layer_norm(it: Expansion) -> None:
    node, graph = it.node, it.graph
    node.type = "LayerNorm"
    x = node.inputs[0]
    dtype = graph.tensor(x).dtype
    shape = it.step("Shape", "_shape", x)
    graph.tensors[shape.name] = GraphTensor("int32", shape=(it.rank(),) if it.rank() >= 0 else None)
    if len(node.inputs) < 3 or not node.inputs[2]:
        node.inputs[2:] = [it.const("_beta", "float32")]
    it.made.insert(0, shape)
    for number in (1, 2):
        it.before(number, "BroadcastTo", f"_broadcastto{number}", graph.tensor(x).shape)
        it.made[-2].inputs.append(shape.name)
    mean, deviation = [*node.outputs[1:], "", ""][:2]
    node.outputs = [node.outputs[0], *([node.name + ":mean", node.name + ":variance"] if mean or deviation else [])]
    stash = it.number("stash_type", 1)
    for value, suffix, source in ((deviation, "1", node.name + ":variance"), (mean, "2", node.name + ":mean")):
        if not value:
            continue
        graph.tensors[source] = GraphTensor(dtype)
        if suffix == "1":
            it.made += [it.step("Adds", "_Adds", source), it.step("Rsqrt", "_Rsqrt", node.name + "_Adds")]
            source = node.name + "_Rsqrt"
        op_type = "Cast" if stash else "Identity"
        made = it.step(op_type, f"_cast{suffix}", source)
        made.outputs = [value]
        it.made.append(made)


def _clip(it: Expansion) -> None:
    given = [bool(value) for value in it.node.inputs[1:3]] + [False, False]
    if "ClipByValue" in it.types and len(it.types) == 2:  # up to opset 10 the bounds are attributes
        it.node.type = "ClipByValue"
        it.node.inputs = [it.node.inputs[0], it.const("_data1", "float32"), it.const("_data2", "float32")]
    elif given[0] and given[1]:
        it.node.type = "ClipByValue"
    else:
        it.node.type = "Maximum" if given[0] else "Minimum"
        it.node.inputs = [value for value in it.node.inputs if value]


def _chain(op_type: str) -> Rule:
    """``Max`` and ``Min``: pairwise for many inputs, an Identity for one."""

    def rule(it: Expansion) -> None:
        rest = it.node.inputs[2:]
        it.node.type = op_type if len(it.node.inputs) > 1 else "Identity"
        it.node.inputs = it.node.inputs[:2]
        for number, value in enumerate(rest, 2):
            it.behind(op_type, f"_{op_type}_{number}", [value])

    return rule


def _axes(op_type: str, suffix: str = "_data1") -> Rule:
    """The attribute becomes a constant second input."""

    def rule(it: Expansion) -> None:
        it.node.type = op_type
        if len([value for value in it.node.inputs if value]) == 1:
            axes = it.node.attributes.get("axes")
            count = len(axes) if isinstance(axes, list) else max(it.rank(), 1)
            it.node.inputs = [it.node.inputs[0], it.const(suffix, shape=(count,))]

    return rule


def _arg(op_type: str) -> Rule:
    def rule(it: Expansion) -> None:
        it.node.type = op_type
        it.node.inputs = [it.node.inputs[0], it.const("_const_data")]
        if it.number("keepdims", 1):
            it.behind("ExpandDims", "_ExpandDims", [it.const("_data1")])

    return rule


def _reduce_log_sum(it: Expansion) -> None:
    _axes("ReduceSum")(it)
    it.behind("Log", "_Log", shape=it.graph.tensor(it.node.outputs[0]).shape)


def _plain(op_type: str) -> Rule:
    def rule(it: Expansion) -> None:
        it.node.type = op_type

    return rule


def _gather(it: Expansion) -> None:
    it.node.type = "GatherV2"
    it.node.inputs = [*it.node.inputs[:2], it.const("_const_data")]


def _concat(it: Expansion) -> None:
    it.node.type = "ConcatD" if len(it.node.inputs) > 1 else "Identity"


def _split(it: Expansion) -> None:
    sizes = it.node.inputs[1] if len(it.node.inputs) > 1 else ""
    if sizes or "split" in it.node.attributes:
        sizes = sizes or it.const("_size_splits", shape=(len(it.node.outputs),))
        it.node.type, it.node.inputs = "SplitV", [it.node.inputs[0], sizes, it.const("_split_dim")]
    else:
        it.node.type, it.node.inputs = "Split", [it.const("_split_dim"), it.node.inputs[0]]


def _mean(it: Expansion) -> None:
    it.node.type = "AccumulateNV2"
    it.behind("Muls", "_Muls", shape=it.graph.tensor(it.node.outputs[0]).shape)


def _pad(it: Expansion) -> None:
    mirrored = it.node.attributes.get("mode") == "reflect" and "MirrorPad" in it.types
    it.node.type = "MirrorPad" if mirrored else "PadV3"
    if len(it.node.inputs) == 1:
        it.node.inputs += [it.const("_data1")] + ([] if mirrored else [it.const("_data2", "float32")])


def _resize(it: Expansion) -> None:
    """Sizes are computed from the scales if none are given; with known shapes that is folded."""
    nearest = it.node.attributes.get("mode", "nearest") == "nearest"
    x, sizes = it.node.inputs[0], it.node.inputs[3:4] or [""]
    if nearest:
        it.node.type = "ResizeNearestNeighborV2"
        it.node.inputs = [x, sizes[0] or it.const("_sizes", "int32", (2,))]
    else:
        it.node.type = "Resize"


def _arithmetic(it: Expansion) -> None:
    """``Xor`` of booleans: cast, computed, cast back."""
    it.node.type = "BitwiseXor"
    for number in (0, 1):
        it.before(number, "Cast", f"_cast{number}")
        it.graph.tensors[it.node.inputs[number]] = GraphTensor("int32")
    it.behind("Cast", "_cast2")
    it.graph.tensors[it.node.outputs[0]] = GraphTensor("int32")


def _scatter(it: Expansion) -> None:
    kinds = {"add": "ScatterNdAdd", "max": "ScatterNdMax", "min": "ScatterNdMin"}
    it.node.type = kinds.get(str(it.node.attributes.get("reduction", "none")), "ScatterNdUpdate")
    it.before(0, "TensorMove", "_TensorMove", it.graph.tensor(it.node.inputs[0]).shape)


def _shift(it: Expansion) -> None:
    it.node.type = "LeftShift" if it.node.attributes.get("direction") == "LEFT" else "RightShift"


def _topk(it: Expansion) -> None:
    it.node.type = "TopK"
    if len(it.node.inputs) == 1:
        it.node.inputs.append(it.const("_data1", "int32"))


def _threshold(it: Expansion) -> None:
    x = it.node.inputs[0]
    it.node.type = "Threshold"
    it.behind("Mul", "_mul", [x], it.graph.tensor(x).shape)


_RULES: dict[str, Rule] = {
    "Conv": _spatial("Conv2D", "Conv3D", 2),
    "ConvTranspose": _spatial("Conv2DTranspose", "Conv3DTranspose", 2),
    "AveragePool": _spatial("AvgPoolV2", "AvgPool3D", 1),
    "MaxPool": _spatial("MaxPoolV3", "MaxPool3D", 1),
    "Gemm": _gemm,
    "LayerNormalization": _layer_norm,
    "Clip": _clip,
    "Max": _chain("Maximum"),
    "Min": _chain("Minimum"),
    "Mean": _mean,
    "ArgMax": _arg("ArgMaxV2"),
    "ArgMin": _arg("ArgMin"),
    "ReduceLogSum": _reduce_log_sum,
    "ReduceSumSquare": _axes("SquareSumV1"),
    "GlobalMaxPool": _axes("ReduceMax", "_Const_0"),
    "Gather": _gather,
    "Concat": _concat,
    "Split": _split,
    "Slice": _plain("StridedSliceV2"),
    "Pad": _pad,
    "Resize": _resize,
    "Upsample": _plain("Resize"),
    "Xor": _arithmetic,
    "ScatterND": _scatter,
    "BitShift": _shift,
    "TopK": _topk,
    "ThresholdedRelu": _threshold,
    **{f"Reduce{name}": _axes(f"Reduce{name}") for name in ("Max", "Mean", "Min", "Prod", "Sum", "LogSumExp")},
}
