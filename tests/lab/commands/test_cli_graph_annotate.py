"""`opsinfo graph --annotate`: a model with dtype and reason in its nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run
from model_files import dump, onnx_model

onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")


@pytest.fixture
def target(opp: Path) -> list[str | Path]:
    return ["--against", opp, "--soc", "ascend910b", "--precision-mode", "mixed_float16"]


def test_every_node_has_its_dtypes_and_the_reason(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    path = onnx_model(tmp_path)
    model = onnx.load(path)
    model.graph.node[0].doc_string = "the last layer"
    model.graph.node[1].name = ""
    onnx.save_model(model, path)
    out = tmp_path / "annotated.onnx"
    ran = opsinfo("graph", path, *target, "--annotate", out)
    assert ran.code == 0
    assert f"wrote {out}: 2 nodes described" in ran.err
    product, relu = onnx.load(out).graph.node
    first, second = product.doc_string.split("\n")
    assert first == "the last layer"
    assert second.startswith("opsinfo, mixed_float16: MatMulV2: inputs float16, float16; outputs float16 (kernel); ")
    assert (relu.name, "outputs float16 (library)" in relu.doc_string) == ("Relu_0", True)
    plain = list(model.graph.node)
    for node in (product, relu, *plain):
        node.ClearField("doc_string")
        node.ClearField("name")
    assert [product, relu] == plain


def test_external_weights_are_not_moved(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    model = onnx_model(tmp_path, external=True)
    (tmp_path / "elsewhere").mkdir()
    ran = opsinfo("graph", model, *target, "--annotate", tmp_path / "elsewhere" / "out.onnx")
    assert (ran.code, "the weights are in other files" in ran.err) == (2, True)
    assert opsinfo("graph", model, *target, "--annotate", tmp_path / "out.onnx").code == 0
    assert onnx.load(tmp_path / "out.onnx").graph.initializer[0].raw_data


def test_values_of_constants_in_other_files_are_not_moved_either(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    tensor = onnx.TensorProto(name="c", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="c.bin")
    (tmp_path / "c.bin").write_bytes(bytes(8))
    nodes = [
        onnx.helper.make_node("Constant", [], ["c"], value=tensor),
        onnx.helper.make_node("Add", ["x", "c"], ["y"]),
    ]
    values = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    made = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", values[:1], values[1:]), opset_imports=[onnx.helper.make_opsetid("", 17)]
    )
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    (tmp_path / "elsewhere").mkdir()
    ran = opsinfo("graph", tmp_path / "model.onnx", *target, "--annotate", tmp_path / "elsewhere" / "out.onnx")
    assert (ran.code, "the weights are in other files" in ran.err) == (2, True)


def test_a_model_with_functions_is_not_annotated(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    path = onnx_model(tmp_path)
    model = onnx.load(path)
    relu = onnx.helper.make_node("Relu", ["a"], ["b"])
    model.functions.append(
        onnx.helper.make_function("local", "F", ["a"], ["b"], [relu], [onnx.helper.make_opsetid("", 17)])
    )
    onnx.save_model(model, path)
    ran = opsinfo("graph", path, *target, "--annotate", tmp_path / "out.onnx")
    assert (ran.code, "cannot describe a model that defines functions" in ran.err) == (2, True)


def test_nothing_is_overwritten_and_only_onnx_is_annotated(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    model = onnx_model(tmp_path)
    before = model.read_bytes()
    assert opsinfo("graph", model, *target, "--annotate", model).code == 2
    assert model.read_bytes() == before
    assert opsinfo("graph", dump(tmp_path), *target, "--annotate", tmp_path / "out.onnx").code == 2
    assert opsinfo("graph", dump(tmp_path), "--annotate", tmp_path / "out.onnx").code == 2
    assert not (tmp_path / "out.onnx").exists()
    assert opsinfo("graph", model, *target, "--annotate", tmp_path / "no" / "out.onnx").code == 3
