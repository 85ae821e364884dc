"""`opsinfo graph`: comparisons, predictions read back, and refusals."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, mixlist, rows, write
from model_files import CLASSIFIER, COMPILED, dump, onnx_model


@pytest.fixture
def judged(tmp_path: Path, opp: Path) -> list[str | Path]:
    """The arguments that judge the model in mixed_float16."""
    return ["graph", dump(tmp_path), "--against", opp, "--soc", "ascend910b", "--precision-mode", "mixed_float16"]


# compare


def test_a_mixlist_that_changes_nothing_compares_as_equal(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["L2Loss"]))
    ran = opsinfo(*judged, "--compare-mixlist", file)
    assert (ran.code, ran.out) == (0, "")
    assert "0 nodes with other dtypes; 0 Casts fewer, 0 new" in ran.err


def test_nodes_and_casts_that_a_mixlist_changes_are_shown(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo(*judged, "--compare-mixlist", file)
    assert ran.code == 1
    assert rows(ran) == [
        ["changed", "relu", "Relu", "float16", "float32"],
        ["cast-gone", "relu:0 to log:0", "Cast", "float16", "float32"],
        ["cast-added", "fc/matmul:0 to relu:0", "Cast", "float16", "float32"],
    ]
    document = opsinfo(*judged, "--compare-mixlist", file, "--format", "json").json
    assert document["changed"] == [
        {
            "name": "relu",
            "type": "Relu",
            "a": {"inputs": ["float16"], "outputs": ["float16"]},
            "b": {"inputs": ["float32"], "outputs": ["float32"]},
        }
    ]
    assert (len(document["casts_gone"]), len(document["casts_added"])) == (1, 1)


def test_a_terminal_counts_changes_by_op_type_and_lists_nodes_on_request(
    terminal: Callable[..., tuple[int, str]], judged: list[str | Path], tmp_path: Path
) -> None:
    judged = [*judged, "--compare-mixlist", write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))]
    status, text = terminal(*judged, width=80)
    assert status == 1
    rows = [line.split() for line in text.splitlines()]
    assert ["Relu", "1", "float16", "float32"] in rows
    assert ["float16", "float32", "1", "1"] in rows
    assert "--by node lists nodes and Casts" in text
    status, text = terminal(*judged, "--by", "node", width=80)
    assert ["~", "relu", "Relu", "float16", "float32"] in [line.split() for line in text.splitlines()]
    assert "--by node" not in text


def test_another_mode_and_another_target_are_compared(opsinfo: Run, judged: list[str | Path], tmp_path: Path) -> None:
    ran = opsinfo(*judged, "--compare-precision-mode", "force_fp32")
    assert (ran.code, [row[1] for row in rows(ran) if row[0] == "changed"]) == (1, ["fc/matmul", "relu"])
    columns = "float16,float32,bfloat16"
    tensor = {"name": "x", "paramType": "required", "dtype": columns, "format": "ND,ND,ND"}
    two = {"input0": tensor, "input1": {**tensor, "name": "w"}, "output0": {**tensor, "name": "y"}}
    one = {"input0": tensor, "output0": {**tensor, "name": "y"}}
    other = write(tmp_path / "aic-other-ops-info.json", {"MatMulV2": two, "Relu": one, "Log": one})
    ran = opsinfo(*judged, "--compare-against", other)
    assert (ran.code, [row[1] for row in rows(ran) if row[0] == "changed"]) == (1, ["fc/matmul", "relu"])


# read back


def test_a_correct_prediction_agrees_by_name_and_through_fusion(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    compiled = dump(tmp_path, COMPILED, "FeInsertTransNodeAfter")
    ran = opsinfo(*judged, "--read-back", compiled)
    assert ran.code == 0
    assert "2 compute nodes matched (1 through fusion): 100.0 % agree; 5 not compared" in ran.err
    found = {tuple(row[:2]): row[2:] for row in rows(ran)}
    assert found["unmatched", "trans_Cast_0"] == ["Cast", "compiled", "a conversion that the compiler inserted"]
    assert found["agree", "MatMulV2"] == ["1", "1"]
    back = opsinfo(*judged, "--read-back", compiled, "--format", "json").json["read_back"]
    assert (back["agreement"], back["matched"], back["by_fusion"], back["differs"]) == (100.0, 2, 1, [])


def test_a_node_with_another_dtype_is_shown_with_both_answers_and_the_reason(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    graph = copy.deepcopy(COMPILED)
    graph["nodes"][5] |= {"in": ["f16"], "out": ["f16"], "first_in": ["f32"], "first_out": ["f32"]}
    compiled = dump(tmp_path, graph, "FeInsertTransNodeAfter")
    ran = opsinfo(*judged, "--read-back", compiled)
    assert ran.code == 1
    why = "on the black list by the library: keeps its dtype"
    assert rows(ran)[0] == ["differs", "log", "Log", "float32", "float16", why]
    assert "50.0 % agree" in ran.err


def test_an_input_of_a_fused_node_with_another_dtype_is_a_difference(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    graph = copy.deepcopy(COMPILED)
    graph["nodes"][3] |= {"in": ["f32", "f32"]}
    ran = opsinfo(*judged, "--read-back", dump(tmp_path, graph, "FeInsertTransNodeAfter"))
    assert (ran.code, rows(ran)[0][:2]) == (1, ["differs", "fc/matmulrelu"])


def test_nodes_that_only_one_side_has_are_listed_with_a_reason(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    graph = copy.deepcopy(COMPILED)
    graph["nodes"][3]["fused"] = ["fc/matmul"]
    graph["nodes"][5]["name"] = "log_renamed"
    graph["nodes"][6]["inputs"] = ["log_renamed:0"]
    ran = opsinfo(*judged, "--read-back", dump(tmp_path, graph, "FeInsertTransNodeAfter"))
    found = {row[1]: row[3:] for row in rows(ran) if row[0] == "unmatched"}
    assert found["log_renamed"] == ["compiled", "not in the prediction"]
    assert found["relu"][0] == found["log"][0] == "predicted"


@pytest.mark.parametrize("judged_dump", [True, False])
def test_only_models_that_an_engine_judged_can_be_read_back(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path, judged_dump: bool
) -> None:
    if not judged_dump:
        pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    ran = opsinfo(*judged, "--read-back", dump(tmp_path, CLASSIFIER, "Build") if judged_dump else onnx_model(tmp_path))
    assert ran.code == 2
    assert "neither a compiled model nor a dump" in ran.err


# warnings


def test_a_mixlist_in_a_mode_that_refuses_it_is_warned_of_and_judged(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo(*judged[:-1], "force_fp16", "--mixlist", file)
    assert (ran.code, rows(ran)[0][2]) == (0, "1")
    assert "warning: the engine refuses a mixlist with force_fp16" in ran.err


def test_a_mode_that_the_chip_lacks_is_warned_of_and_judged(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    target: list[str | Path] = ["--against", opp, "--soc", "ascend910"]
    ran = opsinfo("graph", dump(tmp_path), *target, "--precision-mode", "mixed_bfloat16")
    assert ran.code == 0
    assert "warning: ascend910 does not have the mode mixed_bfloat16" in ran.err


# refused


def test_an_unknown_node_is_refused_with_a_near_name(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged, "--node", "fc/matmull")
    assert (ran.code, ran.out) == (2, "")
    assert "unknown node `fc/matmull`" in ran.err
    assert "did you mean `fc/matmul`?" in ran.err


def test_without_a_mode_mixed_float16_is_used_and_said(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged[:-2])
    assert (ran.code, ran.out) == (0, opsinfo(*judged).out)
    assert "note: precision mode mixed_float16, the default" in ran.err


@pytest.mark.parametrize("option", ["--precision-mode", "--mixlist", "--node", "--compare-mixlist", "--read-back"])
def test_an_option_that_needs_a_choice_needs_a_target(opsinfo: Run, tmp_path: Path, option: str) -> None:
    ran = opsinfo("graph", dump(tmp_path), option, "mixed_float16")
    assert ran.code == 2
    assert "--against TARGET is required" in ran.err


def test_an_unknown_mode_is_refused_with_a_near_name(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged[:-1], "mixed_float")
    assert ran.code == 2
    assert "unknown precision mode `mixed_float`" in ran.err
    assert "`mixed_float16`" in ran.err
    assert opsinfo(*judged, "--compare-precision-mode", "x").code == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--compare-mixlist", "a", "--compare-against", "b"],
        ["--node", "relu", "--compare-precision-mode", "force_fp16"],
        ["--node", "relu", "--on", "low"],
        ["--compare-precision-mode", "force_fp16", "--match", "*"],
        ["--read-back", "model.om", "--by", "node"],
        ["--columns", "library,guess"],
    ],
)
def test_options_that_exclude_each_other_are_refused(
    opsinfo: Run, judged: list[str | Path], options: list[str]
) -> None:
    assert opsinfo(*judged, *options).code == 2


def test_a_broken_model_is_refused_with_the_place(opsinfo: Run, judged: list[str | Path], tmp_path: Path) -> None:
    text = dump(tmp_path).read_text("utf-8")
    broken = write(tmp_path / "broken.txt", text.replace('type: "Relu"', "type: {", 1))
    ran = opsinfo("graph", broken)
    assert (ran.code, ran.out) == (3, "")
    assert "broken.txt:" in ran.err
    assert opsinfo("graph", write(tmp_path / "empty.om", b"")).code == 3
    assert opsinfo("graph", write(tmp_path / "notes.txt", "hello\n")).code == 3
    assert opsinfo("graph", tmp_path / "missing.om").code == 3
    document = opsinfo("graph", broken, "--format", "json").json
    assert document["error"]["path"] == str(broken)


# options used wrong


def test_lines_of_option_files_that_name_nothing_are_warned_of_by_place(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    kept, customized = tmp_path / "keep.cfg", tmp_path / "customize.cfg"
    kept.write_text("relu\nnot_there\n" + "other\n" * 6, "utf-8")
    customized.write_text("OpType::Nothing:InputDtype:float16\n", "utf-8")
    ran = opsinfo(*judged, "--keep-dtype", kept, "--customize-dtypes", customized)
    assert ran.code == 0
    assert f"warning: {kept}:2:1: the graph has no node `not_there`" in ran.err
    assert f"warning: {kept}: 2 more lines are ignored or name nothing" in ran.err
    assert f"warning: {customized}:1:1: the graph has no op type `Nothing`" in ran.err


def test_an_empty_list_of_columns_is_wrong_usage(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged, "--columns", ",")
    assert (ran.code, ran.out) == (2, "")
    assert "--columns names no source" in ran.err
    assert "hint: known sources: library, kernel, assumed" in ran.err


def test_a_part_of_a_name_is_refused_with_the_names_that_contain_it(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged, "--node", "MATMUL")
    assert (ran.code, ran.out) == (2, "")
    assert "hint: did you mean `fc/matmul`?" in ran.err


def test_rows_without_a_match_are_reported(opsinfo: Run, judged: list[str | Path]) -> None:
    ran = opsinfo(*judged, "--by", "node", "--match", "zzz*", "--on", "low")
    assert (ran.code, ran.out) == (0, "")
    assert "note: none of the 6 nodes matches --on and --match" in ran.err


def test_an_output_that_cannot_be_written_is_refused_before_the_model_is_read(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("graph", tmp_path / "no-model", "-o", tmp_path / "nowhere" / "page.html", "--format", "html")
    assert ran.code == 3
    assert "its directory does not exist" in ran.err
