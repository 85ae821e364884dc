"""Properties of every graph, tested on random ones over a library with all kinds of op types."""

from __future__ import annotations

from typing import Any

from case_support import graph_of, judge, library_of, marks_of
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.dtype_names import LOW
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.result import Answer

ALL = "float16,float,bfloat16"
LIBRARY = library_of(
    {
        "Cast": ["", ["float16,float,float,bfloat16,float,int32", "float,float16,bfloat16,float,int32,float"], 1],
        **{name: [flag, [ALL, ALL], 1] for name, flag in (("White1", "true"), ("Black1", "false"), ("Gray1", ""))},
        **{name: [flag, [ALL, ALL, ALL], 2] for name, flag in (("White2", "true"), ("Black2", "false"), ("Gray2", ""))},
        "High": ["true", ["float", "float"], 1],
        "Low": ["", ["float16", "float16"], 1],
        "Mixed": ["true", ["float16,float", "float,float"], 1],
        "Index": ["", ["float16,float,float16,float", "int32,int32,int64,int64", "float16,float,float16,float"], 2],
    }
)
ONE = ("White1", "Black1", "Gray1", "High", "Low", "Mixed", "Cast", "Host")
TWO = ("White2", "Black2", "Gray2", "Index")
MODES = ("mixed_float16", "mixed_bfloat16", "mixed_hif8", "force_fp16", "force_fp32", "origin", "allow_fp32_to_fp16")
TYPES = [name for name in (*ONE, *TWO) if name != "Host"]


@st.composite
def graphs(draw: st.DrawFn) -> list[list[Any]]:
    """Nodes in a valid order."""
    nodes: list[list[Any]] = [
        ["n0", "Data", [], ["float32"]],
        ["n1", "Const", [], [draw(st.sampled_from(["float32", "float16"]))]],
    ]
    for number in range(2, draw(st.integers(3, 14))):
        op_type = draw(st.sampled_from((*ONE, *TWO)))
        feeds = [f"n{draw(st.integers(0, number - 1))}" for _ in range(2 if op_type in TWO else 1)]
        attributes = draw(st.sampled_from([{}, {}, {}, {"_keep_dtype": 1}, {"_inherit_dtype_from_predecessor": 1}]))
        dtype = draw(st.sampled_from(["float32", "float32", "float32", "float16", "bfloat16", "int32"]))
        nodes.append([f"n{number}", op_type, feeds, [dtype], attributes])
    return nodes


def by_name(answer: Answer) -> dict[str, tuple[Any, ...]]:
    return {node.name: (node.inputs, node.outputs, node.code) for node in answer}


@given(graphs(), st.randoms(use_true_random=False), st.sampled_from(MODES))
def test_any_order_of_a_file_gives_the_same_dtypes(nodes: list[list[Any]], random: Any, mode: str) -> None:
    shuffled = random.sample(nodes, len(nodes))
    first, second = (judge(graph_of(each), LIBRARY, mode) for each in (nodes, shuffled))
    assert by_name(first) == by_name(second)
    assert first.counts == second.counts


@given(graphs(), st.lists(st.sampled_from(TYPES), unique=True), st.sampled_from(MODES))
def test_a_mixlist_that_changes_no_policy_changes_nothing(nodes: list[list[Any]], types: list[str], mode: str) -> None:
    same = {
        Policy.BLACK: [name for name in types if LIBRARY[name].policy is Policy.BLACK],
        Policy.WHITE: [name for name in types if LIBRARY[name].policy is Policy.WHITE],
        Policy.GRAY: [name for name in types if LIBRARY[name].policy is Policy.GRAY],
    }
    prepared = prepare(graph_of(nodes), LIBRARY)
    marks = marks_of(same[Policy.BLACK], same[Policy.WHITE], same[Policy.GRAY])
    plain, listed = prepared.judge(mode), prepared.judge(mode, marks)
    assert by_name(plain) == by_name(listed)
    assert plain.changed(listed) == []


@given(graphs(), st.lists(st.sampled_from(TYPES), unique=True), st.sampled_from(("mixed_float16", "mixed_bfloat16")))
def test_a_black_list_adds_no_low_node_of_its_own_types_to_a_high_model(
    nodes: list[list[Any]], types: list[str], mode: str
) -> None:
    high = [[*node[:3], ["float32" if dtype in LOW else dtype for dtype in node[3]], *node[4:]] for node in nodes]
    prepared = prepare(graph_of(high), LIBRARY)
    plain, listed = prepared.judge(mode), prepared.judge(mode, marks_of(black=types))
    own = {node.index for node in listed if node.type in types and node.low}
    assert own <= {node.index for node in plain if node.low}


@given(graphs(), st.lists(st.lists(st.sampled_from(TYPES), unique=True), min_size=1, max_size=4))
def test_judging_again_gives_the_same_answer_as_a_fresh_judge(nodes: list[list[Any]], lists: list[list[str]]) -> None:
    prepared = prepare(graph_of(nodes), LIBRARY)
    for black in lists:
        again = prepared.judge("mixed_float16", marks_of(black=black))
        afresh = judge(graph_of(nodes), LIBRARY, "mixed_float16", marks_of(black=black))
        assert by_name(again) == by_name(afresh)
        assert again.casts == afresh.casts


@given(graphs(), st.sampled_from(MODES))
def test_every_edge_is_cast_or_its_ends_agree_and_every_path_ends(nodes: list[list[Any]], mode: str) -> None:
    answer = judge(graph_of(nodes), LIBRARY, mode)
    cast = {(each.consumer, each.input) for each in answer.casts}
    for node in answer:
        steps = answer.path_of(node.index)
        assert steps[-1].node.decided_by is None
        for number, source in enumerate(answer.graph[node.index].sources):
            if source is None or (node.index, number) in cast or node.index in answer.removed:
                continue
            feeds = answer.rewired.get((node.index, number), source)
            assert node.inputs[number] == answer[feeds.node].outputs[feeds.output], node
