"""`opsinfo graph`: its output for a compiled model and for a judged model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, mixlist, names, rows, write
from model_files import dump, onnx_model

from opsinfo_cli.core.text.escape import cell_width

Judge = Callable[..., list["str | Path"]]


@pytest.fixture
def judged(tmp_path: Path, opp: Path) -> Judge:
    """The arguments that judge a model with the fixture's ascend910b."""

    def arguments(mode: str = "mixed_float16", model: Path | None = None) -> list[str | Path]:
        target: list[str | Path] = ["--against", opp, "--soc", "ascend910b", "--precision-mode", mode]
        return ["graph", model or dump(tmp_path), *target]

    return arguments


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
    assert [row[1] for row in rows(ran)] == ["Data", "ReduceMeanD", "NetOutput"]
    assert "fused first: 1 GlobalAveragePool to ReduceMeanD, 1 removed by IdentityPass" in ran.err
    assert "names `GlobalAveragePool`: fusion makes `ReduceMeanD` of its nodes before the lists are applied" in ran.err
    assert [row[1] for row in rows(opsinfo(*words, "--no-fusion", "Globalavgpoolpass"))][1] == "GlobalAveragePool"
    ran = opsinfo(*words, "--no-fusion", "GlobalavgpoolPas")
    assert (ran.code, "did you mean `Globalavgpoolpass`?" in ran.err) == (2, True)


def test_passes_stand_beside_those_that_the_compiler_counted(
    opsinfo: Run, terminal: Callable[..., tuple[int, str]], judged: Judge, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,4,4] x) => (float[1,2,1,1] y) '
        "{ y = GlobalAveragePool(x) }"
    )
    onnx.save_model(made, tmp_path / "model.onnx")
    counts = {"Globalavgpoolpass": 1, "ConstToAttrPass": 1, "OwnPass": 2, "IdlePass": 0}
    passes = {name: {"match_times": str(count), "effect_times": str(count)} for name, count in counts.items()}
    graphs = {"session_and_graph_id_0_0": {"graph_fusion": passes}, "session_and_graph_id_0_1": {"graph_fusion": {}}}
    file = write(tmp_path / "fusion_result.json", graphs)
    words = [*judged("mixed_float16", tmp_path / "model.onnx"), "--read-back", file]
    ran = opsinfo(*words)
    assert (ran.code, rows(ran)[0]) == (0, ["ConstToAttrPass", "1", "1", "1", ""])
    assert "graph 0_0, the closest of 2 in the file: 2 of 2 passes with known rules took effect" in ran.err
    assert "; 1 more took effect" in ran.err
    for more, expected in (([], ["ConstToAttrPass", "OwnPass"]), (["-v"], ["ConstToAttrPass", "IdlePass", "OwnPass"])):
        shown = terminal(*words, *more)[1]
        assert [name for name in sorted(counts) if name in shown and name != "Globalavgpoolpass"] == expected
    ran = opsinfo(*words, "--no-fusion", "Globalavgpoolpass")
    assert (ran.code, rows(ran)[1]) == (1, ["Globalavgpoolpass", "0", "1", "1", "differs"])
    document = opsinfo(*words, "--format", "json").json
    assert document["fusion_result"] == {"graph": "0_0", "graphs": 2}
    assert document["passes"][3] == {"name": "OwnPass", "predicted": None, "matched": 2, "effective": 2}
    ran = opsinfo(*judged(), "--read-back", file)
    assert (ran.code, "the model was fused already" in ran.err) == (2, True)


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


def test_targets_that_fuse_otherwise_are_compared_by_name(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    """Ascend 910 makes one node of a convolution and its BatchNorm, 910B does not."""
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,3,8,8] x) => (float[1,4,6,6] y) { '
        "[conv] c = Conv<kernel_shape = [3, 3]>(x, w) [norm] n = BatchNormalization(c, p, p, p, p) "
        "[soft] s = Softmax(n) [relu] y = Relu(s) }"
    )
    for name, dims in (("w", [4, 3, 3, 3]), ("p", [4])):
        made.graph.initializer.append(onnx.helper.make_tensor(name, 1, dims, [1.0] * (4 if name == "p" else 108)))
    onnx.save_model(made, tmp_path / "model.onnx")
    found = {}
    for a, b in (("ascend910b", "ascend910"), ("ascend910", "ascend910b")):
        words = ["graph", tmp_path / "model.onnx", "--against", f"{fixtures / 'opp'}@{a}"]
        words += ["--compare-against", f"{fixtures / 'opp'}@{b}"]
        ran = opsinfo(*words, "--format", "json")
        assert (ran.code, ran.json["only_in_one"]) == (1, ["norm"])
        found[a] = ran.json
        assert "as norm, and their Casts not compared: fused otherwise" in opsinfo(*words).err
        assert opsinfo(*words, "--format", "html", "-o", tmp_path / f"{a}.html").code == 1
    one, other = found.values()
    assert [(each["name"], each["a"], each["b"]) for each in one["changed"]] == [
        (each["name"], each["b"], each["a"]) for each in other["changed"]
    ]
    assert "soft" in [each["name"] for each in one["changed"]]
    assert (one["casts_gone"], one["casts_added"]) == (other["casts_added"], other["casts_gone"])


