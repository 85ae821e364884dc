"""Small models for the tests of `opsinfo graph`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ge_dump import ge_dump

Graph = dict[str, Any]

_SOURCES = {"x": "Data", "w": "Const"}
_WEIGHTED = ("Conv2D", "MatMulV2", "Mul")


def chain(types: Mapping[str, str]) -> Graph:
    """Operators, name -> op type, each of which reads the one before it; the first reads ``x``.

    Those of two inputs read the constant ``w`` as well.
    """
    nodes: list[dict[str, Any]] = [{"name": name, "type": of, "out": ["f32"]} for name, of in _SOURCES.items()]
    before = "x:0"
    for name, op_type in types.items():
        inputs = [before, "w:0"] if op_type in _WEIGHTED else [before]
        nodes.append({"name": name, "type": op_type, "inputs": inputs, "out": ["f32"]})
        before = f"{name}:0"
    return {"nodes": [*nodes, {"name": "output", "type": "NetOutput", "inputs": [before]}]}


CLASSIFIER = chain({"fc/matmul": "MatMulV2", "relu": "Relu", "log": "Log"})
"""A white, a gray and a black operator of the fixture ``opp``, in this order; the gray one follows the white one."""

COMPILED: Graph = {
    "nodes": [
        {"name": "x", "type": "Data", "out": ["f32"]},
        {"name": "w", "type": "Const", "out": ["f16"]},
        {"name": "trans_Cast_0", "type": "Cast", "inputs": ["x:0"], "in": ["f32"], "out": ["f16"]},
        {
            "name": "fc/matmulrelu",
            "type": "MatMulV2",
            "inputs": ["trans_Cast_0:0", "w:0"],
            "out": ["f16"],
            "in": ["f16", "f16"],
            "first_in": ["f32", "f32"],
            "first_out": ["f32"],
            "fused": ["fc/matmul", "relu"],
        },
        {"name": "trans_Cast_1", "type": "Cast", "inputs": ["fc/matmulrelu:0"], "in": ["f16"], "out": ["f32"]},
        {"name": "log", "type": "Log", "inputs": ["trans_Cast_1:0"], "in": ["f32"], "out": ["f32"]},
        {"name": "output", "type": "NetOutput", "inputs": ["log:0"], "in": ["f32"]},
    ]
}
"""The same compiled in mixed_float16, with relu fused into the product."""


def dump(folder: Path, graph: Graph = CLASSIFIER, stage: str = "FeTopoSortingAfter", **facts: str) -> Path:
    """A GE dump of a graph, by its path."""
    path = folder / f"ge_proto_00020_{stage}.txt"
    path.write_text(ge_dump(graph, facts), "utf-8")
    return path


def onnx_model(folder: Path, weights: Any = None, external: bool = False) -> Path:
    """An ONNX model ``y = relu(x @ w)``; the ``onnx`` package must be there."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    values = numpy.ones((2, 2), "f4") if weights is None else numpy.array(weights, "f4")
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["a"], name="fc"),
        helper.make_node("Relu", ["a"], ["y"], name="relu"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(values, "w")])
    path = folder / "model.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    if external:
        onnx.save_model(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    else:
        onnx.save_model(model, path)
    return path
