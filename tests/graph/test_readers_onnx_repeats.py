"""Inference of one ONNX node of each kind: the same answer as inference of the whole model, or none."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.graph.graph import GraphTensor
from opsinfo_cli.graph.readers import onnx_repeats
from opsinfo_cli.graph.readers.onnx_repeats import infer_repeats
from opsinfo_cli.graph.readers.onnx_structure import OnnxModel, parse_onnx
from opsinfo_cli.graph.readers.onnx_types import infer
from opsinfo_cli.graph.readers.slim import Slim

onnx = pytest.importorskip("onnx")

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
BY_ITSELF = {"densenet121", "inception_v2", "resnet50", "shufflenet", "zfnet512"}
"""Networks without the optional second output of Dropout, whose type only the whole model's inference leaves open."""


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_repeats, "_MANY", 0)


def _parsed(data: bytes) -> OnnxModel:
    return parse_onnx(Slim(data, array("q", [0]), array("q", [0])), "model.onnx")


def _both(data: bytes) -> tuple[dict[str, GraphTensor] | None, dict[str, GraphTensor]]:
    """Return the tensors of inference by kinds, None if it gave up, and those of the whole model."""
    kinds, whole = _parsed(data), _parsed(data)
    before = dict(kinds.graph.tensors)
    done = infer_repeats(kinds)
    assert done or kinds.graph.tensors == before
    infer(whole.graph, data)
    return (kinds.graph.tensors if done else None), whole.graph.tensors


def _model(nodes: list[Any], constants: list[Any] = (), known: list[Any] = (), opset: int = 17) -> bytes:  # type: ignore[assignment]
    helper = onnx.helper
    ends = [helper.make_tensor_value_info(name, 1, [4, 6]) for name in ("x",)]
    out = [helper.make_empty_tensor_value_info(nodes[-1].output[0])]
    graph = helper.make_graph(nodes, "g", ends, out, list(constants), value_info=list(known))
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]).SerializeToString()
    return data


@pytest.mark.parametrize("path", sorted(DATA.glob("light/*.onnx")), ids=lambda path: path.stem)
def test_real_networks_get_the_types_of_whole_inference(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_repeats, "_FIRST_KINDS", 1 << 30)
    kinds, whole = _both(path.read_bytes())
    assert (kinds is not None) == (path.stem.removeprefix("light_") in BY_ITSELF)
    assert kinds in (None, whole)


def test_every_operator_gets_the_types_of_whole_inference() -> None:
    from onnx.backend.test.loader import load_model_tests

    compared = 0
    for case in load_model_tests(kind="simple") + load_model_tests(kind="pytorch-operator"):
        kinds, whole = _both(Path(case.model_dir, "model.onnx").read_bytes())
        compared += kinds is not None
        assert kinds in (None, whole), case.name
    assert compared > 20


def test_values_of_small_constants_distinguish_nodes() -> None:
    tensor, node = onnx.helper.make_tensor, onnx.helper.make_node
    nodes = [node("Reshape", ["x", "a"], ["y"]), node("Reshape", ["x", "b"], ["z"])]
    kinds, whole = _both(_model(nodes, [tensor("a", 7, [2], [8, 3]), tensor("b", 7, [2], [3, 8])]))
    assert kinds == whole
    assert (whole["y"].shape, whole["z"].shape) == ((8, 3), (3, 8))


def test_attributes_distinguish_nodes() -> None:
    nodes = [onnx.helper.make_node("Cast", ["x"], [name], to=to) for name, to in (("y", 10), ("z", 7))]
    kinds, whole = _both(_model(nodes))
    assert kinds == whole
    assert (whole["y"].dtype, whole["z"].dtype) == ("float16", "int64")


def test_dimensions_of_the_file_and_of_inference_are_merged() -> None:
    info = onnx.helper.make_tensor_value_info
    nodes = [onnx.helper.make_node("Relu", [begin], [end]) for begin, end in (("x", "y"), ("y", "z"))]
    kinds, whole = _both(_model(nodes, known=[info("y", 1, ["n", 6])]))
    assert kinds == whole
    assert whole["y"].shape == (4, 6)


@pytest.mark.parametrize(
    "node",
    [
        lambda make: make("Relu", ["nothing"], ["y"]),
        lambda make: make("Odd", ["x"], ["y"], domain="my.own"),
        lambda make: make("SequenceConstruct", ["x"], ["y"]),
        lambda make: make("Constant", [], ["y"], value_ints=[1, 2]),
        lambda make: make("MatMul", ["x", "x"], ["y"]),
    ],
    ids=["unknown input", "foreign domain", "sequence", "constant attribute", "wrong shapes"],
)
def test_a_node_that_needs_the_whole_model_leaves_the_graph_unchanged(node: Any) -> None:
    kinds, _ = _both(_model([node(onnx.helper.make_node)]))
    assert kinds is None


def test_a_contradiction_leaves_the_graph_unchanged() -> None:
    info = onnx.helper.make_tensor_value_info("y", 10, [4, 6])
    kinds, _ = _both(_model([onnx.helper.make_node("Relu", ["x"], ["y"])], known=[info]))
    assert kinds is None


def test_a_model_that_does_not_repeat_itself_leaves_the_graph_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_repeats, "_FIRST_KINDS", 1)
    ops = ("Relu", "Exp", "Abs", "Neg")
    kinds, _ = _both(_model([onnx.helper.make_node(op, ["x"], [op]) for op in ops]))
    assert kinds is None
