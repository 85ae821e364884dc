"""`opsinfo simulate`: its tables, rows, documents and page, its checks, and its errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, mixlist, rows, write
from contract import schema_faults
from model_files import dump, onnx_model

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

Simulate = Callable[..., list["str | Path"]]
KINDS = ["output", "first-not-finite", "first-jump", "type", "type"]


@pytest.fixture
def arguments(tmp_path: Path, opp: Path) -> Simulate:
    """The arguments that simulate ``relu(x @ w)`` with the fixture's ascend910b."""

    def made(*more: str | Path, model: str | Path | None = None) -> list[str | Path]:
        target: list[str | Path] = ["--against", opp, "--soc", "ascend910b"]
        if "--precision-mode" not in more:
            target += ["--precision-mode", "mixed_float16"]
        weights = [[1.001, 0.3], [0.1, -2.7]]
        return ["simulate", model or onnx_model(tmp_path, weights), *target, *more]

    return made


def test_in_a_pipe_rows_begin_with_their_kind(opsinfo: Run, arguments: Simulate) -> None:
    ran = opsinfo(*arguments())
    assert ran.code == 0
    found = rows(ran)
    assert [row[0] for row in found] == KINDS
    name, absolute, relative, cosine, inf, nan = found[0][1:]
    assert (name, inf, nan) == ("y", "0", "0")
    assert 0 < float(relative) < 2e-3
    assert float(absolute) > 0
    assert 0.999 < float(cosine) <= 1
    assert [(row[1], row[2]) for row in found[3:]] == [("MatMulV2", "1"), ("Relu", "1")]
    assert "note: not shown: the inside of kernels" in ran.err
    assert "real data: random inputs" in ran.err


def test_the_document_is_complete_and_matches_its_schema(opsinfo: Run, arguments: Simulate) -> None:
    document = opsinfo(*arguments("--format", "json")).json
    assert schema_faults(document) == []
    assert (document["rounded"], document["passes"], document["inputs"]) == (5, None, ["random:0"])
    assert [each["node"] for each in document["nodes"]] == ["fc", "relu"]
    assert [(each["type"], each["nodes"]) for each in document["types"]] == [("MatMulV2", ["fc"]), ("Relu", ["relu"])]
    by_type = {each["type"]: each for each in document["types"]}
    whole = document["outputs"][0]["max_rel_error"]
    assert by_type["MatMulV2"]["error_without"] == 0 < by_type["MatMulV2"]["error_alone"] <= whole
    assert {each["kind"] for each in document["not_shown"]} >= {"kernels", "fusion", "replaced", "overflow"}
    assert document["nodes"][-1]["error"] == whole


def test_a_mixlist_that_keeps_the_product_in_float32_leaves_no_error(
    opsinfo: Run, arguments: Simulate, tmp_path: Path
) -> None:
    file = write(tmp_path / "m.json", mixlist(black_add=["MatMulV2"], white_remove=["MatMulV2"]))
    ran = opsinfo(*arguments("--mixlist", file, "--format", "json"))
    assert ran.json["mixlist"] == str(file)
    assert ran.json["outputs"][0]["max_rel_error"] == 0
    assert ran.json["types"] == []
    assert "nothing was rounded" in ran.err


def test_parts_that_are_left_out_are_not_computed(opsinfo: Run, arguments: Simulate) -> None:
    whole = opsinfo(*arguments("--format", "json")).json
    assert (bool(whole["types"]), bool(whole["nodes"])) == (True, True)
    for words, parts in ((["--no-trace"], (True, False)), (["--no-trace", "--no-rank"], (False, False))):
        left = opsinfo(*arguments(*words, "--format", "json")).json
        assert (bool(left["types"]), bool(left["nodes"])) == parts
        assert left["outputs"] == whole["outputs"]


@pytest.mark.parametrize(
    ("bounds", "code", "message"),
    [
        (["--max-error", "0.01"], 0, "passes --max-error 0.01"),
        (["--max-error", "1e-9"], 1, "fails --max-error 1e-09: 1 output"),
        (["--min-cosine", "0.99"], 0, "passes --min-cosine 0.99"),
        (["--min-cosine", "1", "--max-error", "1"], 1, "fails --max-error 1 and --min-cosine 1"),
    ],
)
def test_bounds_decide_the_exit_status(
    opsinfo: Run, arguments: Simulate, bounds: list[str], code: int, message: str
) -> None:
    ran = opsinfo(*arguments("--no-rank", *bounds))
    assert ran.code == code
    assert message in ran.err
    assert opsinfo(*arguments("--no-rank", *bounds, "--format", "json")).json["passes"] is (code == 0)


