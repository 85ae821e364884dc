"""Op types of a model that a list can move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ge_dump import ge_dump

from opsinfo_cli.core.cann.marks import ADD_WHITE
from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.lab.bisect.candidates import SetJudge, doubts, prune
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import GraphTensor, ModelFacts
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph

GRAPH = {
    "nodes": [
        {"name": "x", "type": "Data", "out": ["f32"]},
        {"name": "a", "type": "White", "inputs": ["x:0"], "out": ["f32"]},
        {"name": "b", "type": "Follows", "inputs": ["a:0"], "out": ["f32"]},
        {"name": "c", "type": "Twin", "inputs": ["b:0"], "out": ["f32"]},
        {"name": "d", "type": "LowOnly", "inputs": ["x:0"], "out": ["f32"]},
        {"name": "e", "type": "Black", "inputs": ["c:0"], "out": ["f32"]},
        {"name": "f", "type": "White", "inputs": ["e:0"], "out": ["f32"]},
        {"name": "output", "type": "NetOutput", "inputs": ["f:0", "d:0"]},
    ]
}


def entry(flag: str | None, dtypes: str) -> dict[str, Any]:
    columns = {"dtype": dtypes, "format": ",".join("ND" for _ in dtypes.split(",")), "paramType": "required"}
    sections = {"input0": {**columns, "name": "x"}, "output0": {**columns, "name": "y"}}
    return {**sections, **({"precision_reduce": {"flag": flag}} if flag else {})}


@pytest.fixture
def sets(tmp_path: Path) -> Any:
    both = "float16,float"
    library = {
        "White": entry("true", both),
        "Follows": entry(None, both),
        "Twin": entry("true", both),
        "LowOnly": entry("true", "float16"),
        "Black": entry("false", both),
    }
    path = tmp_path / "aic-ascend910b-ops-info.json"
    path.write_text(json.dumps(library), "utf-8")
    dump = tmp_path / "ge_proto_00020_FeTopoSortingAfter.txt"
    dump.write_text(ge_dump(GRAPH), "utf-8")
    prepared = prepare(read_graph(str(dump)), Target.open(str(path)))

    def made(white: bool = False) -> SetJudge:
        return SetJudge(prepared, "mixed_float16", {}, white)

    return made


def test_types_that_run_low_and_can_be_black_are_candidates(sets: Any) -> None:
    candidates, reasons = prune(sets())
    assert [*candidates] == ["White", "Follows", "Twin"]
    assert reasons["Black"] == "no node of it runs in low precision"
    assert reasons["LowOnly"] == "the chip has no float32 kernel for a node of it"


def test_to_grow_the_white_list_types_that_run_high_are_candidates(sets: Any) -> None:
    assert [*prune(sets(white=True))[0]] == ["Black"]


def test_doubts_name_the_types_that_will_not_help(sets: Any) -> None:
    reasons = doubts(sets(), ["White", "Black", "Other"])
    assert reasons == {"Black": "no node of it runs in low precision", "Other": "the model has no node of it"}


def test_sets_that_lead_to_the_same_dtypes_have_one_digest(sets: Any) -> None:
    judged = sets()
    digests = {name: judged.effect(frozenset({name})).digest for name in ("White", "Follows", "Black")}
    assert digests["Black"] == judged.effect(frozenset()).digest
    assert len(set(digests.values())) == 3
    white = judged.answer(frozenset({"White"}))
    assert [white[node].name for node in white.changed(judged.base_answer)] == ["a", "b", "f"]


def test_kept_nodes_have_different_digests(sets: Any) -> None:
    judged = sets()
    assert list(judged.moved(frozenset({"White"}))) == ["a", "b", "f"]
    digests = [judged.effect(frozenset(names), by_node=True).digest for names in ([], ["a", "f"], ["a"], ["f"])]
    assert digests[:2] == [judged.effect(frozenset()).digest, judged.effect(frozenset({"White"})).digest]
    assert digests[2] != digests[3]


def test_of_two_nodes_of_one_name_the_first_is_the_one_that_moves() -> None:
    builder = GraphBuilder()
    tensor = GraphTensor("float32")
    builder.add("x", "Data", outputs=[tensor])
    owner = builder.add("same", "MatMulV2", [("x", 0)], [tensor])
    builder.subgraph("body", owner)
    builder.add("x", "Data", outputs=[tensor])
    builder.add("same", "MatMulV2", [("x", 0)], [tensor])
    marks = {"MatMulV2": frozenset({ADD_WHITE})}
    judged = SetJudge(prepare(builder.build(ModelFacts("onnx")), None), "mixed_float16", marks)
    assert judged.moved(frozenset({"MatMulV2"})) == {"same": owner}
