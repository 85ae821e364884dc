"""Models that atc refuses: warnings that name the node, and the exit status with --strict."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run
from contract import schema_faults

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

WARNING = "atc refuses this model: `g` (Gelu): no plugin for ai.onnx::20::Gelu"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Gelu", ["x"], ["y"], name="g")], "g", values[:1], values[1:])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
    return path


@pytest.mark.parametrize("command", ["graph", "simulate"])
def test_the_warning_names_the_node_and_strict_fails(opsinfo: Run, opp: Path, model: Path, command: str) -> None:
    if command == "simulate":
        pytest.importorskip("onnxruntime")
    arguments = [command, model, "--against", opp, "--soc", "ascend910b", "--format", "json"]
    ran, strict = opsinfo(*arguments), opsinfo(*arguments, "--strict")
    assert strict.code == 1
    if command == "graph":  # nothing is left that could be judged
        assert ran.code == 1
        assert "error: nothing was judged: atc refuses the model; 0 of 1 compute node judged" in ran.err
        assert ran.err.splitlines()[-1].endswith("`onnx.version_converter.convert_version(model, 18)`")
    assert f"{model}: {WARNING}" in ran.err
    assert ran.json["refused_by_atc"] == [{"name": "g", "type": "Gelu", "why": "no plugin for ai.onnx::20::Gelu"}]
    assert schema_faults(ran.json) == []
    if command == "graph":
        (node,) = [each for each in ran.json["nodes"] if each["name"] == "g"]
        assert (node["judged"], node["type"]) == (False, "ai.onnx::20::Gelu")


def test_a_strict_search_ends_before_the_first_run(opsinfo: Run, opp: Path, model: Path, tmp_path: Path) -> None:
    check = ["--", "touch", tmp_path / "ran", "{mixlist}"]
    ran = opsinfo("bisect", "--against", opp, "--soc", "ascend910b", "--model", model, "--strict", *check)
    assert (ran.code, (tmp_path / "ran").exists()) == (1, False)
    assert WARNING in ran.err
