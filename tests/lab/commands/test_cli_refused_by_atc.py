"""Models that atc refuses: warnings that name the node, and the exit status with --strict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run
from contract import schema_faults
from model_files import COMPILED, dump

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

WARNING = "atc refuses this model: `g` (Gelu): no plugin for ai.onnx::20::Gelu"

TASK = "Name,Type,Accelerator Core,Duration(us)\ng,Gelu,AI_CORE,2\n"


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


FORMS = {
    "op types": (),
    "nodes": ("--by", "node"),
    "chosen nodes": ("--on", "high"),
    "JSON": ("--format", "json"),
    "a page": ("--format", "html", "-o", "page.html"),
    "node data": ("--format", "model-explorer", "-o", "data.json"),
    "the way of a node": ("--node", "g"),
    "a mixlist's effect": ("--compare-mixlist", "ops.json"),
    "a mode's effect": ("--compare-precision-mode", "mixed_bfloat16"),
    "a target's effect": ("--compare-against", "opp/built-in/op_impl/ai_core/tbe/config/ascend910b"),
    "a compiled model": ("--read-back", "ge_proto_00020_FeInsertTransNodeAfter.txt"),
    "fused operators": ("--read-back", "fusion_result.json"),
    "suspects": ("--evidence", "simulated.json"),
    "the time of a mixlist": ("--profile", "kernel_details.csv", "--mixlist", "ops.json"),
    "a keep_dtype file": ("--match", "g", "--write-keep-dtype", "keep.cfg"),
    "profiles": (
        "--atc",
        "atc --model=model.onnx --framework=5 --output=o --dynamic_batch_size=1,2 --soc_version=Ascend910B1",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_an_answer_is_a_success_if_nothing_was_judged(
    opsinfo: Run, opp: Path, tmp_path: Path, model: Path, form: str
) -> None:
    made = onnx.load(model)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1 if form == "profiles" else 2
    onnx.save(made, model)
    (tmp_path / "ops.json").write_text('{"black-list": {"to-add": ["SoftmaxV2"]}}', "utf-8")
    (tmp_path / "fusion_result.json").write_text('[{"graph_fusion": {}, "session_and_graph_id": "0_0"}]', "utf-8")
    suspect = {"type": "ai.onnx::20::Gelu", "nodes": ["g"], "error_alone": 0.5}
    (tmp_path / "simulated.json").write_text(json.dumps({"command": "simulate", "types": [suspect]}), "utf-8")
    (tmp_path / "kernel_details.csv").write_text(TASK, "utf-8")
    dump(tmp_path, COMPILED, "FeInsertTransNodeAfter")
    ran = opsinfo(
        "graph", *([] if form == "profiles" else [model]), "--against", opp, "--soc", "ascend910b", *FORMS[form]
    )
    assert ran.code == 1, ran.err
    assert "error: nothing was judged: atc refuses the model; 0 of 1 compute node judged" in ran.err


def test_what_ran_is_compared_with_no_model_of_which_nothing_was_judged(
    opsinfo: Run, opp: Path, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "kernel_details.csv").write_text(TASK, "utf-8")
    words = ["profile", "kernel_details.csv", "--against", opp, "--soc", "ascend910b", "--model", model]
    for more in (), ("--by", "kernel"), ("--format", "json"):
        ran = opsinfo(*words, *more)
        assert (ran.code, "error: nothing was judged" in ran.err) == (1, True)


def test_no_mixlist_is_checked_or_made_smaller_with_a_model_of_which_nothing_was_judged(
    opsinfo: Run, opp: Path, tmp_path: Path, model: Path
) -> None:
    """Whatever it has would change nothing."""
    target = ["--against", f"{opp}@ascend910b", "--model", model]
    (tmp_path / "lists").mkdir()
    for name, op_type in ("a", "SoftmaxV2"), ("b", "Relu"):
        (tmp_path / f"lists/{name}.json").write_text(f'{{"black-list": {{"to-add": ["{op_type}"]}}}}', "utf-8")
    checked = opsinfo("validate", "lists", *target, "--ignore", "G001")
    merged = opsinfo("merge", "lists/a.json", "--minimize", *target, "-o", "merged.json")
    for ran in checked, merged:
        assert (ran.code, ran.err.count("error: nothing was judged")) == (1, 1), ran.err
    assert "2 files checked" in checked.err
    assert not (tmp_path / "merged.json").exists()


def test_a_strict_search_ends_before_the_first_run(opsinfo: Run, opp: Path, model: Path, tmp_path: Path) -> None:
    check = ["--", "touch", tmp_path / "ran", "{mixlist}"]
    ran = opsinfo("bisect", "--against", opp, "--soc", "ascend910b", "--model", model, "--strict", *check)
    assert (ran.code, (tmp_path / "ran").exists()) == (1, False)
    assert WARNING in ran.err
