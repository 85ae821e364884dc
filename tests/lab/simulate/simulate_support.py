"""Small ONNX models, and a simulation of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from opsinfo_cli.lab.graph.prepare import PreparedModel, prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.simulate.inputs import InputSet
from opsinfo_cli.lab.simulate.simulation import Simulation

FLOAT, INT64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
Nodes = Sequence[onnx.NodeProto]
node = helper.make_node
value = helper.make_tensor_value_info


def save(
    folder: Path,
    nodes: Nodes,
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Mapping[str, Any] | None = None,
    opset: int = 17,
) -> str:
    """Write a model, and return its path."""
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), initializers)
    path = folder / "model.onnx"
    onnx.save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return str(path)


def all_low(path: str) -> PreparedModel:
    """A model judged without a library: in ``force_fp16`` every tensor of every node is float16."""
    return prepare(read_graph(path), None)


def simulation(path: str, feeds: Mapping[str, Any], mode: str = "force_fp16", **options: Any) -> Simulation:
    return Simulation(path, all_low(path), mode, [InputSet("given", dict(feeds))], **options)


def outputs_of(made: Simulation) -> list[Any]:
    """Return the outputs of the rounded model."""
    return list(made.session(made.plan()).run(made.inputs[0].feeds))
