"""A compiled model is judged in its state before the compiler: original dtypes, no inserted conversions."""

from __future__ import annotations

import pytest
from case_support import judge, library_of

from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import GraphTensor, ModelFacts, ModelGraph, Producer
from opsinfo_cli.lab.graph.topology import order_of
from opsinfo_cli.lab.graph.undo import before_judge, inserted_nodes

FLOAT, LOWERED, HALF = GraphTensor("float32"), GraphTensor("float16", "float32"), GraphTensor("float16")


def compiled() -> ModelGraph:
    """x -> trans_Cast_0 -> trans_TransData_1 -> white -> out, and a Cast of the user's own."""
    builder = GraphBuilder()
    builder.add("x", "Data", outputs=[FLOAT])
    builder.add("trans_Cast_0", "Cast", [("x", 0)], [HALF])
    builder.add("trans_TransData_1", "TransData", [("trans_Cast_0", 0)], [HALF], control=["x"])
    builder.add("white", "White", [("trans_TransData_1", 0)], [LOWERED], inputs=[LOWERED], fused_names=["a"])
    builder.add(
        "my_Cast_2", "Cast", [("white", 0)], [FLOAT], control=["trans_TransData_1"], attributes={"_keep_dtype": 1}
    )
    builder.add("out", "NetOutput", [("my_Cast_2", 0)])
    return builder.build(ModelFacts("om", judged=True))


def test_inserted_conversions_are_removed_and_dtypes_restored() -> None:
    graph = compiled()
    assert inserted_nodes(graph) == [1, 2]
    before = before_judge(graph)
    assert before.names == ["x", "white", "my_Cast_2", "out"]
    assert before[1].sources == (Producer(0, 0),)
    assert [tensor.dtype for tensor in (*before[1].inputs, *before[1].outputs)] == ["float32", "float32"]
    assert (before[1].fused_names, dict(before[2].attributes), before[2].control) == (("a",), {"_keep_dtype": 1}, (0,))
    assert (before.model.judged, list(before.subgraphs[0].nodes)) == (False, [0, 1, 2, 3])
    assert before_judge(before) is before


def test_a_compiled_model_is_judged_from_its_original_dtypes() -> None:
    library = library_of({"White": ["true", ["float,float16", "float,float16"], 1]})
    low = judge(compiled(), library, "mixed_float16").find("white")
    high = judge(compiled(), library, "origin").find("white")
    assert low is not None
    assert high is not None
    assert (low.outputs, low.original_outputs, high.outputs) == (("float16",), ("float32",), ("float32",))


def test_conversions_that_feed_each_other_are_refused() -> None:
    builder = GraphBuilder()
    builder.add("trans_Cast_0", "Cast", [("trans_Cast_1", 0)], [HALF])
    builder.add("trans_Cast_1", "Cast", [("trans_Cast_0", 0)], [HALF])
    builder.add("out", "NetOutput", [("trans_Cast_1", 0)])
    with pytest.raises(Damaged, match="form a cycle"):
        before_judge(builder.build(ModelFacts("om")))


def test_a_cycle_without_next_iteration_is_refused() -> None:
    builder = GraphBuilder()
    builder.add("a", "Relu", [("b", 0)], [FLOAT])
    builder.add("b", "Relu", [("a", 0)], [FLOAT])
    with pytest.raises(Damaged, match="a cycle through `a`"):
        order_of(builder.build(ModelFacts("onnx")))


def test_bodies_follow_their_owner_and_cyclic_ownership_is_refused() -> None:
    builder = GraphBuilder()
    builder.add("if", "If", outputs=[FLOAT])
    builder.add("after", "Relu", [("if", 0)], [FLOAT])
    builder.subgraph("then", "if")
    builder.add("inner", "While", outputs=[FLOAT])
    builder.subgraph("lost", None)
    builder.add("last", "Data", outputs=[FLOAT])
    builder.subgraph("body", "inner")
    builder.add("deep", "Data", outputs=[FLOAT])
    graph = builder.build(ModelFacts("ge-proto"))
    assert [graph[node].name for node in order_of(graph)] == ["if", "inner", "deep", "after", "last"]
    builder = GraphBuilder()
    builder.add("x", "Data", outputs=[FLOAT])
    builder.subgraph("one", 2)
    builder.add("a", "If", outputs=[FLOAT])
    builder.subgraph("two", 1)
    builder.add("b", "If", outputs=[FLOAT])
    with pytest.raises(Damaged, match="own each other"):
        order_of(builder.build(ModelFacts("ge-proto")))
