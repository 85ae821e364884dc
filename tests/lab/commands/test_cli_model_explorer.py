"""`--format model-explorer`: node data, as Model Explorer reads it, of `graph` and `simulate`."""

from __future__ import annotations

import json
import re
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


BODIES = """<ir_version: 8, opset_import: ["" : 17]> main (float[4,4] x, bool t) => (float[4,4] y)
<int64 n = {3}, float[4] z = {0, 0, 0, 0}> {
  two = Constant <value = float {2}> ()
  [first] a = Add(x, two)
  [outer] b = Loop(n, t, a) <body = outer_body (int64 i, bool c, float[4,4] v) => (bool c2, float[4,4] v3) {
    [mul] v1 = MatMul(v, v)
    [pick] v2 = If(c) <
      then_branch = left () => (float[4,4] l) { [log] l = Log(v1) },
      else_branch = right () => (float[4,4] r) { [relu] r = Relu(v1) }>
    [inner] v3 = Loop(n, t, v2) <body = inner_body (int64 j, bool d, float[4,4] w) => (bool d2, float[4,4] w2) {
      [deep] w2 = Relu(w)
      [keep] d2 = Identity(d) }>
    [same] c2 = Identity(c) }>
  [scan] s, e = Scan <num_scan_inputs = 1, body = scan_body (float[4] f, float[4] g) => (float[4] f2, float[4] h) {
    [sum] f2 = Add(f, g)
    [log] h = Log(f2) }> (z, b)
  [last] y = Add(e, x)
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


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (
            BODIES,
            {
                "main": "first outer scan last",
                "outer/body": "mul pick pick/then_branch/log pick/else_branch/relu inner same",
                "scan/body": "sum log",
            },
        ),
        (
            re.sub(r"\[[a-z]+\] ", "", BODIES),
            {
                "main": "node_1 node_2 node_7 node_9",
                "node_2/body": "node node_3 node_3/then_branch/node node_3/else_branch/node node_4 node_6",
                "node_7/body": "node node_8",
            },
        ),
    ],
    ids=["with names", "without names"],
)
def test_bodies_are_coloured_in_the_graphs_that_the_viewer_makes_of_them(
    opsinfo: Run, target: list[str | Path], tmp_path: Path, text: str, drawn: dict[str, str]
) -> None:
    """The names are those of model_explorer_onnx 0.4.2."""
    onnx.save_model(onnx.parser.parse_model(text), tmp_path / "bodies.onnx")
    ran = opsinfo("graph", tmp_path / "bodies.onnx", *target, "--format", "model-explorer")
    found = json.loads(ran.out)
    assert {name: " ".join(data["results"]) for name, data in found.items()} == drawn
    values = {
        name: [each["value"].partition(",")[0] for each in data["results"].values()] for name, data in found.items()
    }
    assert [*values.values()] == [
        ["float32", "not judged", "not judged", "float32"],
        ["float16", "not judged", "float32", "float16", "not judged", "not judged"],
        ["float32", "float32"],
    ]
    assert "without a colour: 2 nodes" in ran.err


REPEATED = """<ir_version: 8, opset_import: ["" : 17]> main (float[4,4] x, bool c) => (float[4,4] y)
<float[4,4] n = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> {
  [n] a = MatMul(x, n)
  [n] b = If(c) <
    then_branch = then () => (float[4,4] p) { [n] o = Relu(a) [n] p = Log(o) },
    else_branch = els () => (float[4,4] q) { [n] q = Log(a) }>
  [n] y = If(c) <
    then_branch = third () => (float[4,4] r) { [n] r = MatMul(b, b) },
    else_branch = last () => (float[4,4] s) { [n] s = Log(b) }>
}"""


def test_each_of_several_nodes_of_one_name_has_its_own_colour(
    opsinfo: Run, target: list[str | Path], tmp_path: Path
) -> None:
    onnx.save_model(onnx.parser.parse_model(REPEATED), tmp_path / "repeated.onnx")
    words = (tmp_path / "repeated.onnx", *target, "--format", "model-explorer")
    results = _data(opsinfo("graph", *words).out)["results"]
    dtypes = [each["value"].partition(",")[0] for each in results.values()]
    assert dtypes == [
        "float16", "not judged", "float16", "float32", "float32", "not judged", "float16", "float32"
    ]  # fmt: skip


def test_a_repeated_name_has_the_error_of_its_node(opsinfo: Run, target: list[str | Path], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="simulations need onnxruntime")
    text = """<ir_version: 8, opset_import: ["" : 17]> main (float[4,4] x) => (float[4,4] y) {
      [n] a = MatMul(x, x)
      [n] y = Exp(a)
    }"""
    onnx.save_model(onnx.parser.parse_model(text), tmp_path / "n.onnx")
    words = ("simulate", tmp_path / "n.onnx", *target, "--no-rank", "--format")
    results = _data(opsinfo(*words, "model-explorer").out)["results"]
    errors = [each["error"] for each in opsinfo(*words, "json").json["nodes"]]
    assert ([each["value"] for each in results.values()], [*results]) == (errors, ["n", "n_1"])


@pytest.mark.parametrize(("name", "data"), [("", None), ("empty", "empty")])
def test_a_model_without_nodes_has_no_results(
    opsinfo: Run, target: list[str | Path], tmp_path: Path, name: str, data: str | None
) -> None:
    proto = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => (float[4] x) {}')
    proto.graph.name = name
    (tmp_path / "empty.onnx").write_bytes(proto.SerializeToString())
    ran = opsinfo("graph", tmp_path / "empty.onnx", *target, "--format", "model-explorer")
    found = ran.json if data is None else ran.json[data]
    assert found["results"] == {}


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
