"""A graph has what its builder was given; edges without an end are refused."""

from __future__ import annotations

import pytest

from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import UNKNOWN, GraphTensor, ModelFacts, ModelGraph, Producer

FACTS = ModelFacts("onnx")


def small() -> ModelGraph:
    builder = GraphBuilder()
    fp32 = GraphTensor("float32", shape=(2, 16))
    builder.add(
        "sum",
        "Add",
        [("data", 0), None, (1, 0)],
        [fp32],
        control=["weight"],
        inputs=[None, None, GraphTensor("float16")],
    )
    builder.add("weight", "Const", outputs=[fp32])
    builder.add("data", "Data", outputs=[fp32])
    builder.add("branch", "If", [("sum", 0)], [fp32], attributes={"_keep_dtype": 1}, fused_names=["a", "b"])
    builder.subgraph("then", "branch")
    builder.add("data", "Data", outputs=[fp32])
    return builder.build(FACTS)


def test_edges_by_name_or_index_resolve_and_absent_inputs_stay_absent() -> None:
    graph = small()
    assert graph[0].sources == (Producer(2, 0), None, Producer(1, 0))
    assert graph[0].control == (1,)


def test_an_input_has_the_facts_of_its_file_else_of_its_producer() -> None:
    assert [tensor.dtype for tensor in small()[0].inputs] == ["float32", None, "float16"]


def test_subgraphs_have_their_own_names() -> None:
    graph = small()
    assert [(body.name, body.parent, list(body.nodes)) for body in graph.subgraphs] == [
        ("", None, [0, 1, 2, 3]),
        ("then", 3, [4]),
    ]
    assert graph.subgraph_of(4).name == "then"
    assert (found := graph.find("data")) is not None
    assert found.index == 2
    assert graph.find("none") is None
    assert (graph[3].fused_names, dict(graph[3].attributes)) == (("a", "b"), {"_keep_dtype": 1})


@pytest.mark.parametrize(
    ("sources", "control", "message"),
    [
        ([("nobody", 0)], [], "input 0 of `x` comes from `nobody`"),
        ([("data", 1)], [], "output 1 of `data`, which has 1 outputs"),
        ([("data", -1)], [], "output -1 of `data`"),
        ([(7, 0)], [], "comes from `7`"),
        ([], ["nobody"], "`x` has a control edge from `nobody`"),
    ],
)
def test_an_edge_to_a_missing_node_is_refused(
    sources: list[tuple[int | str, int]], control: list[str], message: str
) -> None:
    builder = GraphBuilder(path="model.om")
    builder.add("data", "Data", outputs=[UNKNOWN])
    builder.add("x", "Add", sources, [UNKNOWN], control=control)
    with pytest.raises(Damaged, match=message) as caught:
        builder.build(FACTS)
    assert caught.value.path == "model.om"


def test_two_nodes_of_one_name_are_refused() -> None:
    builder = GraphBuilder()
    builder.add("x", "Data")
    builder.add("x", "Data")
    with pytest.raises(Damaged, match="two nodes are named `x`"):
        builder.build(FACTS)


@pytest.mark.parametrize("parent", ["nobody", 9, "inner"])
def test_a_subgraph_without_a_parent_outside_it_is_refused(parent: int | str) -> None:
    builder = GraphBuilder()
    builder.add("x", "Data")
    builder.subgraph("body", parent)
    builder.add("inner", "Data")
    with pytest.raises(Damaged, match="subgraph `body` belongs to"):
        builder.build(FACTS)