@pytest.mark.parametrize(("outer", "inner"), [("same", "same"), ("same", "other"), ("other", "same")])
def test_a_node_of_a_body_has_no_cast_of_the_outer_one_with_its_name(
    opsinfo: Run, judged: Judge, tmp_path: Path, outer: str, inner: str
) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> main (float[1,2,4,4] x, bool t, float[2,2,1,1] w) =>
        (float[1,2,4,4] y, float[1,2,4,4] z) {{ [{outer}] y = Conv<kernel_shape = [1, 1]>(x, w)
          [if] z = If(t) < then_branch = left () => (float[1,2,4,4] a) {{ [{inner}] a = Log(x) }},
                           else_branch = right () => (float[1,2,4,4] b) {{ [b] b = Log(x) }}> }}"""
    )
    onnx.save_model(made, tmp_path / "model.onnx")
    ran = opsinfo(*judged("mixed_float16", tmp_path / "model.onnx"), "--on", "cast", "--format", "json")
    assert [node["type"] for node in ran.json["nodes"] if node["name"] in (outer, inner)] == ["Conv2D"]


def test_the_users_own_cast_is_not_in_the_state_cast(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> main (int32[4,4] i) => (float[4,4] y) '
        "{ [own] j = Cast<to = 1>(i) [log] l = Log(j) [product] y = MatMul(l, l) }"
    )
    onnx.save_model(made, tmp_path / "model.onnx")
    words = ["graph", tmp_path / "model.onnx", "--against", f"{fixtures / 'opp'}@ascend910b", "--format", "json"]
    nodes = {row["name"]: row["code"] for row in opsinfo(*words).json["nodes"]}
    assert nodes["own"] == "cast"
    assert [row["name"] for row in opsinfo(*words, "--on", "cast").json["nodes"]] == ["log", "product", "Node_Output"]


@pytest.mark.process
def test_at_80_columns_a_row_is_one_line(terminal: Callable[..., tuple[int, str]], judged: Judge) -> None:
    for arguments, marks in ((["--by", "node"], ["fc/matmul", "relu", "log"]), ([], ["MatMulV2", "Relu", "Log"])):
        code, output = terminal(*judged(), *arguments, "-q", width=80, env={"NO_COLOR": "1", "PAGER": "cat"})
        lines = output.splitlines()
        assert code == 0
        assert max(map(cell_width, lines)) <= 80
        assert "limits of this answer" not in output
        assert all(sum(line.split()[:1] == [mark] for line in lines) == 1 for mark in marks), output
    code, output = terminal(*judged(), "--node", "relu", width=80, env={"NO_COLOR": "1", "PAGER": "cat"})
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


def test_a_terminal_counts_changes_by_op_type_and_lists_nodes_on_request(
    terminal: Callable[..., tuple[int, str]], judged: Judge, tmp_path: Path
) -> None:
    words = [*judged(), "--compare-mixlist", write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))]
    status, text = terminal(*words, width=80)
    assert status == 1
    rows = [line.split() for line in text.splitlines()]
    assert ["Relu", "1", "float16", "float32"] in rows
    assert ["float16", "float32", "1", "1"] in rows
    assert "--by node lists nodes and Casts" in text
    status, text = terminal(*words, "--by", "node", width=80)
    assert ["~", "relu", "Relu", "float16", "float32"] in [line.split() for line in text.splitlines()]
    assert "--by node" not in text


def test_an_onnx_model_has_no_dtypes_to_read_back(opsinfo: Run, judged: Judge, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    ran = opsinfo(*judged(model=dump(tmp_path)), "--read-back", onnx_model(tmp_path))
    assert (ran.code, "neither a compiled model nor a dump" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "text", "warning"),
    [
        (
            ("--precision-mode", "origin", "--keep-dtype"),
            "OpType::Relu\n",
            "keep_dtype has no effect with `origin`: every node keeps its dtype",
        ),
        (
            ("--customize-dtypes",),
            "OpType::Relu:InputDtype:float16,OutputDtype:int8\n",
            "AI Core refuses node `relu`: no column has the dtypes of its line",
        ),
        (("--precision-mode", "force_fp16", "--keep-dtype"), "OpType::Relu\n", None),
        (("--customize-dtypes",), "OpType::Relu:InputDtype:float16,OutputDtype:float16\n", None),
    ],
)
def test_what_validate_reports_of_an_option_file_is_a_warning_here(
    opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path, words: tuple[str, ...], text: str, warning: str | None
) -> None:
    (tmp_path / "options.cfg").write_text(text)
    ran = opsinfo("graph", fixtures / "model.onnx", "--against", f"{opp}@ascend910b", *words, tmp_path / "options.cfg")
    assert ran.code == 0
    if warning:
        assert warning in ran.err
    else:
        assert "warning" not in ran.err
