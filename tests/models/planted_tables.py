"""Tables as msaccucmp writes them, of models computed node by node with one culprit planted: not the simulation's code.

A device operator is a node of the judged graph, or two of them that a fusion of the device's own joined. As in real
tables, rows are not in the order of the graph, some are missing or were not compared, some operators are the device's
own, and every number has noise.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from node_by_node import NodeByNode, Values
from onnx import helper, numpy_helper

from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.result import Answer

HEADER = (
    "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,CosineSimilarity,"
    "MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation,"
    "MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason,IsNpuOps,IsOutputNode,"
    "IsPrecisionError"
)
KINDS = ("coarse", "noise", "flushed", "overflow")


def spoiled(value: Any, kind: str, rng: np.random.Generator) -> Any:
    """A result that lost digits, got noise, lost its small values, or overflowed at its largest ones."""
    if kind == "coarse":
        mantissa, exponent = np.frexp(value)
        return np.ldexp(np.rint(mantissa * 2) / 2, exponent).astype(value.dtype)
    if kind == "noise":
        size = float(np.sqrt(np.mean(np.square(value, dtype=np.float64)))) or 1.0
        return (value + rng.normal(0, 0.4 * size, value.shape)).astype(value.dtype)
    magnitudes = np.abs(value)
    if kind == "flushed":
        return np.where(magnitudes < np.quantile(magnitudes, 0.9), 0, value).astype(value.dtype)
    return np.where(magnitudes >= np.quantile(magnitudes, 0.995), np.copysign(65504, value), value).astype(value.dtype)


class Device(NodeByNode):
    """A model as it runs on a device, with a culprit that acts as long as it is low.

    :ivar seen: what each node read and yielded, by its name
    """

    def __init__(self, model: onnx.ModelProto, answer: Answer | None, culprit: str = "", kind: str = "") -> None:
        super().__init__(model, answer)
        self.culprit, self.kind = culprit, kind
        self.seen: dict[str, tuple[list[Any], list[Any]]] = {}

    def node(self, node: onnx.NodeProto, values: Values) -> list[Any]:
        found = super().node(node, values)
        if node.name == self.culprit and self.answer is not None:
            row = self.answer.find(node.name)
            if row is not None and row.low:
                rng = np.random.default_rng(len(node.name))
                found = [spoiled(each, self.kind, rng) if _is_float(each) else each for each in found]
        if node.op_type != "Constant":
            self.seen[node.name] = [values[name] if name else None for name in node.input], found
        return found


def _is_float(value: Any) -> bool:
    return getattr(value, "dtype", None) == np.float32


@dataclass
class Operator:
    """An operator of the device: the nodes of the model that it computes, the last one yields its output."""

    nodes: list[str]
    type: str
    name: str = ""
    inputs: list[tuple[Any, Any]] = field(default_factory=list)


def operators_of(graph: ModelGraph, known: set[str], dice: random.Random) -> list[Operator]:
    """The device's operators: nodes of the judged graph, of which some pairs are one."""
    found: list[Operator] = []
    readers: dict[int, list[int]] = {}
    for node in graph:
        for source in node.sources:
            if source is not None:
                readers.setdefault(source.node, []).append(node.index)
    taken: set[int] = set()
    for node in graph:
        own = [name for name in (node.fused_names or (node.name,)) if name in known]
        if not own or node.index in taken:
            continue
        following = readers.get(node.index, [])
        joined = graph[following[0]] if len(following) == 1 and dice.random() < 0.1 else None
        more = [name for name in (joined.fused_names or (joined.name,)) if name in known] if joined else []
        if joined is not None and more and joined.index not in taken:
            taken.add(joined.index)
            found.append(Operator([*own, *more], "", f"{own[-1]}{more[-1]}"))
        else:
            found.append(Operator(own, node.type, node.name))
    return found


def write_table(
    path: Path, graph: ModelGraph, reference: Device, device: Device, dice: random.Random, overflowed: str
) -> None:
    """:param overflowed: the node with an overflow; empty for none"""
    rows: list[list[object]] = []
    for index, operator in enumerate(operators_of(graph, set(device.seen), dice)):
        last, first = operator.nodes[-1], operator.nodes[0]
        row = device.answer.find(last) if device.answer else None
        dtype = next(iter(row.outputs), None) if row else None
        has_inputs = dice.random() < 0.7
        sides = [
            ("output", at, *pair)
            for at, pair in enumerate(zip(device.seen[last][1], reference.seen[last][1], strict=False))
        ]
        if has_inputs:
            pairs = zip(device.seen[first][0], reference.seen[first][0], strict=False)
            sides += [("input", at, *pair) for at, pair in enumerate(pairs)]
        for side, at, own, truth in sides:
            if own is None or dice.random() < 0.05:  # a missing row
                continue
            flag = "YES" if overflowed in operator.nodes and overflowed and side == "output" else "NO"
            head = [
                index,
                operator.type,
                operator.name,
                dtype or "NaN",
                "NaN",
                ",".join(operator.nodes),
                "float32",
                "NaN",
            ]
            rows.append(
                [
                    *head,
                    f"{operator.name}:{side}:{at}",
                    list(own.shape),
                    flag,
                    *_numbers(own, truth, dice),
                    "NO",
                    "NO",
                    "NO",
                ]
            )
    for at in range(len(rows) // 10):
        name = f"trans_{dice.choice(['TransData', 'Cast'])}_{at}"
        head = [
            len(rows) + at,
            name.split("_")[1],
            name,
            "float16",
            "NaN",
            "*",
            "NaN",
            "NaN",
            f"{name}:output:0",
            "[1]",
        ]
        rows.append([*head, "NO", *["NaN"] * 10, f"[{name}] There is no ground truth", "YES", "NO", "NO"])
    dice.shuffle(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER.split(","), *rows])


