"""`opsinfo graph`: its output for a compiled model and for a judged model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, mixlist, names, rows, write
from model_files import CLASSIFIER, COMPILED, dump, onnx_model

from opsinfo_cli.report.escape import cell_width

Judge = Callable[..., list["str | Path"]]


@pytest.fixture
def judged(tmp_path: Path, opp: Path) -> Judge:
    """The arguments that judge a model with the fixture's ascend910b."""

    def arguments(mode: str = "mixed_float16", model: Path | None = None) -> list[str | Path]:
        target: list[str | Path] = ["--against", opp, "--soc", "ascend910b", "--precision-mode", mode]
        return ["graph", model or dump(tmp_path), *target]

    return arguments


def test_op_types_come_with_those_that_have_the_most_low_nodes_first(opsinfo: Run, judged: Judge) -> None:
    ran = opsinfo(*judged())
    assert ran.code == 0
    assert rows(ran) == [
        ["MatMulV2", "1", "1", "0", "white"],
        ["Relu", "1", "1", "0", "gray"],
        ["Log", "1", "0", "1", "black"],
        ["Const", "1", "0", "0", "-"],
        ["Data", "1", "0", "0", "-"],
        ["NetOutput", "1", "0", "0", "-"],
    ]
    assert "3 compute nodes: 2 low, 1 high; 3 edges need a Cast: 2 to run, 1 folded on constants" in ran.err


def test_each_node_is_a_row_with_its_dtypes_its_list_and_the_reason(opsinfo: Run, judged: Judge) -> None:
    found = {row[0]: row[1:] for row in rows(opsinfo(*judged(), "--by", "node"))}
    assert list(found) == [node["name"] for node in CLASSIFIER["nodes"]]
    why = "on the gray list by the library: follows output 0 of `fc/matmul`"
    assert found["relu"] == ["Relu", "low", "float16", "float16", "gray", "library", why]
    assert found["log"][1:5] == ["high", "float32", "float32", "black"]
    assert found["x"][1] == "-"


def test_a_mixlist_moves_an_operator_to_another_list(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["MatMulV2"], white_remove=["MatMulV2"]))
    found = {row[0]: row for row in rows(opsinfo(*judged(), "--mixlist", file, "--by", "node"))}
    assert found["fc/matmul"][2] == found["relu"][2] == "high"
    assert "on the black list by the mixlist" in found["fc/matmul"][-1]


def test_the_path_to_the_deciding_tensor_has_a_line_for_each_step(opsinfo: Run, judged: Judge) -> None:
    ran = opsinfo(*judged(), "--node", "relu")
    assert ran.code == 0
    assert [row[:4] for row in rows(ran)] == [
        ["relu", "Relu", "input 0", "float16"],
        ["fc/matmul", "MatMulV2", "output 0", "float16"],
    ]
    document = opsinfo(*judged(), "--node", "relu", "--format", "json").json
    assert [step["name"] for step in document["path"]] == ["relu", "fc/matmul"]
    assert document["nodes"][0]["decided_by"] == {"node": "fc/matmul", "tensor": "output 0"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--on", "low"], ["fc/matmul", "relu"]),
        (["--on", "high"], ["log"]),
        (["--on", "cast"], ["x", "w", "fc/matmul", "relu", "log"]),
        (["--on", "low", "--on", "high", "--match", "*l*"], ["fc/matmul", "relu", "log"]),
        (["--match", "Re*"], ["relu"]),
        (["--match", "fc/*"], ["fc/matmul"]),
        (["--on", "first-column"], []),
    ],
)
def test_nodes_are_chosen_by_state_and_by_name_or_op_type(
    opsinfo: Run, judged: Judge, options: list[str], expected: list[str]
) -> None:
    ran = opsinfo(*judged(), "--by", "node", *options)
    assert (ran.code, names(ran)) == (0, expected)


def test_nodes_with_assumed_columns_are_found(opsinfo: Run, judged: Judge) -> None:
    ran = opsinfo(*judged(), "--columns", "library,assumed", "--by", "node", "--on", "assumed")
    assert names(ran) == ["fc/matmul"]
    assert "dtypes assumed for 1 node:" in ran.err