def test_overflow_is_named_with_its_node_and_saturation_prevents_it(
    opsinfo: Run, arguments: Simulate, tmp_path: Path
) -> None:
    np.savez(tmp_path / "i.npz", x=np.full((2, 2), 1e5, "f4"))
    given = arguments("--inputs", tmp_path / "i.npz", "--format", "json")
    lost = opsinfo(*given).json
    assert schema_faults(lost) == []
    assert (lost["outputs"][0]["max_rel_error"], lost["outputs"][0]["cosine"]) == ("inf", None)
    assert (lost["first_not_finite"]["node"], lost["first_not_finite"]["type"]) == ("fc", "MatMulV2")
    assert "in 4 values that are finite in float32" in lost["first_not_finite"]["why"]
    clipped = opsinfo(*given, "--saturate").json
    assert (clipped["saturate"], clipped["first_not_finite"]) == (True, None)
    assert clipped["outputs"][0]["max_rel_error"] < 1


def test_the_page_and_the_plot_hold_the_nodes(opsinfo: Run, arguments: Simulate, tmp_path: Path) -> None:
    page, plot = tmp_path / "s.html", tmp_path / "s.svg"
    assert opsinfo(*arguments("--format", "html", "-o", page, "--plot", plot)).code == 0
    for path in (page, plot):
        assert re.search(r"<circle[^>]*><title>fc \(MatMulV2\): ", path.read_text("utf-8"))
    for text in ("Simulation of", "Op types", "Not shown", "the inside of kernels"):
        assert text in page.read_text("utf-8")
    assert not re.search(r"(src|href)=|style=", page.read_text("utf-8"))


def test_several_sets_of_inputs_are_named(opsinfo: Run, arguments: Simulate) -> None:
    ran = opsinfo(*arguments("--inputs", "random:1", "--inputs", "random:2", "--no-rank", "--format", "json"))
    assert ran.json["inputs"] == ["random:1", "random:2"]
    assert ran.json["outputs"][0]["elements"] == 8


@pytest.mark.parametrize(
    ("more", "code", "name"),
    [
        (["--no-trace", "--plot", "p.svg"], 2, "usage"),
        (["--shape", "z=1"], 2, "unknown-input"),
        (["--shape", "x=2,2", "--shape", "x=2,2"], 2, "bad-shape"),
        (["--inputs", "none.npz"], 3, "unreadable"),
        (["--precision-mode", "mixed"], 2, "unknown-mode"),
    ],
)
def test_wrong_options_are_refused_with_the_name_of_the_error(
    opsinfo: Run, arguments: Simulate, more: list[str], code: int, name: str
) -> None:
    ran = opsinfo(*arguments(*more, "--format", "json"))
    assert (ran.code, ran.json["error"]["name"]) == (code, name)


def test_a_target_is_required_and_the_model_must_be_onnx(opsinfo: Run, arguments: Simulate, tmp_path: Path) -> None:
    ran = opsinfo("simulate", onnx_model(tmp_path))
    assert (ran.code, ran.err.splitlines()[0]) == (
        2,
        "error: --against TARGET is required: its policies and dtypes decide",
    )
    ran = opsinfo(*arguments(model=dump(tmp_path)))
    assert ran.code == 2
    assert "simulate requires an ONNX model; this is ge-proto" in ran.err


def test_a_missing_package_is_named_with_the_extra(
    opsinfo: Run, arguments: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = arguments()
    missing: Any = None
    monkeypatch.setitem(sys.modules, "onnxruntime", missing)
    ran = opsinfo(*given)
    assert (ran.code, ran.out) == (3, "")
    assert "not installed: onnxruntime" in ran.err
    assert "pip install onnx onnxruntime numpy" in ran.err


def test_the_model_is_not_changed(opsinfo: Run, arguments: Simulate, tmp_path: Path) -> None:
    path = onnx_model(tmp_path, external=True)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()}
    assert opsinfo(*arguments(model=path)).code == 0
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()} == before


