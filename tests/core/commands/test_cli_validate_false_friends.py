"""`opsinfo validate`: op types that are also names of ONNX or TensorFlow operators, which become other op types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, mixlist, write
from library_files import library

FRIENDS = {
    "Concat": "ConcatD",
    "Div": "RealDiv",
    "Gather": "GatherV2",
    "GridSample": "GridSampler2D",
    "MatMul": "BatchMatMulV2",
    "PSROIPooling": "PSROIPoolingV2",
    "Pad": "PadV3",
    "Scatter": "ScatterElements",
    "Slice": "StridedSliceV2",
    "Upsample": "Resize",
    "ReduceLogSum": "ReduceSum",
}
"""By hand, from the plugins of hicann/ops-math, ops-nn and ops-cv: an ONNX operator, and an op type that it becomes."""


@pytest.fixture
def against(tmp_path: Path) -> Path:
    names = {*FRIENDS, *FRIENDS.values(), "Relu", "AddV2", "Add", "BatchMatMulV3", "TopKV2", "TopK", "Log"}
    return write(tmp_path / "aic-ascend910b-ops-info.json", json.dumps(library(dict.fromkeys(names, "true"))))


def found(opsinfo: Run, *words: Any) -> list[dict[str, Any]]:
    document = opsinfo("validate", *words, "--format", "json").json
    return [each for each in document["findings"] if each["name"] == "false-friend"]


@pytest.mark.parametrize("name", FRIENDS)
def test_the_name_of_an_onnx_operator_that_becomes_another_op_type_is_a_note(
    opsinfo: Run, against: Path, tmp_path: Path, name: str
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu", name]))
    (note,) = found(opsinfo, file, "--against", against)
    assert (note["code"], note["severity"], note["engine"]) == ("M012", "note", "accepts")
    assert note["pointer"] == "/black-list/to-add/1"
    assert f"ONNX's `{name}` becomes " in note["message"]
    assert f"`{FRIENDS[name]}`" in note["message"]
    assert opsinfo("validate", file, "--against", against).code == 0


@pytest.mark.parametrize(
    "names",
    [
        ["Relu", "Log", "Add"],
        ["Div", "RealDiv"],
        ["BatchMatMulV3", "TopKV2", "AddV2"],
        ["GatherV2", "RealDiv", "PadV3"],
    ],
    ids=["the same name", "both are listed", "a later form that fusion may make", "what they become"],
)
def test_other_names_are_no_false_friends(opsinfo: Run, against: Path, tmp_path: Path, names: list[str]) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=names))
    assert found(opsinfo, file, "--against", against) == []


def test_both_frameworks_are_named_where_they_differ(opsinfo: Run, against: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["MatMul"]))
    (note,) = found(opsinfo, file, "--against", against)
    assert note["message"].endswith("ONNX's `MatMul` becomes `BatchMatMulV2`, TensorFlow's `MatMul` becomes `MatMulV2`")


def test_a_name_that_the_target_lacks_is_unknown_and_no_false_friend(opsinfo: Run, tmp_path: Path) -> None:
    target = write(tmp_path / "aic-ascend910b-ops-info.json", json.dumps(library({"RealDiv": "true"})))
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Div"]))
    assert found(opsinfo, file, "--against", target) == []


def _onnx(path: Path, *ops: str) -> Path:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    values = [onnx.helper.make_tensor_value_info(name, 1, [2, 2]) for name in ("a", "b", "y")]
    inputs = ["a", *(f"v{number}" for number in range(1, len(ops))), "y"]
    nodes = [
        onnx.helper.make_node(
            op, [inputs[number], "b"][: 1 if op == "Relu" else 2], [inputs[number + 1]], f"net/{number}"
        )
        for number, op in enumerate(ops)
    ]
    graph = onnx.helper.make_graph(nodes, "g", values[:2], values[2:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_with_a_model_it_is_a_warning_that_names_the_nodes(opsinfo: Run, against: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Div"]))
    model = _onnx(tmp_path / "model.onnx", "Div", "Relu", "Div")
    ran = opsinfo("validate", file, "--against", against, "--model", model, "--format", "json")
    (warning,) = ran.json["findings"]
    assert (warning["name"], warning["severity"], warning["fixable"]) == ("false-friend", "warning", True)
    assert warning["message"].endswith("2 operators of that name become `RealDiv`, such as `net/0`, `net/2`")
    assert warning["hint"] == "name `RealDiv`"


def test_with_a_model_of_other_operators_it_is_only_not_in_the_model(
    opsinfo: Run, against: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Div"]))
    model = _onnx(tmp_path / "model.onnx", "Add", "Relu")
    ran = opsinfo("validate", file, "--against", against, "--model", model, "--format", "json")
    assert [each["name"] for each in ran.json["findings"]] == ["not-in-model"]


def test_with_a_model_what_its_operators_become_may_be_listed_beside_the_name(
    opsinfo: Run, against: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["MatMul", "BatchMatMulV2"]))
    model = _onnx(tmp_path / "model.onnx", "MatMul", "Relu")
    assert found(opsinfo, file, "--against", against, "--model", model) == []


def test_operators_of_tensorflow_are_named_as_well(opsinfo: Run, against: Path, tmp_path: Path) -> None:
    text = """
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "cell/add" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    """
    model = write(tmp_path / "model.pbtxt", text)
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["AddV2"]))
    (warning,) = found(opsinfo, file, "--against", against, "--model", model)
    assert warning["message"].endswith("its 1 operator of that name become `Add`, such as `cell/add`")
