"""`--format model-explorer`: node data, as Model Explorer reads it, of `graph` and `simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run
from model_files import dump

onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")

TEXT = """<ir_version: 8, opset_import: ["" : 17]> main (float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) {
  [first] a = MatMul(x, x)
  b = Relu(a)
  s = Relu(b)
  [last] d = Log(s)
  [last] y = Identity(d)
  [choice] z = If(c) <
    then_branch = then () => (float[4,4] p) { [inner] p = Exp(b) },
    else_branch = els () => (float[4,4] q) { [inner2] q = Neg(b) }>
}"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    onnx.save_model(onnx.parser.parse_model(TEXT), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


@pytest.fixture
def target(opp: Path) -> list[str | Path]:
    return ["--against", opp, "--soc", "ascend910b", "--precision-mode", "mixed_float16"]


def _data(text: str) -> dict[str, Any]:
    """The node data of the one graph, held to the format: keys by node, a value each, colours as hex."""
    ((name, data),) = json.loads(text).items()
    assert name == "main"
    assert {*data} <= {"name", "results", "gradient", "showExpandedSummaryOnGroupNode", "hideInAggregatedStatsTable"}
    for each in data["results"].values():
        assert {*each} <= {"value", "bgColor", "textColor"}
        assert all(each[key].startswith("#") and len(each[key]) == 7 for key in each if key != "value")
    return dict(data)


def test_nodes_have_the_names_of_the_viewer_and_the_colour_of_their_dtype(
    opsinfo: Run, model: Path, target: list[str | Path]
) -> None:
    results = _data(opsinfo("graph", model, *target, "--format", "model-explorer").out)["results"]
    assert list(results) == [
        "first", "node", "node_1", "last", "last_1", "choice",
        "choice/then_branch/inner", "choice/else_branch/inner2",
    ]  # fmt: skip
    values = {name: each["value"] for name, each in results.items()}
    assert values["first"] == "float16, white, Cast"
    assert (values["node"], values["node_1"]) == ("float16, gray", "float16, gray")
    assert values["last"] == "float32, black, Cast"
    assert results["node"]["bgColor"] != results["last"]["bgColor"] != results["first"]["bgColor"]
    assert ("textColor" in results["first"], "textColor" in results["node"]) == (True, False)


def test_a_mixlist_changes_colours_and_match_limits_the_coloured_nodes(
    opsinfo: Run, model: Path, target: list[str | Path], tmp_path: Path
) -> None:
    (tmp_path / "ops_info.json").write_text('{"black-list": {"to-add": ["Relu"]}}')
    words = ("graph", model, *target, "--mixlist", tmp_path / "ops_info.json", "--format", "model-explorer")
    whole = _data(opsinfo(*words).out)["results"]
    assert whole["node"]["value"] == "float32, black, Cast"
    assert whole["node_1"] == {"value": "float32, black", "bgColor": whole["node"]["bgColor"]}
    assert [*_data(opsinfo(*words, "--match", "Relu").out)["results"]] == ["node", "node_1"]


def test_errors_are_a_gradient_and_an_infinite_one_is_a_word(
    opsinfo: Run, model: Path, target: list[str | Path]
) -> None:
    pytest.importorskip("onnxruntime", reason="simulations need onnxruntime")
    ran = opsinfo("simulate", model, *target, "--no-rank", "--format", "model-explorer")
    data = _data(ran.out)
    stops = [each["stop"] for each in data["gradient"]]
    assert (stops[0], stops[-1], stops) == (0, 1, sorted(stops))
    document = json.loads(opsinfo("simulate", model, *target, "--no-rank", "--format", "json").out)
    errors = {each["node"]: each["error"] for each in document["nodes"]}
    assert data["results"]["first"]["value"] == errors["first"] > 0
    assert "NaN" not in ran.out
    assert "Infinity" not in ran.out


def test_what_the_viewer_cannot_show_is_refused(
    opsinfo: Run, model: Path, target: list[str | Path], tmp_path: Path
) -> None:
    for words in (("--node", "first"), ("--compare-precision-mode", "force_fp16")):
        ran = opsinfo("graph", model, *target, *words, "--format", "model-explorer")
        assert (ran.code, f"{words[0]} cannot be combined with --format model-explorer" in ran.err) == (2, True)
    ran = opsinfo("graph", dump(tmp_path), *target, "--format", "model-explorer")
    assert (ran.code, "requires an ONNX model" in ran.err) == (2, True)
    ran = opsinfo("simulate", model, *target, "--no-trace", "--format", "model-explorer")
    assert ran.code == 2