def _numbers(own: Any, truth: Any, dice: random.Random) -> list[object]:
    """The metrics of two tensors, with noise; NaN for what is not compared."""
    if not _is_float(own) or not _is_float(truth) or own.shape != truth.shape or dice.random() < 0.02:
        return [*["NaN"] * 10, "cannot be compared"]
    a, b = own.astype(np.float64).ravel(), truth.astype(np.float64).ravel()
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return [*["NaN"] * 10, "Inf or NaN"]
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    cosine = float(a @ b) / size if size else float("nan")
    length = float(np.linalg.norm(b))
    distance = float(np.linalg.norm(a - b)) / length if length else float("nan")
    cosine -= abs(dice.gauss(0, 2e-4))
    distance += abs(dice.gauss(0, 2e-3))
    rest = [dice.random() * 3 for _ in range(7)]  # absolute errors may be anything
    return [
        f"{cosine:.6f}" if cosine == cosine else "NaN",
        f"{rest[0]:.6f}",
        f"{rest[1]:.6f}",
        f"{distance:.6f}" if distance == distance else "NaN",
        f"{rest[2]:.6f}",
        f"({b.mean():.3f};{b.std():.3f}),({a.mean():.3f};{a.std():.3f})",
        *(f"{each:.6f}" for each in rest[3:]),
        "",
    ]


def output_error(found: list[Any], truth: list[Any]) -> float:
    """The largest relative distance of the outputs."""
    errors = [0.0]
    for own, other in zip(found, truth, strict=True):
        if _is_float(own):
            if not np.isfinite(own).all():
                return float("inf")
            length = float(np.linalg.norm(other.astype(np.float64))) or 1.0
            errors.append(float(np.linalg.norm(own.astype(np.float64) - other)) / length)
    return max(errors)


# models of our own, with the shapes of real ones


def made_models() -> Iterator[tuple[str, onnx.ModelProto]]:
    yield "mlp", _made(_mlp)
    yield "transformer", _made(_transformer)
    yield "residual", _made(_residual)
    yield "gated", _made(_gated)
    yield "convolutions", _made(_convolutions, (1, 3, 32, 32))


class _Net:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"/{op.lower()}_{len(self.nodes)}/{op}"
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], name=name, **attributes))
        return self.nodes[-1].output[0]

    def weight(self, *shape: int, scale: float = 1.0) -> str:
        name = f"w{len(self.weights)}"
        values = self.rng.normal(0, scale / np.sqrt(max(shape[0], 1)), shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def dense(self, x: str, before: int, after: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(before, after)), self.weight(after))

    def norm(self, x: str, size: int) -> str:
        centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        variance = self.add("ReduceMean", self.add("Mul", centred, centred), axes=[-1])
        self.weights.append(numpy_helper.from_array(np.array(1e-5, np.float32), f"e{len(self.weights)}"))
        deviation = self.add("Sqrt", self.add("Add", variance, self.weights[-1].name))
        return self.add("Mul", self.add("Div", centred, deviation), self.weight(size, scale=4.0))


def _made(build: Callable[[_Net, str], str], shape: tuple[int, ...] = (4, 64)) -> onnx.ModelProto:
    net = _Net(len(build.__name__))
    y = build(net, "x")
    given = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        net.nodes, build.__name__, [given], [helper.make_tensor_value_info(y, 1, None)], net.weights
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _mlp(net: _Net, x: str) -> str:
    for act in ("Relu", "Tanh", "Sigmoid", "Relu", "Tanh", "Softplus"):
        x = net.add(act, net.dense(x, 64, 64))
    return net.add("Softmax", net.dense(x, 64, 16), axis=-1)


def _transformer(net: _Net, x: str) -> str:
    for _ in range(4):
        y = net.norm(x, 64)
        q, k, v = (net.dense(y, 64, 64) for _ in range(3))
        scores = net.add("Softmax", net.add("MatMul", q, net.add("Transpose", k, perm=[1, 0])), axis=-1)
        x = net.add("Add", x, net.dense(net.add("MatMul", scores, v), 64, 64))
        y = net.dense(net.norm(x, 64), 64, 128)
        x = net.add("Add", x, net.dense(net.add("Mul", y, net.add("Sigmoid", y)), 128, 64))
    return net.norm(x, 64)


def _residual(net: _Net, x: str) -> str:
    for _ in range(6):
        x = net.add("Add", x, net.dense(net.add("Relu", net.dense(x, 64, 64)), 64, 64))
    return net.norm(x, 64)


def _gated(net: _Net, x: str) -> str:
    for _ in range(5):
        gate, value = net.add("Sigmoid", net.dense(x, 64, 64)), net.add("Tanh", net.dense(x, 64, 64))
        x = net.add("Div", net.add("Mul", gate, value), net.add("Exp", net.add("Abs", net.dense(x, 64, 64))))
        x = net.norm(x, 64)
    return x


def _convolutions(net: _Net, x: str) -> str:
    channels = 3
    for size in (8, 8, 16, 16):
        weights = net.weight(size, channels, 3, 3, scale=0.5)
        y = net.add("Conv", x, weights, net.weight(size), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = net.add("Mul", y, net.add("Sigmoid", y))
        channels = size
    return net.dense(net.add("Flatten", net.add("GlobalAveragePool", x)), 16, 10)
