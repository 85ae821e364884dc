"""Judging only the changed parts of a graph has the same result as judging the whole graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ge_dump import ge_dump
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.graph.judge.again import JudgedAgain, fits
from opsinfo_cli.graph.judging import Ready, prepare
from opsinfo_cli.graph.readers import read_graph
from opsinfo_cli.model.policy import ADD_BLACK, ADD_WHITE, REMOVE_BLACK, REMOVE_WHITE
from opsinfo_cli.model.target import Target

TYPES = {
    "White": "true",
    "White2": "true",
    "Gray": None,
    "Gray2": None,
    "Black": "false",
    "Cast": None,
}
MARKS = [frozenset({each}) for each in (ADD_BLACK, ADD_WHITE, REMOVE_BLACK, REMOVE_WHITE)]


def entry(flag: str | None) -> dict[str, Any]:
    columns = {"dtype": "float16,float,bfloat16", "format": "ND,ND,ND", "paramType": "required"}
    sections = {
        "input0": {**columns, "name": "x"},
        "input1": {**columns, "name": "z", "paramType": "optional"},
        "output0": {**columns, "name": "y"},
    }
    return {**sections, **({"precision_reduce": {"flag": flag}} if flag else {})}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Target:
    path = tmp_path_factory.mktemp("library") / "aic-ascend910b-ops-info.json"
    path.write_text(json.dumps({name: entry(flag) for name, flag in TYPES.items()}), "utf-8")
    return Target.open(str(path))


def graph_of(types: list[str], feeds: list[int], folder: Path, library: Target) -> Ready:
    nodes: list[dict[str, Any]] = [{"name": "n0", "type": "Data", "out": ["f32"]}]
    for number, (op_type, feed) in enumerate(zip(types, feeds, strict=True), 1):
        inputs = [f"n{number - 1}:0", f"n{feed % number}:0"][: 1 if op_type == "Cast" else 2]
        nodes.append({"name": f"n{number}", "type": op_type, "inputs": inputs, "out": ["f32"]})
    nodes.append({"name": "output", "type": "NetOutput", "inputs": [f"n{len(types)}:0"]})
    path = folder / "ge_proto_00020_FeTopoSortingAfter.txt"
    path.write_text(ge_dump({"nodes": nodes}), "utf-8")
    return prepare(read_graph(str(path)), library)


@given(data=st.data())
def test_changed_nodes_are_those_that_differ_between_whole_judgings(
    data: st.DataObject, library: Target, tmp_path: Path
) -> None:
    types = data.draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=25))
    feeds = data.draw(st.lists(st.integers(0, 24), min_size=len(types), max_size=len(types)))
    ready = graph_of(types, feeds, tmp_path, library)
    lists = st.dictionaries(st.sampled_from(sorted(TYPES)[:-1]), st.sampled_from(MARKS), max_size=4)
    mode = data.draw(st.sampled_from(["mixed_float16", "mixed_bfloat16", "force_fp16"]))
    base = data.draw(lists)
    before = ready.judge(mode, base)
    again = JudgedAgain(ready.prepared, mode, base)
    for marks in data.draw(st.lists(lists, min_size=1, max_size=3)):
        after = ready.judge(mode, marks)
        found = again.changed(marks)
        if marks.get("Cast") != base.get("Cast"):
            assert found is None
            continue
        assert found is not None
        assert sorted(found) == after.changed(before)
        for node, choice in found.items():
            assert (choice.inputs, choice.outputs) == (after[node].inputs, after[node].outputs)
        assert again.choices == before.judged.choices


def test_lists_that_move_casts_are_judged_as_a_whole(library: Target, tmp_path: Path) -> None:
    ready = graph_of(["White", "Cast", "Gray"], [0, 0, 0], tmp_path, library)
    assert fits(ready.prepared)
    assert JudgedAgain(ready.prepared, "mixed_float16", {}).changed({"Cast": frozenset({ADD_BLACK})}) is None