def test_the_document_has_every_node_every_cast_and_the_counts(opsinfo: Run, judged: Judge) -> None:
    ran = opsinfo(*judged(), "--format", "json")
    document = ran.json
    assert "note: not considered: --output_type" in ran.err
    assert document["precision_mode"] == "mixed_float16"
    assert document["model"]["format"] == "ge-proto"
    assert [node["outputs"] for node in document["nodes"]] == [
        *(["float32"], ["float32"], ["float16"], ["float16"], ["float32"]),
        [],
    ]
    assert [(cast["producer"], cast["consumer"], cast["constant"]) for cast in document["casts"]] == [
        ("x", "fc/matmul", False),
        ("w", "fc/matmul", True),
        ("relu", "log", False),
    ]
    assert document["counts"] == {
        "nodes": 6,
        "low": 2,
        "high": 1,
        "not_judged": 3,
        "casts": 3,
        "casts_run": 2,
        "casts_folded": 1,
    }


def test_a_compiled_model_shows_its_dtypes_its_command_and_its_casts(opsinfo: Run, tmp_path: Path) -> None:
    command = "atc --model=m.pb --precision_mode_v2=mixed_float16 --modify_mixlist=black.json"
    model = dump(tmp_path, COMPILED, "FeInsertTransNodeAfter", atc_cmdline=command)
    ran = opsinfo("graph", model, "--by", "node", "--on", "low")
    assert names(ran) == ["trans_Cast_0", "fc/matmulrelu"]
    assert "precision mode of that command: mixed_float16" in ran.err
    assert "mixlist of that command: black.json" in ran.err
    assert "the engine has chosen these dtypes; its Casts are in the graph" in ran.err
    document = opsinfo("graph", model, "--format", "json").json
    assert (document["precision_mode"], document["judged"]) == (None, True)
    assert document["model"]["command"] == command
    assert [(cast["producer"], cast["consumer"]) for cast in document["casts"]] == [
        ("x", "fc/matmulrelu"),
        ("fc/matmulrelu", "log"),
    ]


