"""`opsinfo graph --format html`: the contents of the page; `tests/browser` opens it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, mixlist, write
from model_files import CLASSIFIER, COMPILED, dump

from opsinfo_cli.lab.commands.graph.page import MOST_BINS, Band, ribbon


@pytest.fixture
def judged(opp: Path) -> list[str | Path]:
    return ["--against", opp, "--soc", "ascend910b", "--precision-mode", "mixed_float16"]


def data_of(text: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    found: dict[str, Any] = json.loads(data)
    return found


def nodes_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a page as the JSON document has them."""
    found = []
    for node, state in enumerate(data["states"][number] for number in data["state"]):
        before, after = data["reasons"][data["reason"][node]]
        follows = data["follows"][node]
        why = f"{before}`{name_of(data, node - follows)}`{after}" if follows else before + after
        words = ("inputs", "outputs", "original_inputs", "original_outputs", "list")
        row = dict(zip(words, state, strict=False))
        found.append({"name": name_of(data, node), "type": data["types"][data["type"][node]], "why": why, **row})
    return found


def name_of(data: dict[str, Any], node: int) -> str:
    return str(data["folders"][data["folder"][node]] + data["bases"][data["base"][node]])


def test_the_columns_of_a_page_have_every_node_as_the_document_has_it(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    words = ["graph", dump(tmp_path), *judged]
    document = opsinfo(*words, "--format", "json").json
    data = data_of(opsinfo(*words, "--format", "html").out)
    found = nodes_of(data)
    assert found == [{key: node[key] for key in found[0]} for node in document["nodes"]]
    assert data["casts"]["node"] == [2, 2, 4]
    assert data["casts"]["kinds"] == [
        ["float32", "float16", False],
        ["float32", "float16", True],
        ["float16", "float32", False],
    ]
    assert data["source"] == [2, 1, 1, 1, 1]


def test_every_model_of_the_corpus_is_a_page_with_the_nodes_of_the_document(opsinfo: Run, corpus: Path) -> None:
    graphs = corpus / "graphs"
    words = ["--against", corpus / "cann-910b" / "opp", "--soc", "ascend910b", "--precision-mode", "mixed_float16"]
    compiled = graphs / "autoencoder.om"
    dumped = graphs / "ge_proto_00015_OptimizeQuantGraph_FeGraphFusionAfter.txt"
    for arguments in ([compiled], [compiled, *words], [dumped], [graphs / "monodepth.pb", *words]):
        document = opsinfo("graph", *arguments, "--format", "json").json
        found = nodes_of(data_of(opsinfo("graph", *arguments, "--format", "html").out))
        assert found == [{key: node[key] for key in found[0]} for node in document["nodes"]]


def test_the_summary_is_in_the_markup(opsinfo: Run, judged: list[str | Path], tmp_path: Path) -> None:
    text = opsinfo("graph", dump(tmp_path), *judged, "--format", "html").out
    for part in ("<dt>Mode</dt><dd>mixed_float16</dd>", "3 edges need a Cast", "<b>2</b>", "</svg>", ">MatMulV2</th>"):
        assert part in text


def test_the_casts_of_a_compiled_model_are_ticked(opsinfo: Run, tmp_path: Path) -> None:
    data = data_of(opsinfo("graph", dump(tmp_path, COMPILED, "FeInsertTransNodeAfter"), "--format", "html").out)
    assert [name_of(data, node) for node in data["castNodes"]] == ["trans_Cast_0", "trans_Cast_1"]
    assert data["casts"]["node"] == []


def test_a_comparison_is_in_the_page_and_decides_the_exit_status(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    file = write(tmp_path / "ops_info.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("graph", dump(tmp_path), *judged, "--compare-mixlist", file, "--format", "html")
    assert ran.code == 1
    changed = data_of(ran.out)["comparison"]["changed"]
    assert changed["index"] == [3]
    assert data_of(ran.out)["states"][changed["state"][0]][:2] == [["float32"], ["float32"]]
    assert "<dt>Compared with</dt><dd>mixlist" in ran.out


def test_nodes_that_differ_from_the_compiled_model_are_in_the_page(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    nodes = [
        {**node, "in": ["f32", "f32"], "out": ["f32"]} if node.get("fused") else node for node in COMPILED["nodes"]
    ]
    compiled = dump(tmp_path, {"nodes": nodes}, "FeInsertTransNodeAfter")
    words = ["graph", dump(tmp_path), *judged, "--read-back", compiled, "--format", "html"]
    ran = opsinfo(*words)
    assert ran.code == 1
    assert data_of(ran.out)["back"]["differs"] == {
        "3": ["fc/matmulrelu", "MatMulV2", ["float32", "float32"], ["float32"]]
    }
    assert "Nodes that differ from the compiled model" in ran.out
    assert "nodes that differ from the compiled model" in ran.out, "its band of the drawing"


def test_the_page_of_a_node_shows_it_first(opsinfo: Run, judged: list[str | Path], tmp_path: Path) -> None:
    ran = opsinfo("graph", dump(tmp_path), *judged, "--node", "relu", "--format", "html")
    assert (ran.code, data_of(ran.out)["chosen"]) == (0, 3)


@pytest.mark.parametrize("format_", ["html", "json", "text"])
def test_an_output_never_overwrites_the_model(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path, format_: str
) -> None:
    model = dump(tmp_path)
    before = model.read_bytes()
    ran = opsinfo("graph", model, *judged, "--format", format_, "-o", model)
    assert ran.code == 2
    assert model.read_bytes() == before


@pytest.mark.parametrize("count", [1, 7, MOST_BINS, MOST_BINS + 1, 5 * MOST_BINS + 3])
def test_every_node_has_a_place_on_the_ribbon(count: int) -> None:
    """Each tick is in the column with its node's dtype."""
    bins = min(count, MOST_BINS)
    for node in {0, 1 % count, count // 2, count - 1}:
        dtypes = [None if number != node else "float16" for number in range(count)]
        drawn = ribbon(count, [Band("dtypes", dtypes), Band("ticks", ticks=[node])])
        (at,) = re.findall(r'class="tick" d="M(\d+) ', drawn)
        columns = re.findall(r'class="float16" d="M(\d+) ', drawn)
        assert f'viewBox="0 0 {bins} 40" height="40"' in drawn
        assert int(at) * count // bins <= node < (int(at) + 1) * count // bins
        assert columns == [at]


def test_the_bands_of_a_column_are_as_high_as_the_shares_of_its_nodes() -> None:
    dtypes = ["float16", "float16", "float32"] * MOST_BINS
    drawn = ribbon(len(dtypes), [Band("dtypes", dtypes)])
    assert re.findall(r'class="(\w+)" d="([^"]*)"', drawn) == [
        ("float16", f"M0 0h{MOST_BINS}v20h-{MOST_BINS}z"),
        ("float32", f"M0 20h{MOST_BINS}v10h-{MOST_BINS}z"),
    ]


def test_a_graph_with_a_hostile_name_stays_one_script_and_one_block_of_data(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    hostile = "</script><script>alert(1)</script>&\\u202e"
    nodes = [{**node, "name": hostile} if node["name"] == "log" else node for node in CLASSIFIER["nodes"]]
    nodes[-1] = {**nodes[-1], "inputs": [f"{hostile}:0"]}
    text = opsinfo("graph", dump(tmp_path, {"nodes": nodes}), *judged, "--format", "html").out
    assert text.count("<script") == text.count("</script>") == 2
    assert "alert(1)" in name_of(data_of(text), 4)


def test_the_title_is_the_name_of_the_file_constants_are_gray_and_caveats_are_folded(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    path = dump(tmp_path)
    ran = opsinfo("graph", path, *judged, "--format", "html")
    assert f"<h1>{path.name}</h1>" in ran.out
    assert f"<dt>File</dt><dd>{path}</dd>" in ran.out
    assert ran.out.index('<details id="notes">') > ran.out.index('id="types"')
    data = data_of(ran.out)
    drawn = {
        data["types"][kind]: data["states"][state][-1] for kind, state in zip(data["type"], data["state"], strict=True)
    }
    assert drawn["Data"] == drawn["Const"] == "nothing"
    assert drawn["MatMulV2"] == "float16"
    assert {data["types"][number] for number in data["idle"]} >= {"Data", "Const"}


def test_node_takes_an_end_that_one_node_has(opsinfo: Run, judged: list[str | Path], tmp_path: Path) -> None:
    nodes = [{**each, "name": f"net/{each['name']}"} for each in CLASSIFIER["nodes"]]
    for each in nodes:
        each["inputs"] = [f"net/{source}" for source in each.get("inputs", ())]
    path = dump(tmp_path, {**CLASSIFIER, "nodes": nodes})
    last = nodes[-2]["name"].removeprefix("net/")
    for word in (last, f".../{last}", f"net/{last}"):
        ran = opsinfo("graph", path, *judged, "--node", word)
        assert (ran.code, ran.out.split("\t")[0]) == (0, f"net/{last}")
    ran = opsinfo("graph", path, *judged, "--node", "net/...")
    assert (ran.code, f"{len(nodes)} nodes end with `net/...`" in ran.err) == (2, True)
