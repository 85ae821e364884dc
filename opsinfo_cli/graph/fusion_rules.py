"""The rules of fusions that the compiler runs by default, before it chooses dtypes.

A rule yields changes of a graph. Rules marked "2022" were read in public copies of canndev, ops/built-in/fusion_pass
(2022); today their source is closed. The others are open: DropOutPass and IdentityPass in hicann/ge ffdcbc9f,
compiler/graph/passes/ (remove_unsupported_op/dropout_pass.cc, memory_conflict/identity_pass.cc);
Globalavgpoolpass in hicann/ops-math, math/reduce_mean/op_graph/fusion_pass/globalavgpool_fusion_pass.cpp;
MatMulBiasAddFusionPass in hicann/ops-nn, matmul/mat_mul_v3/op_graph/fusion_pass/matmul_biasadd_fusion_pass.cpp.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from .graph import CONSTANTS, UNKNOWN, GraphTensor, Producer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from .graph import GraphNode, ModelGraph

    Input: TypeAlias = tuple[Producer | None, GraphTensor, str]
    Rule: TypeAlias = Callable[["FusionGraph"], Iterator["Change"]]

_ABSENT: Input = (None, UNKNOWN, "")
_FACTS = json.loads(files("opsinfo_cli.graph").joinpath("data/fusions.json").read_text(encoding="utf-8"))


class Change(NamedTuple):
    """One change of a graph.

    :param at: the place of the node that changes
    :param node: what takes its place; None if the node is removed
    :param gone: the nodes that are removed, and the output that feeds the readers of each instead
    :param checked: whether it is made only if AI Core supports the new node
    :param of: the place of the node that the new one continues, if it is another one
    """

    at: int
    node: GraphNode | None
    gone: Mapping[int, Producer | None] = MappingProxyType({})
    checked: bool = False
    of: int | None = None


class NotApplied(NamedTuple):
    """A fusion whose rule is not known.

    :param types: the op types that it may take
    :param reads: op types one of which such a node reads; empty for any
    """

    name: str
    types: Collection[str]
    reads: Collection[str]


NOT_APPLIED = [NotApplied(each["name"], each["types"], each.get("reads", ())) for each in _FACTS["not_applied"]]


class FusionGraph:
    """A graph as the rules see it.

    :param supported: tells whether AI Core supports the node at an index
    """

    def __init__(self, graph: ModelGraph, supported: Callable[[int], bool]) -> None:
        self.graph = graph
        self.supported = supported

    def of(self, *types: str) -> Iterator[GraphNode]:
        """Yield the nodes of op types; one without inputs or outputs fits no rule."""
        return (node for node in self.graph if node.type in types and node.sources and node.outputs)

    def is_const(self, node: GraphNode, number: int) -> bool:
        """Return whether a constant feeds an input: one of the model, or one that a fusion made."""
        source, tensor, _ = _input(node, number)
        return self.graph[source.node].type in CONSTANTS if source is not None else tensor != UNKNOWN

    @cached_property
    def _readers(self) -> dict[Producer, list[GraphNode]]:
        readers: dict[Producer, list[GraphNode]] = {}
        for node in self.graph:
            for source in node.sources:
                if source is not None:
                    readers.setdefault(source, []).append(node)
        return readers

    def readers(self, node: GraphNode, output: int = 0) -> list[GraphNode]:
        """Return the nodes that read an output; one that reads it twice is there twice."""
        return self._readers.get(_output(node, output), [])

    @cached_property
    def waited(self) -> set[int]:
        """Indexes of the nodes that another one waits for."""
        return {index for node in self.graph for index in node.control}

    @cached_property
    def owners(self) -> set[int]:
        """Indexes of the nodes that own a subgraph."""
        return {body.parent for body in self.graph.subgraphs if body.parent is not None}

    def in_body(self, node: GraphNode) -> bool:
        """Return whether a node is in a subgraph other than the main graph."""
        return node.index not in self.graph.subgraphs[0].nodes

    def integers(self, node: GraphNode, number: int) -> list[int] | None:
        """Return the values of a constant input; None if it has none or they are not known here."""
        source = node.sources[number] if number < len(node.sources) else None
        weights = None if source is None else self.graph[source.node].weights
        if weights is None or weights.tensor is None:
            return None
        from onnx import numpy_helper

        try:
            return [int(value) for value in numpy_helper.to_array(weights.tensor).reshape(-1)[:64]]
        except Exception:  # the package raises several kinds of exceptions
            return None


def _output(node: GraphNode, output: int = 0) -> Producer:
    return Producer(node.index, output)


def _input(node: GraphNode, number: int) -> Input:
    """Return an input with its tensor and the name of its value in the model."""
    if number >= len(node.sources):
        return _ABSENT
    names = node.origin.inputs if node.origin is not None else ()
    return node.sources[number], node.inputs[number], names[number] if number < len(names) else ""


def _made(dtype: str) -> Input:
    """Return an input that the fusion feeds with a constant of its own."""
    return None, GraphTensor(dtype), ""


def _with(node: GraphNode, op_type: str, inputs: Sequence[Input]) -> GraphNode:
    """Return a node with another op type and other inputs; absent ones at the end are left out."""
    inputs = list(inputs)
    while inputs and inputs[-1] == _ABSENT:
        inputs.pop()
    sources, tensors, names = zip(*inputs, strict=True) if inputs else ((), (), ())
    origin = None if node.origin is None else node.origin._replace(inputs=names)
    return replace(node, type=op_type, sources=sources, inputs=tensors, origin=origin)


def _without_inputs(node: GraphNode, op_type: str, gone: Collection[int]) -> GraphNode:
    return _with(node, op_type, [_input(node, at) for at in range(len(node.sources)) if at not in gone])


def _is_unknown(tensors: Sequence[GraphTensor]) -> bool:
    return any(dim < 0 for tensor in tensors for dim in tensor.shape or ())


def _drop_out(it: FusionGraph) -> Iterator[Change]:
    """Dropout is removed; its mask is left out."""
    for node in it.of("Dropout"):
        if not any(it.readers(node, number) for number in range(1, len(node.outputs))):
            yield Change(node.index, None, {node.index: node.sources[0]})


def _identity(it: FusionGraph) -> Iterator[Change]:
    """Identity is removed, but not beside a subgraph, and not if it holds a control edge of a Switch or a Merge."""
    for node in it.of("Identity", "IdentityN"):
        producers = [None if source is None else it.graph[source.node] for source in node.sources]
        readers = [reader for number in range(len(node.outputs)) for reader in it.readers(node, number)]
        if len(node.sources) != len(node.outputs) or len(node.sources) != 1 or producers[0] is None:
            continue
        beside = any(
            each.index in it.owners or (each.type in ("Data", "NetOutput") and it.in_body(each))
            for each in (producers[0], *readers)
        )
        holds = (producers[0].type in ("Switch", "RefSwitch") and node.index in it.waited) or (
            bool(node.control) and any(reader.type in ("Merge", "RefMerge") for reader in readers)
        )
        if not beside and not holds:
            yield Change(node.index, None, {node.index: node.sources[0]})


def _reduced_away(*types: str) -> Rule:
    """2022: a reduction is removed if all its axes have length 1."""

    def rule(it: FusionGraph) -> Iterator[Change]:
        for node in it.of(*types):
            before, after = node.inputs[0].shape, node.outputs[0].shape
            if before is None or after is None or not it.is_const(node, 1):
                continue
            known = all(dim > 0 for dim in (*before, *after))
            if known and node.sources[0] is not None and prod(before) == prod(after):
                yield Change(node.index, None, {node.index: node.sources[0]})

    return rule


def _batch_norm(it: FusionGraph) -> Iterator[Change]:
    """2022: BatchNorm of inference; with constant parameters BNInference with a constant momentum, else BNInfer."""
    for node in it.of("BatchNorm"):
        is_fed = len(node.sources) >= 5 and all(node.sources[number] for number in range(5))
        in_training = node.attributes.get("is_training") or any(
            0 in (tensor.shape or ()) for tensor in node.inputs[3:5]
        )
        if not is_fed or in_training or any(it.readers(node, number) for number in range(1, len(node.outputs))):
            continue
        x, scale, offset, mean, variance = (_input(node, number) for number in range(5))
        made = _with(node, "BNInfer", [x, scale, offset, mean, variance])
        if all(it.is_const(node, number) for number in range(1, 5)):
            made = _with(node, "BNInference", [x, mean, variance, _made("float32"), scale, offset])
        yield Change(node.index, replace(made, outputs=node.outputs[:1]))


def _lstm(it: FusionGraph) -> Iterator[Change]:
    """2022, in part: CommonLSTM becomes DynamicRNN; both weights are one constant. Two of them for both directions."""
    for node in it.of("CommonLSTM"):
        x, w, r, b, lengths, h, c = (_input(node, number) for number in range(7))
        mask = _ABSENT if lengths == _ABSENT else _made("uint8")
        bias = _made(node.inputs[0].dtype or "float32") if b == _ABSENT else b
        made = _with(node, "DynamicRNN", [x, w, bias, _ABSENT, h, c, _ABSENT, _ABSENT, _ABSENT, mask])
        if made.origin is not None and r[2]:
            made = replace(made, origin=made.origin._replace(merged=((1, r[2]),)))
        yield Change(node.index, made)


def _arg_max(it: FusionGraph) -> Iterator[Change]:
    """2022: an int64 result of ArgMaxV2 becomes int32, and its readers get a Cast, if its axis is shorter than 2^31."""
    for node in it.of("ArgMaxV2"):
        shape, axes = node.inputs[0].shape or (), it.integers(node, 1)
        lengths = [shape[axes[0]]] if axes and -len(shape) <= axes[0] < len(shape) else shape
        is_short = bool(lengths) and all(0 <= length < 1 << 31 for length in lengths)
        if is_short and node.outputs[0].dtype == "int64":
            outputs = node.outputs[0]._replace(dtype="int32"), *node.outputs[1:]
            yield Change(node.index, replace(node, outputs=outputs))


def _cast(it: FusionGraph) -> Iterator[Change]:
    """2022: Cast to the dtype that its input has is removed."""
    for node in it.of("Cast"):
        if node.sources[0] is not None and node.inputs[0].dtype and node.inputs[0].dtype == node.outputs[0].dtype:
            yield Change(node.index, None, {node.index: node.sources[0]})


def _gru(it: FusionGraph) -> Iterator[Change]:
    """2022, name and test: CommonGRU becomes DynamicGRUV2; the bias becomes two."""
    for node in it.of("CommonGRU"):
        x, w, r, b, lengths, h = (_input(node, number) for number in range(6))
        other = _ABSENT if b == _ABSENT else _made(b[1].dtype or "float32")
        yield Change(node.index, _with(node, "DynamicGRUV2", [x, w, r, b, other, lengths, h]))


def _gather(it: FusionGraph) -> Iterator[Change]:
    """2022: GatherV2 with a constant axis, only if it is not supported; a Cast of the indices to int32 goes."""
    for node in it.of("GatherV2"):
        if not it.is_const(node, 2) or it.supported(node.index):
            continue
        made = _without_inputs(node, "GatherV2D", {2})
        cast = None if made.sources[1] is None else it.graph[made.sources[1].node]
        gone: dict[int, Producer | None] = {}
        if (
            cast is not None
            and cast.type == "Cast"
            and (cast.inputs[0].dtype, cast.outputs[0].dtype) == ("int64", "int32")
        ):
            sources = (made.sources[0], cast.sources[0])
            made = replace(made, sources=sources, inputs=(made.inputs[0], cast.inputs[0]))
            gone = {cast.index: cast.sources[0]} if len(it.readers(cast)) == 1 else {}
        yield Change(node.index, made, gone, checked=True)


def _const_to_attr(name: str, prefers_own: bool = False) -> Rule:
    """2022: constant inputs become attributes of the D form; which ones is in ``data/fusions.json``.

    :param prefers_own: with unknown shapes, only if the type itself is not supported
    """
    table = _FACTS["const_to_attr"][name]

    def rule(it: FusionGraph) -> Iterator[Change]:
        for node in it.of(*table):
            row = table[node.type]
            checked = row.get("checked", True)
            if not all(it.is_const(node, number) for number in row["inputs"]):
                continue
            if prefers_own and checked and _is_unknown((*node.inputs, *node.outputs)) and it.supported(node.index):
                continue
            yield Change(node.index, _without_inputs(node, row["type"], row["inputs"]), checked=checked)

    return rule


def _strided_slice(it: FusionGraph) -> Iterator[Change]:
    """2022: StridedSliceV2 with constant begin, end and strides, by its shape and strides."""
    for node in it.of("StridedSliceV2"):
        given = [number for number in range(1, len(node.sources)) if node.sources[number] is not None]
        if not all(it.is_const(node, number) for number in given):
            continue
        shape = node.outputs[0].shape
        strides = it.integers(node, 4) or []
        if strides and all(stride == -1 for stride in strides) and _is_whole_reverse(it, node):
            op_type, gone = ("ReverseV2", {2, 3, 4}) if _is_unknown(node.outputs) else ("ReverseV2D", {1, 2, 3, 4})
        elif 0 in (shape or ()) or any(stride < 0 for stride in strides):
            op_type, gone = "StridedSlice", {3}
        elif _is_unknown(node.outputs):
            op_type, gone = "StridedSliceV3", set()
        else:
            op_type, gone = "StridedSliceD", {1, 2, 3, 4}
        yield Change(node.index, _without_inputs(node, op_type, gone))


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
            yield Change(node.index, _with(node, "ReduceMean", [_input(node, 0), _made("int64")]))


_MATMULS = ("MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2")


def _mat_mul_bias_add(it: FusionGraph) -> Iterator[Change]:
    """A matrix product that one Add or BiasAdd reads takes a bias of one dimension as its third input."""
    for add in it.of("Add", "BiasAdd"):
        if len(add.sources) != 2:
            continue
        producers = [None if source is None else it.graph[source.node] for source in add.sources]
        at = 0 if add.type == "BiasAdd" or (producers[0] and producers[0].type in _MATMULS) else 1
        product, bias = producers[at], producers[1 - at]
        if product is None or bias is None or product.type not in _MATMULS or len(it.readers(product)) != 1:
            continue
        if sum(source is not None for source in product.sources) != 2 or len(bias.outputs) != 1:
            continue
        if add.type == "Add" and not _is_bias(product, add.inputs[at], add.inputs[1 - at]):
            continue
        yield Change(add.index, _biased(product, add, 1 - at), {product.index: _output(add)}, of=product.index)


def _is_bias(product: GraphNode, result: GraphTensor, bias: GraphTensor) -> bool:
    if result.shape is None or bias.shape is None or len(bias.shape) != 1 or not result.shape:
        return False
    if not product.type.startswith("Batch") and len(result.shape) != 2:
        return False
    return bias.shape[0] <= 0 or result.shape[-1] <= 0 or bias.shape[0] == result.shape[-1]


def _biased(product: GraphNode, add: GraphNode, bias: int) -> GraphNode:
    """Return the product with the bias, in the place of the Add."""
    op_type = "BatchMatMulV2" if product.type == "BatchMatMul" else product.type
    made = _with(product, op_type, [_input(product, 0), _input(product, 1), _input(add, bias)])
    origin = made.origin
    if origin is not None and add.origin is not None:
        origin = origin._replace(outputs=add.origin.outputs, inner=(*origin.inner, *origin.outputs[:1]))
    control = tuple(dict.fromkeys((*product.control, *add.control)))
    parts = (*(product.fused_from or (product.name,)), *(add.fused_from or (add.name,)))
    return replace(made, index=add.index, outputs=add.outputs, origin=origin, control=control, fused_from=parts)


_PADDED = frozenset({"float16", "float32", "int32", "int8", "uint8"})


def _pad(it: FusionGraph) -> Iterator[Change]:
    """2022: Pad with constant paddings, known shapes and a dtype of PadD becomes PadD."""
    for node in it.of("Pad"):
        is_known = not _is_unknown((*node.inputs, *node.outputs))
        if it.is_const(node, 1) and is_known and node.inputs[0].first_dtype in _PADDED:
            yield Change(node.index, _without_inputs(node, "PadD", {1}))


def _tile(it: FusionGraph) -> Iterator[Change]:
    """2022: Tile with constant multiples and known shapes becomes TileD; it is removed if it repeats nothing."""
    for node in it.of("Tile"):
        before, after = node.inputs[0].shape, node.outputs[0].shape
        if not it.is_const(node, 1) or None in (before, after) or _is_unknown((*node.inputs, *node.outputs)):
            continue
        if before == after:
            yield Change(node.index, None, {node.index: node.sources[0]})
        else:
            yield Change(node.index, _without_inputs(node, "TileD", {1}), checked=True)


def _concat(it: FusionGraph) -> Iterator[Change]:
    """2022: ConcatV2 with a constant axis, its last input, becomes ConcatV2D."""
    for node in it.of("ConcatV2"):
        last = len(node.sources) - 1
        if last > 0 and it.is_const(node, last):
            yield Change(node.index, _without_inputs(node, "ConcatV2D", {last}))


RULES: dict[str, Rule] = {
    "DropOutPass": _drop_out,
    "IdentityPass": _identity,
    "AReduceMeanFusionPass": _reduced_away("ReduceMean"),
    "AReduceSumFusionPass": _reduced_away("ReduceSum"),
    "ArgMaxV2FusionPass": _arg_max,
    "CommonGRUFusionPass": _gru,
    "ConstToAttrStridedSliceV2Fusion": _strided_slice,
    "Globalavgpoolpass": _global_average_pool,
    "ConstToAttrPass": _const_to_attr("ConstToAttrPass", prefers_own=True),
    "PadFusionPass": _pad,
    "TileConstToAttrFusion": _tile,
    "ConstToAttrReduceSumFusion": _const_to_attr("ConstToAttrReduceSumFusion"),
    "CastRemoveFusionPass": _cast,
    "CommonLSTMFusionPass": _lstm,
    "ConstToAttrGatherV2Fusion": _gather,
    "OneHotFusionPass": _const_to_attr("OneHotFusionPass"),
    "ZConcatExt2FusionPass": _concat,
    "ZConcatFusionPass": _const_to_attr("ZConcatFusionPass"),
    "ZSplitFusionPass": _const_to_attr("ZSplitFusionPass", prefers_own=True),
    "ZSplitVFusionPass": _const_to_attr("ZSplitVFusionPass"),
    "MatMulBiasAddFusionPass": _mat_mul_bias_add,
    "BatchNormBnInferFusionPass": _batch_norm,
}
"""By the compiler's name of the pass, in the order in which it runs them: the preparation's, those with a priority
below 5000 in CANN's fusion_config.json by it, those without one by name, the others by priority (hicann/ge ffdcbc9f,
compiler/engines/nn_engine/fusion/fusion_config_manager/fusion_priority_manager.cc:445-530; the file is in
tests/engines/nn_engine/depends/CANN_910b_stub)."""