def test_a_dump_from_before_the_judge_is_reported_as_not_chosen(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("graph", dump(tmp_path))
    assert ran.code == 0
    assert "the engine has not chosen dtypes yet" in ran.err


def test_a_compiled_model_is_judged_from_its_original_dtypes(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    model = dump(tmp_path, COMPILED, "FeInsertTransNodeAfter")
    found = {row[0]: row[2] for row in rows(opsinfo(*judged("force_fp32", model), "--by", "node"))}
    assert found["fc/matmulrelu"] == "high"
    assert "trans_Cast_0" not in found


def test_without_a_target_columns_can_be_assumed(opsinfo: Run, tmp_path: Path) -> None:
    arguments = ["graph", dump(tmp_path), "--precision-mode", "force_fp16"]
    assert opsinfo(*arguments).code == 2
    ran = opsinfo(*arguments, "--columns", "assumed")
    assert (ran.code, rows(ran)[0][:3]) == (0, ["Log", "1", "1"])


def test_a_snapshot_answers_as_its_install_does(opsinfo: Run, opp: Path, judged: Judge, tmp_path: Path) -> None:
    snapshot = tmp_path / "ascend910b.opsinfo.json"
    assert opsinfo("snapshot", opp, "--soc", "ascend910b", "-o", snapshot).code == 0
    arguments = ["graph", dump(tmp_path), "--against", snapshot, "--precision-mode", "mixed_float16"]
    for more in ([], ["--by", "node"], ["--node", "relu"], ["--format", "json"]):
        kept, install = opsinfo(*arguments, *more), opsinfo(*judged(), *more)
        assert (kept.code, kept.out, kept.err) == (0, install.out, install.err)
    assert "dtypes assumed" not in opsinfo(*arguments).err


def test_options_of_atc_in_the_models_command_are_considered(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    words = "--output_type, --input_fp16_nodes, --is_weight_clip, --insert_op_conf"
    assert f"not considered: {words} of atc" in opsinfo(*judged()).err
    model = dump(tmp_path, atc_cmdline="atc --model=m.pb --output_type=FP16 --input_fp16_nodes nobody")
    ran = opsinfo(*judged("mixed_float16", model))
    assert "considered: --output_type=FP16" in ran.err
    message = (
        "warning: not considered: --input_fp16_nodes=nobody: --input_fp16_nodes: `nobody` is not an input of the model"
    )
    assert message in ran.err
    assert "not considered: --output_type" not in ran.err
    assert "4 edges need a Cast: 3 to run" in ran.err, "one more than without the option: before the output"


def test_options_of_atc_on_the_command_line_win(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    model = dump(tmp_path, atc_cmdline="atc --model=m.pb --output_type=FP16")
    ran = opsinfo(*judged("mixed_float16", model), "--output-type", "FP32", "--input-fp16-nodes", "x")
    assert "considered: --output_type=FP32" in ran.err
    assert "considered: --input_fp16_nodes=x" in ran.err
    assert "2 edges need a Cast: 1 to run" in ran.err


def test_an_aipp_configuration_inserts_the_preprocessing_of_an_image(
    opsinfo: Run, judged: Judge, tmp_path: Path
) -> None:
    path = write(tmp_path / "aipp.cfg", b"aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    ran = opsinfo(*judged(), "--insert-op-conf", path, "--by", "node", "--format", "json")
    nodes = {node["name"]: node for node in ran.json["nodes"]}
    assert nodes["x"]["outputs"] == ["uint8"]
    assert nodes["x_0_aipp"]["type"] == "Aipp"
    assert "considered: --insert_op_conf=" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--output-type", "FP12"), "unknown type `FP12`"),
        (("--output-type", "relu:0:FP16"), "`relu:0` is not an output of the model"),
        (("--input-fp16-nodes", "relu"), "`relu` is not an input of the model"),
    ],
)
def test_an_option_of_atc_that_does_not_fit_is_wrong_usage(
    opsinfo: Run, judged: Judge, words: tuple[str, str], message: str
) -> None:
    ran = opsinfo(*judged(), *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_fusions_are_counted_can_be_left_out_and_a_mixlist_with_the_other_name_is_told(
    opsinfo: Run, judged: Judge, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,4,4] x) => (float[1,2,1,1] y) '
        "{ m = Identity(x) y = GlobalAveragePool(m) }"
    )
    onnx.save_model(made, tmp_path / "model.onnx")
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["GlobalAveragePool"]))
    words = [*judged("mixed_float16", tmp_path / "model.onnx"), "--mixlist", file, "--by", "node"]
    ran = opsinfo(*words)
    assert [row[1] for row in rows(ran)] == ["Data", "ReduceMean", "NetOutput"]
    assert "fused first: 1 GlobalAveragePool to ReduceMean, 1 removed by IdentityPass" in ran.err
    assert "names `GlobalAveragePool`: fusion makes `ReduceMean` of its nodes before lists are asked" in ran.err
    assert [row[1] for row in rows(opsinfo(*words, "--no-fusion", "Globalavgpoolpass"))][1] == "GlobalAveragePool"
    ran = opsinfo(*words, "--no-fusion", "GlobalavgpoolPas")
    assert (ran.code, "did you mean `Globalavgpoolpass`?" in ran.err) == (2, True)


def test_high_nodes_in_hf32_are_counted_and_marked(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,4,4] x, float[2,2,1,1] w) => (float[1,2,4,4] y) '
        "{ y = Conv<kernel_shape = [1, 1]>(x, w) }"
    )
    onnx.save_model(made, tmp_path / "model.onnx")
    words = [*judged("must_keep_origin_dtype", tmp_path / "model.onnx"), "--by", "node", "--match", "Conv2D"]
    ran = opsinfo(*words)
    assert rows(ran)[0][-1].endswith("; computed in HF32")
    assert "1 high node is computed in HF32, not in float32: --allow-hf32 00 keeps float32" in ran.err
    modes = write(tmp_path / "op_precision.ini", "Conv2D=enable_float_32_execution\nConv2D=high_precison\n")
    ran = opsinfo(*words, "--op-precision-mode", modes)
    assert "HF32" not in ran.out
    assert "op_precision.ini:2:8: unknown implementation mode `high_precison`" in ran.err


