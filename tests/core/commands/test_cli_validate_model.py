"""`opsinfo validate --model`: the effect of a mixlist's entries on the nodes of a model."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
from cli_support import Run, finding_names, mixlist, write
from model_files import CLASSIFIER, dump, onnx_model


@pytest.fixture
def target(opp: Path) -> list[str | Path]:
    return ["--against", opp, "--soc", "ascend910b", "--precision-mode", "mixed_float16"]


def test_an_entry_that_changes_a_dtype_in_the_model_is_clean(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("validate", file, *target, "--model", dump(tmp_path), "--format", "json")
    assert (ran.code, ran.json["findings"]) == (0, [])


def test_a_type_that_no_model_has_is_warned_of_at_its_entry(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu", "SoftmaxV2"]))
    ran = opsinfo("validate", file, *target, "--model", dump(tmp_path), "--format", "json")
    (found,) = ran.json["findings"]
    assert (ran.code, found["name"], found["code"], found["severity"]) == (0, "not-in-model", "G001", "warning")
    assert found["pointer"] == "/black-list/to-add/1"


def test_a_type_in_one_of_two_models_is_in_the_models(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    other = copy.deepcopy(CLASSIFIER)
    other["nodes"][3]["type"] = "SoftmaxV2"
    models = [dump(tmp_path), dump(tmp_path, other, "Other")]
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["SoftmaxV2"]))
    given = [word for model in models for word in ("--model", model)]
    assert opsinfo("validate", file, *target, *given, "--format", "json").json["findings"] == []


@pytest.mark.parametrize(("op_type", "found"), [("DynamicRNN", []), ("LSTM", ["not-in-model"])])
def test_an_option_file_may_name_what_fusion_makes_of_a_model(
    opsinfo: Run, tmp_path: Path, op_type: str, found: list[str]
) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    shapes = {"x": [3, 1, 2], "w": [1, 8, 2], "y": [3, 1, 1, 2]}
    values = {name: onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()}
    node = onnx.helper.make_node("LSTM", ["x", "w", "w"], ["y"], hidden_size=2)
    graph = onnx.helper.make_graph([node], "g", [values["x"], values["w"]], [values["y"]])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "customize_dtypes.cfg").write_text(f"OpType::{op_type}:InputDtype:float32\n", "utf-8")
    ran = opsinfo("validate", tmp_path / "customize_dtypes.cfg", "--model", tmp_path / "model.onnx", "--format", "json")
    assert finding_names(ran) == found


def test_an_entry_that_changes_no_dtype_is_warned_of(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    graph = copy.deepcopy(CLASSIFIER)
    graph["nodes"][2:3] = []
    graph["nodes"][2]["inputs"] = ["x:0"]
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("validate", file, *target, "--model", dump(tmp_path, graph), "--format", "json")
    assert finding_names(ran) == ["no-effect-in-model"]


def test_a_snapshot_gives_the_findings_of_its_install_on_a_model(
    opsinfo: Run, opp: Path, target: list[str | Path], tmp_path: Path
) -> None:
    snapshot = tmp_path / "ascend910b.opsinfo.json"
    assert opsinfo("snapshot", opp, "--soc", "ascend910b", "-o", snapshot).code == 0
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu", "L2Loss", "AvgPoolGradD"], white_add=["Log"]))
    found = []
    for words in (target, ["--against", snapshot, *target[-2:]]):
        ran = opsinfo("validate", file, *words, "--model", dump(tmp_path), "--format", "json")
        findings = ran.json["findings"]
        found.append([(each["name"], each["pointer"], each["message"].split(" in ascend")[0]) for each in findings])
        assert "assumed" not in ran.err
    assert found[0] == found[1]
    assert {name for name, _, _ in found[0]} >= {"not-in-model"}


def test_a_black_type_whose_kernel_has_no_float32_column_is_an_error(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    tensors = {"paramType": "required", "dtype": "float16", "format": "ND"}
    entry = {"input0": {**tensors, "name": "x"}, "output0": {**tensors, "name": "y"}}
    library = write(tmp_path / "aic-test-ops-info.json", {"Relu": entry})
    graph = {"nodes": [CLASSIFIER["nodes"][0], {**CLASSIFIER["nodes"][3], "inputs": ["x:0"]}]}
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    against = ["--against", library, "--precision-mode", "mixed_float16"]
    ran = opsinfo("validate", file, *against, "--model", dump(tmp_path, graph), "--format", "json")
    assert ran.code == 1
    assert "black-refused-in-model" in finding_names(ran)


def test_a_constant_out_of_range_is_found_unless_its_operator_is_black(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    model = onnx_model(tmp_path, [[1, 70000.0], [0, -1]])
    plain = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    assert finding_names(opsinfo("validate", plain, *target, "--model", model, "--format", "json")) == [
        "constant-out-of-range"
    ]
    black = write(tmp_path / "ops_info.json", mixlist(black_add=["MatMulV2"], white_remove=["MatMulV2"]))
    found = finding_names(opsinfo("validate", black, *target, "--model", model, "--format", "json"))
    assert "constant-out-of-range" not in found


@pytest.mark.parametrize(
    ("soc", "options", "low"),
    [
        (["ascend910b"], [], ["float16", "bfloat16"]),
        (["ascend910"], [], ["float16"]),  # it has no mixed_bfloat16
        (["ascend910"], ["mixed_bfloat16"], ["bfloat16"]),
        (["ascend910b", "ascend910"], ["mixed_float16"], ["float16"]),
    ],
    ids=["both modes", "the modes of the chip", "the mode that is given", "two chips of one answer"],
)
def test_a_constant_is_named_once_for_each_dtype_of_the_modes(
    opsinfo: Run, opp: Path, tmp_path: Path, soc: list[str], options: list[str], low: list[str]
) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    model = onnx_model(tmp_path, [[1, 3.4e38], [0, -1]])
    words = [word for each in soc for word in ("--against", f"{opp}@{each}")]
    words += [word for mode in options for word in ("--precision-mode", mode)]
    ran = opsinfo("validate", file, *words, "--model", model, "--format", "json")
    found = [each["message"] for each in ran.json["findings"] if each["name"] == "constant-out-of-range"]
    assert [re.findall("values overflow ([a-z0-9]+),", message) for message in found] == [[dtype] for dtype in low]


def test_a_lone_library_is_judged_in_both_mixed_modes(opsinfo: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    tensors = {"paramType": "required", "dtype": "float16,bfloat16,float", "format": "ND,ND,ND"}
    entry = {
        "input0": {**tensors, "name": "x"},
        "input1": {**tensors, "name": "w"},
        "output0": {**tensors, "name": "y"},
    }
    library = write(tmp_path / "library.json", {"MatMulV2": {**entry, "precision_reduce": {"flag": "true"}}})
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    model = onnx_model(tmp_path, [[1, 3.4e38], [0, -1]])
    ran = opsinfo("validate", file, "--against", library, "--model", model, "--format", "concise")
    assert "overflow float16" in ran.out
    assert "overflow bfloat16" in ran.out


def test_the_configuration_names_models_relative_to_itself(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "opsinfo.toml", f'against = ["{opp}"]\nsoc = ["ascend910b"]\nmodel = ["{dump(tmp_path).name}"]\n')
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["SoftmaxV2"]))
    ran = opsinfo(
        "validate", file, "--config", tmp_path / "opsinfo.toml", "--format", "json", cwd=tmp_path / "elsewhere"
    )
    assert finding_names(ran) == ["not-in-model"]


def test_a_model_needs_a_target_and_must_be_readable(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("validate", file, "--model", dump(tmp_path))
    assert (ran.code, "--model requires --against" in ran.err) == (2, True)
    assert opsinfo("validate", file, *target, "--model", tmp_path / "missing.om").code == 3


# merge --minimize


def test_minimize_drops_entries_that_change_nothing_in_the_model(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu", "SoftmaxV2"]))
    arguments = ["merge", "--minimize", file, *target[:4]]
    document = opsinfo(*arguments, "--model", dump(tmp_path), "--format", "json").json
    assert document["mixlist"] == mixlist(black_add=["Relu"])
    (dropped,) = document["dropped"]
    assert (dropped["name"], dropped["reason"]) == ("SoftmaxV2", "no-effect-in-model")
    assert opsinfo(*arguments, "--check").code == 0
    assert opsinfo(*arguments, "--model", dump(tmp_path), "--check").code == 1


def test_minimize_drops_an_entry_that_follows_from_another(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    graph = copy.deepcopy(CLASSIFIER)
    extra = {"name": "sum", "type": "SoftmaxV2", "inputs": ["relu:0"], "out": ["f32"]}
    graph["nodes"][4:4] = [extra]
    graph["nodes"][5]["inputs"] = ["sum:0"]
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu", "SoftmaxV2"]))
    ran = opsinfo("merge", "--minimize", file, *target[:4], "--model", dump(tmp_path, graph), "--format", "json")
    assert ran.json["mixlist"] == mixlist(black_add=["Relu"])


def test_minimize_for_a_model_needs_a_target(opsinfo: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    assert opsinfo("merge", "--minimize", file, "--model", dump(tmp_path)).code == 2
