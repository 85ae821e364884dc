"""`opsinfo graph --evidence`: suspects, what moves them, and the list that is ready to use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run
from contract import schema_faults

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

HEADER = "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,OverFlow,CosineSimilarity"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy")
    nodes = [
        helper.make_node("MatMul", ["x", "x"], ["a"], name="fc"),
        helper.make_node("Softmax", ["a"], ["b"], name="soft"),
        helper.make_node("Add", ["b", "x"], ["y"], name="add"),
    ]
    path = tmp_path / "model.onnx"
    graph = helper.make_graph(nodes, "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def _table(tmp_path: Path, **cosines: float) -> Path:
    rows = [f"0,T,{name},float16,NaN,{name},float32,NaN,{name}:output:0,NO,{value}" for name, value in cosines.items()]
    path = tmp_path / "result_20260101000000.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    return path


def test_the_culprit_its_list_and_what_moves_it(opsinfo: Run, opp: Path, model: Path, tmp_path: Path) -> None:
    table = _table(tmp_path, add=0.4, soft=0.9999, fc=0.3)
    arguments = ["graph", model, "--against", opp, "--soc", "ascend910b", "--evidence", table]
    ran = opsinfo(*arguments, "--format", "json")
    assert (ran.code, schema_faults(ran.json)) == (0, [])
    evidence = ran.json["evidence"]
    assert (evidence["rows"], evidence["matched"]) == (3, 3)
    first = evidence["suspects"][0]
    assert (first["name"], first["ran"], first["kind"], first["line"]) == ("fc", "float16", "differs", 4)
    assert opsinfo(*arguments).out.startswith("fc\t")
    assert first["movable"] == "mixlist"
    out = tmp_path / "ops_info.json"
    assert opsinfo(*arguments, "--format", "mixlist", "-o", out).code == 0
    assert json.loads(out.read_text("utf-8")) == evidence["mixlist"]
    again = opsinfo(*arguments[:-2], "--mixlist", out, "--match", "fc", "--on", "high", "--format", "json")
    assert [node["name"] for node in again.json["nodes"]] == ["fc"]


def test_a_table_that_agrees_suspects_nothing_and_writes_no_list(
    opsinfo: Run, opp: Path, model: Path, tmp_path: Path
) -> None:
    table = _table(tmp_path, add=1.0, soft=1.0, fc=1.0)
    arguments = ["graph", model, "--against", opp, "--soc", "ascend910b", "--evidence", table]
    ran = opsinfo(*arguments)
    assert (ran.code, ran.out) == (0, "")
    assert "no operator is suspected" in ran.err
    refused = opsinfo(*arguments, "--format", "mixlist", "-o", tmp_path / "out.json")
    assert (refused.code, (tmp_path / "out.json").exists()) == (1, False)
    assert "no suspect is moved by a mixlist" in refused.err


@pytest.mark.parametrize(("op_type", "said"), [("Erf", True), ("Nope", True), ("Softmax", False), ("Relu", False)])
def test_an_op_type_that_the_target_lacks_is_unknown_and_not_high(
    opsinfo: Run, opp: Path, tmp_path: Path, op_type: str, said: bool
) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy")
    nodes = [helper.make_node(op_type, ["x"], ["y"], name="it", domain="own" if op_type == "Nope" else "")]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    path = tmp_path / "own.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets, ir_version=8), path)
    arguments = ["graph", path, "--against", opp, "--soc", "ascend910b", "--evidence", _table(tmp_path, it=0.4)]
    arguments += ["--precision-mode", "must_keep_origin_dtype"]
    lacking = f"the target does not have {'own::1::' * (op_type == 'Nope')}{op_type}: "
    shown, listed = opsinfo(*arguments).err, opsinfo(*arguments, "--format", "mixlist").err
    assert (f"{lacking}whether they are low, and what moves them, is unknown" in shown, "not low" in shown) == (
        said,
        not said,
    )
    assert (f"{lacking}what moves them is unknown" in listed, "not low here" in listed) == (said, not said)


@pytest.mark.parametrize("other", [["--node", "fc"], ["--by", "node"], ["--compare-precision-mode", "force_fp16"]])
def test_evidence_is_an_answer_of_its_own(
    opsinfo: Run, opp: Path, model: Path, tmp_path: Path, other: list[str]
) -> None:
    table = _table(tmp_path, fc=0.4)
    ran = opsinfo("graph", model, "--against", opp, "--soc", "ascend910b", "--evidence", table, *other)
    assert (ran.code, "--evidence cannot be combined with" in ran.err) == (2, True)
    assert opsinfo("graph", model, "--against", opp, "--format", "mixlist").code == 2