def test_onnx_is_judged_and_called_a_prediction(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    ran = opsinfo(*judged("mixed_float16", onnx_model(tmp_path)), "--by", "node", "--on", "low")
    assert names(ran) == ["fc", "relu"]
    assert "a prediction" in ran.err


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (70000.0, "constant `w`, used by `fc`: 1 of 4 values overflow float16, the first is 70000"),
        (1e-9, "constant `w`, used by `fc`: 1 of 4 values become 0 in float16, the first is 1e-09"),
        (65519.0, None),
    ],
    ids=["overflow", "underflow", "in range"],
)
def test_constants_out_of_the_low_range_are_warned_of(
    opsinfo: Run, judged: Judge, tmp_path: Path, value: float, message: str | None
) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    model = onnx_model(tmp_path, [[1, value], [0, -1]])
    ran = opsinfo(*judged("mixed_float16", model))
    assert ran.code == 0
    assert message in ran.err if message else "constant `" not in ran.err
    faults = opsinfo(*judged("mixed_float16", model), "--format", "json").json["constants"]
    assert [fault["used_by"] for fault in faults] == (["fc"] if message else [])


def test_a_missing_file_of_weights_is_named_and_the_rest_is_shown(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    model = onnx_model(tmp_path, [[1, 70000.0], [0, -1]], external=True)
    assert "1 of 4 values overflow" in opsinfo(*judged("mixed_float16", model)).err
    (tmp_path / "weights.bin").unlink()
    ran = opsinfo(*judged("mixed_float16", model))
    assert (ran.code, rows(ran)[0][0]) == (0, "MatMulV2")
    assert "weights.bin: the file with the values of constants is missing: its constants were not checked" in ran.err


@pytest.mark.process
def test_at_80_columns_a_row_is_one_line(
    terminal: Callable[..., tuple[int, str]], judged: Judge, tmp_path: Path
) -> None:
    for arguments, marks in ((["--by", "node"], ["fc/matmul", "relu", "log"]), ([], ["MatMulV2", "Relu", "Log"])):
        code, output = terminal(*judged(), *arguments, "-q", width=80, env={"NO_COLOR": "1", "PAGER": "cat"})
        lines = output.splitlines()
        assert code == 0
        assert max(map(cell_width, lines)) <= 80
        assert all(sum(line.split()[:1] == [mark] for line in lines) == 1 for mark in marks), output
    code, output = terminal(*judged(), "--node", "relu", "-q", width=80, env={"NO_COLOR": "1", "PAGER": "cat"})
    assert max(map(cell_width, output.splitlines())) <= 80
    assert (
        output.index("relu (Relu)") < output.index("└── fc/matmul (MatMulV2)") < output.index("limits of this answer")
    )


def test_the_nodes_that_a_pattern_chooses_are_written_as_a_keep_dtype_file(
    opsinfo: Run, tmp_path: Path, fixtures: Path
) -> None:
    out = tmp_path / "keep_dtype.cfg"
    words = ("graph", fixtures / "model.onnx", "--write-keep-dtype", out)
    ran = opsinfo(*words, "--match", "fc*", "--match", "w1")
    assert (ran.code, out.read_text()) == (0, "fc1\nfc2\n")
    assert f"wrote {out}: 2 nodes" in ran.err
    assert opsinfo("validate", out, "--model", fixtures / "model.onnx", "--strict").code == 0
    assert "exists already" in opsinfo(*words, "--match", "fc*").err
    out.unlink()
    assert opsinfo(*words).code == 2
    ran = opsinfo(*words, "--match", "w1")
    assert (ran.code, ran.out, f"{out} was not written" in ran.err) == (2, "", True)
    opsinfo(*words, "--on", "high", "--against", f"{fixtures / 'opp'}@ascend910b")
    assert out.read_text() == "log\n"
