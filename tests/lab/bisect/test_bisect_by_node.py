"""`--by node`: the cheapest nodes, compared with the best of all subsets of the low nodes of small models."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import onnx
import pytest
from cli_support import Run
from hypothesis import given
from hypothesis import strategies as st
from model_files import dump
from onnx import parser
from planted import Planted
from planted import search as planted_search

from opsinfo_cli import Target
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.lab.bisect import bisect_mixlist
from opsinfo_cli.lab.bisect.bisect_mixlist import PythonSearchListener, TrialCheck, run_search
from opsinfo_cli.lab.bisect.culprits import ResultByNode
from opsinfo_cli.lab.bisect.places.here import HerePlace
from opsinfo_cli.lab.bisect.problem import Problem, SubjectOptions, open_problem
from opsinfo_cli.lab.bisect.run_folder import RunFolder
from opsinfo_cli.lab.bisect.search.minimal_set import price
from opsinfo_cli.lab.bisect.session import Rules
from opsinfo_cli.lab.bisect.trial import Trial

LISTENER = PythonSearchListener()

MODELS = dict(line.split(": ") for line in Path(__file__).with_name("small_models.txt").read_text("utf-8").splitlines())
"""Nodes as ``name type inputs``; MatMulV2, BatchMatMulV2 and Conv2D are white, Log is black, the others are gray."""


@pytest.fixture(params=MODELS)
def problem(request: pytest.FixtureRequest, tmp_path: Path, opp: Path) -> Problem:
    nodes: list[dict[str, Any]] = [{"name": "x", "type": "Data", "out": ["f32"]}]
    nodes.append({"name": "w", "type": "Const", "out": ["f32"]})
    for words in MODELS[request.param].split("; "):
        name, op_type, *inputs = words.split()
        nodes.append({"name": name, "type": op_type, "inputs": [f"{each}:0" for each in inputs], "out": ["f32"]})
    read = {feed for node in nodes for feed in node.get("inputs", ())}
    ends = [f"{node['name']}:0" for node in nodes[2:] if f"{node['name']}:0" not in read]
    path = dump(tmp_path, {"nodes": [*nodes, {"name": "out", "type": "NetOutput", "inputs": ends}]})
    target = Target.open(opp, soc="ascend910b")
    options = SubjectOptions(target.text, str(path), None, "mixed_float16", (), (), False, "node")
    return open_problem(options, target, None, LISTENER)


def search(problem: Problem, needed: set[int], folder: Path) -> ResultByNode | None:
    """Search with a check that passes if all these nodes are high; None: no list makes them high."""
    sets = problem.sets
    assert sets is not None

    def judge(trial: Trial) -> tuple[int, str]:
        name, content = trial.files["mixlist"]
        kept = sets.keeping(trial.files["keep_dtype"][1].decode().split())
        answer = kept.judge(sets.mode, Mixlist(scan(Source(content, name))))
        return int(any(map(answer.is_low, needed))), ""

    check = TrialCheck(Rules(["check"]), ["check"], [], lambda _: HerePlace(judge, "truth"))
    return run_search(problem, check, RunFolder(str(folder)), LISTENER).nodes


def test_the_cheapest_nodes_are_those_of_an_enumeration(problem: Problem, tmp_path: Path) -> None:
    """Each low node, and every third pair of them, is what the check needs."""
    sets = problem.sets
    assert sets is not None
    place = {node.name: node.index for node in sets.base_answer if node.low}
    every = [kept for size in range(len(place) + 1) for kept in combinations(place, size)]

    def rank(kept: tuple[str, ...]) -> Any:
        return sets.effect(frozenset(kept), by_node=True).cost, len(kept), sorted(-place[name] for name in kept)

    every.sort(key=rank)
    alone, pairs = ([kept for kept in every if len(kept) == size] for size in (1, 2))
    for number, needed in enumerate({place[name] for name in kept} for kept in [*alone, *pairs[::3]]):
        best = next((kept for kept in every if needed <= sets.effect(frozenset(kept), by_node=True).moved), None)
        found = search(problem, needed, tmp_path / f"{number}")
        assert best == (tuple(node.name for node in found.nodes) if found else None)
        if best and found:
            assert found.cost == sets.effect(frozenset(best), by_node=True).cost
            assert found.one_minimal
            failed = {tally.last_failed() for _, tally in found.session.lists()} - {None}
            assert {node.trial for node in found.nodes} <= failed
            assert found.runs <= price(len(found.session.subject.names), 1, has_cost=True, by_node=True).most


def test_in_a_large_model_the_latest_nodes_are_searched_first(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = problem.sets
    assert sets is not None
    needed = [node.index for node in sets.base_answer if node.low][-1:]
    exact = search(problem, {*needed}, tmp_path / "exact")
    monkeypatch.setattr(bisect_mixlist, "_MOST_JUDGED", 0)
    latest = search(problem, {*needed}, tmp_path / "latest")
    assert exact
    assert latest
    assert [node.name for node in latest.nodes] == [node.name for node in exact.nodes]


def test_of_a_name_in_two_bodies_the_type_is_that_of_the_node_that_the_list_moves(tmp_path: Path, opp: Path) -> None:
    text = """<ir_version: 8, opset_import: ['' : 13]> g (bool c, float[2,4,4] x) => (float[2,4,4] z) {
        z = If (c) <then_branch = t () => (float[2,4,4] y) { y = MatMul(x, x) },
                    else_branch = e () => (float[2,4,4] v) { v = Add(x, x) }>
    }"""
    model = parser.parse_model(text.replace("'", '"'))
    for attribute in model.graph.node[0].attribute:
        attribute.g.node[0].name = "n"
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    target = Target.open(opp, soc="ascend910b")
    problem = open_problem(
        SubjectOptions(target.text, str(path), None, "mixed_float16", (), (), False, "node"), target, None, LISTENER
    )
    assert problem.sets is not None
    low = {node.index for node in problem.sets.base_answer if node.low}
    found = search(problem, low, tmp_path / "found")
    assert found is not None
    assert [(node.name, node.type) for node in found.nodes] == [("n", "BatchMatMulV2")]


@given(st.data())
def test_whatever_a_check_needs_the_nodes_pass_and_are_minimal(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    members = st.frozensets(st.integers(0, count - 1), min_size=1, max_size=3)
    cures = data.draw(st.lists(members, min_size=1, max_size=4))
    also = data.draw(st.lists(members, min_size=count, max_size=count))
    check = Planted(count, frozenset(), [1.0] * count)
    check.truth = lambda kept: any(cure <= kept for cure in cures)  # type: ignore[method-assign]

    def reach(kept: frozenset[int]) -> frozenset[int]:
        return kept.union(*(also[number] for number in kept))

    found = planted_search(check, effect=(lambda kept: (len(reach(kept)), len(kept), sorted(kept)), reach)).found
    assert found.kept is not None
    assert found.minimal
    assert check.is_minimal(found.kept)


def test_of_a_residual_stream_the_last_addition_is_named_not_the_first(
    opsinfo: Run, corpus: Path, tmp_path: Path
) -> None:
    folder = corpus / "cases" / "by_node_first_of_stream"
    ran = opsinfo(
        *("bisect", "--by", "node", "--against", corpus / "cann-910b" / "opp", "--soc", "ascend910b"),
        *("--model", folder / "m.onnx", "--", "sh", folder / "check.sh", "{keep_dtype}", "{mixlist}"),
    )
    assert (tmp_path / ".opsinfo-bisect" / "best.keep_dtype.cfg").read_text("utf-8") == "add_85\n"
    assert "1 of 17 nodes must keep the dtype: `add_85`; it moves 2 nodes (16384 bytes) to high" in ran.err
