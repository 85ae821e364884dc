"""`fusion_result.json`: its layouts, and the counts of a prediction beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.fusion_result import CompiledGraph, PassCount, beside, is_fusion_result, read_fusion_result
from opsinfo_cli.lab.graph.fusions.fuse import Fused, Fusion
from opsinfo_cli.lab.graph.graph import ModelFacts, ModelGraph

COUNTS = {"ConstToAttrPass": {"effect_times": "2", "match_times": "4"}, "OwnPass": {"effect_times": "1"}}
BUFFER = {"ub_fusion": {"TbeEltwiseFusionPass": {"effect_times": "1", "match_times": "1"}}}
ONE: dict[str, Any] = {"graph_fusion": COUNTS, **BUFFER, "session_and_graph_id": "0_0"}
READ = {"ConstToAttrPass": (4, 2), "OwnPass": (0, 1)}
LAYOUTS = {
    "keyed": json.dumps({"session_and_graph_id_0_0": {"graph_fusion": COUNTS, **BUFFER}}, indent=4),
    "single": json.dumps(ONE),
    "list": json.dumps([ONE]),
    "oldest": json.dumps({"graphId": "0", "sessionId": "0", "graph_fusion": COUNTS}),
    "mark": "\ufeff" + json.dumps(ONE),
}


def written(folder: Path, text: str) -> str:
    path = folder / "fusion_result.json"
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_read(tmp_path: Path, layout: str) -> None:
    path = written(tmp_path, LAYOUTS[layout])
    assert is_fusion_result(path)
    assert read_fusion_result(path) == [CompiledGraph("0_0", READ)]


def test_objects_one_behind_the_other_are_several_graphs(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(ONE) + "\n" + json.dumps({**ONE, "session_and_graph_id": "0_1"}))
    assert [graph.name for graph in read_fusion_result(path)] == ["0_0", "0_1"]


def test_a_graph_without_graph_fusion_has_no_passes(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"session_and_graph_id_0_0": BUFFER}))
    assert read_fusion_result(path) == [CompiledGraph("0_0", {})]


@pytest.mark.parametrize(
    "text",
    [
        '{"session_and_graph_id_0_0": ',
        '{"graph_fusion": {}}',
        '{"session_and_graph_id_0_0": {"graph_fusion": {"A": {"match_times": "many"}}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Damaged):
        read_fusion_result(written(tmp_path, text))


def fused(*names: str) -> Fused:
    return Fused(ModelGraph([], ModelFacts("onnx"), []), [Fusion(name, ("a",), ("a",)) for name in names])


def test_the_prediction_stands_beside_the_counts() -> None:
    names = ("ConstToAttrPass", "ConstToAttrPass", "IdentityPass", "Pow2SquareFusionPass")
    result = beside(fused(*names), [CompiledGraph("0_0", READ)])
    assert result.passes == [
        PassCount("ConstToAttrPass", 2, 4, 2),
        PassCount("OwnPass", None, 0, 1),
        PassCount("Pow2SquareFusionPass", 1, 0, 0),
    ]
    assert [each.differs for each in result.passes] == [False, False, True]
    assert (len(result.known), result.differing) == (2, 1)


def test_a_pass_that_may_run_and_was_not_applied_is_not_predicted() -> None:
    may_run = fused("ConstToAttrPass")._replace(not_applied={"Pow2SquareFusionPass": ["p"], "ConstToAttrPass": ["q"]})
    graph = CompiledGraph("0_0", {"Pow2SquareFusionPass": (1, 1), "ConstToAttrPass": (2, 2)})
    result = beside(may_run, [graph])
    assert [(each.predicted, each.differs) for each in result.passes] == [(None, False), (None, False)]
    assert (result.known, result.differing) == ([], 0)


def test_the_closest_graph_is_compared() -> None:
    graphs = [CompiledGraph("0_0", READ), CompiledGraph("0_1", {"ConstToAttrPass": (1, 1)})]
    result = beside(fused("ConstToAttrPass"), graphs)
    assert (result.graph, result.graphs, result.differing) == ("0_1", 2, 0)
    assert beside(fused(), [CompiledGraph("0_0", {}), *graphs]).graph == "0_1"


@pytest.mark.parametrize(
    "count",
    ['"many"', '"-1"', '"1.5"', "null", "-1", "1.5", "1e3", "true", "[1]", '""', '"' + "9" * 5000 + '"', "9" * 5000],
)
def test_a_wrong_count_is_refused_with_its_place(tmp_path: Path, count: str) -> None:
    path = tmp_path / "fusion_result.json"
    counts = f'{{"effect_times": "1", "match_times": {count}}}'
    path.write_text(f'{{"session_and_graph_id_0_0": {{"graph_fusion": {{\n  "APass": {counts}}}}}}}')
    with pytest.raises(Damaged) as caught:
        read_fusion_result(str(path))
    error = caught.value
    assert error.message.startswith(("match_times of APass is no count: ", "a number too large"))
    assert (error.line, error.column) == (2, 49)


@pytest.mark.parametrize(
    "counts",
    [
        '{"match_times": "1", "effect_times": "2"}',
        '{"match_times": "0", "effect_times": 1}',
        '{"match_times": 10, "effect_times": "11", "repository_hit_times": "0"}',
    ],
)
def test_more_effects_than_matches_are_refused_with_their_place(tmp_path: Path, counts: str) -> None:
    path = written(tmp_path, f'{{"session_and_graph_id_0_0": {{"graph_fusion": {{\n"A": {counts}}}}}}}')
    with pytest.raises(Damaged, match=r"A took effect \d+ times, but matched only \d+ times") as caught:
        read_fusion_result(path)
    assert (caught.value.line, caught.value.column) == (2, counts.index("effect_times") + 21)


def test_broken_text_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "fusion_result.json"
    path.write_text('{"session_and_graph_id_0_0": {"graph_fusion": {}},\n nonsense}')
    with pytest.raises(Damaged, match="expected a key in double quotes") as caught:
        read_fusion_result(str(path))
    assert (caught.value.line, caught.value.column) == (2, 2)