OPSET_20 = 'opset_import: ["" : 20]> net (float[1,2] x, float[2,2] w) => (float[1,2] y) {a = MatMul(x, w) y = Relu(a)}'
FLOAT16 = 'opset_import: ["" : 17]> net (float16[1,2] x, float16[2,2] w) => (float16[1,2] y) {y = MatMul(x, w)}'
CASTS = (
    'opset_import: ["" : 17]> net (float[1,2] x) => (float[1,2] y) {c = Cast<to=10>(x) r = Relu(c) y = Cast<to=1>(r)}'
)
BLACK = 'opset_import: ["" : 17]> net (float[1,2] x) => (float[1,2] y) {y = Log(x)}'
BFLOAT16 = 'opset_import: ["" : 17]> net (bfloat16[1,2] x, bfloat16[2,2] w) => (bfloat16[1,2] y) {y = MatMul(x, w)}'
WITHIN = (
    'opset_import: ["" : 17]> net (float[1,2] x) => (float[1,2] y) {c = Cast<to=16>(x) r = Mul(c, c) y = Cast<to=1>(r)}'
)


def parsed(folder: Path, text: str) -> Path:
    import onnx

    path = folder / "parsed.onnx"
    onnx.save(onnx.parser.parse_model(f"<ir_version: 8, {text}"), path)
    return path


@pytest.mark.parametrize(
    ("text", "name"),
    [(OPSET_20, "nothing-judged"), (FLOAT16, "low-itself"), (CASTS, "low-itself"), (BLACK, "nothing-rounded")],
)
def test_what_was_not_judged_or_rounded_is_no_pass_and_is_said_last(
    opsinfo: Run, arguments: Simulate, tmp_path: Path, text: str, name: str
) -> None:
    model = parsed(tmp_path, text)
    ran = opsinfo(*arguments("--max-error", "0.5", "--format", "json", model=model))
    assert (ran.code, ran.json["passes"], ran.json["rounded"]) == (1, False, 0)
    *_, message, _, _, hint = ran.err.splitlines()
    assert message.startswith("error: ")
    assert hint.startswith("hint: ")
    assert "passes" not in ran.err
    assert opsinfo(*arguments(model=model)).code == (0 if name == "nothing-rounded" else 1)
    words = [*arguments(model=model)[2:], "--model", model, "--simulate", "--max-error", "0.5", "--format", "json"]
    search = opsinfo("bisect", *words)
    assert (search.code, search.json["error"]["name"]) == (1, name)
    assert not (tmp_path / ".opsinfo-bisect" / "journal.jsonl").exists()


def test_a_list_that_keeps_all_high_passes(opsinfo: Run, arguments: Simulate, tmp_path: Path) -> None:
    file = write(tmp_path / "m.json", mixlist(black_add=["MatMulV2"], white_remove=["MatMulV2"]))
    assert opsinfo(*arguments("--mixlist", file, "--max-error", "1e-9")).code == 0


@pytest.mark.parametrize("text", [BFLOAT16, WITHIN])
def test_a_model_of_bfloat16_has_no_reference_on_a_cpu(
    opsinfo: Run, arguments: Simulate, tmp_path: Path, text: str
) -> None:
    ran = opsinfo(*arguments(model=parsed(tmp_path, text)))
    assert ran.code == 3
    assert "onnxruntime computes no bfloat16 on a CPU" in ran.err
    assert "hint: give the model as it was before its conversion to bfloat16" in ran.err


def test_a_share_that_was_not_judged_is_said_beside_the_verdict(
    opsinfo: Run, arguments: Simulate, tmp_path: Path
) -> None:
    text = 'opset_import: ["" : 17]> net (float[1,2] x, float[2,2] w) => (float[1,2] y) {a = MatMul(x, w) y = Sin(a)}'
    ran = opsinfo(*arguments("--max-error", "0.5", model=parsed(tmp_path, text)))
    assert "passes --max-error 0.5; 1 of 2 compute nodes not judged (50 %)" in ran.err


def test_a_terminal_shows_outputs_first_nodes_op_types_and_the_curve(
    terminal: Callable[..., tuple[int, str]], arguments: Simulate, tmp_path: Path
) -> None:
    code, shown = terminal(*arguments("--by", "node", model=onnx_model(tmp_path, [[70000.0, 0.3], [0.1, -2.7]])))
    assert code == 0
    for text in (
        "Outputs against the reference",
        "first Inf or NaN: fc (MatMulV2)",
        "first jump of the error: fc (MatMulV2)",
        "Op types, those that cost most first",
        "Low nodes, those that cost most first",
        "error along the graph",
    ):
        assert text in shown
