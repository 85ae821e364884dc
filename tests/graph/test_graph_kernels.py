"""The kernel of a node: from the first store that accepts it, with static or dynamic columns by shape."""

from __future__ import annotations

from typing import Any

import pytest
from case_support import entry_of, graph_of, judge, library_of

from opsinfo_cli.graph.answer import NodeAnswer
from opsinfo_cli.graph.builder import GraphBuilder
from opsinfo_cli.graph.graph import ModelFacts
from opsinfo_cli.model.library import Operators

BOTH = {"dynamicShapeSupport": {"flag": "true"}, "dynamicRankSupport": {"flag": "true"}}


def stores(*libraries: dict[str, Any]) -> Operators:
    """Custom stores first, the built-in one last."""
    return Operators([library_of(content).stores[0] for content in libraries])


def judged(operators: Operators, shape: tuple[int, ...] = (2, 16)) -> NodeAnswer:
    builder = GraphBuilder()
    tensor = builder.tensor("float32", format="ND", shape=shape)
    builder.add("x", "Data", outputs=[tensor])
    builder.add("op", "Op", [("x", 0)], [tensor])
    found = judge(builder.build(ModelFacts("ge-proto")), operators, "mixed_float16").find("op")
    assert found is not None
    return found


def test_a_node_that_a_custom_store_refuses_falls_through_to_the_next() -> None:
    custom = {"Op": ["true", ["int32", "int32"], 1]}
    built_in = {"Op": ["false", ["float,float16", "float,float16"], 1]}
    node = judged(stores(custom, built_in))
    assert (node.outputs, node.policy) == (("float32",), "black")
    node = judged(stores({"Op": ["true", ["float,float16", "float,float16"], 1]}, built_in))
    assert (node.outputs, node.policy) == (("float16",), "white")


def test_only_the_policy_of_the_built_in_cast_lets_consumers_look_through_it() -> None:
    casts = ["float16,float", "float,float16"]
    custom, built_in = {"Cast": ["", casts, 1]}, {"Cast": ["false", casts, 1], "Op": ["", ["float,float16"] * 2, 1]}
    nodes = [
        ["x", "Data", [], ["float16"]],
        ["up", "Cast", ["x"], ["float32"]],
        ["op", "Op", ["up"], ["float32"]],
    ]
    outputs = [
        judge(graph_of(nodes), operators, "mixed_float16").outputs[-1]
        for operators in (stores(custom, built_in), stores(built_in, {**custom, "Op": built_in["Op"]}))
    ]
    assert outputs == ["float32", "float16"]


@pytest.mark.parametrize(
    ("shape", "more", "dtype", "why"),
    [
        ((2, 16), {}, "float16", "white"),
        ((2, -1), BOTH, "float32", "first-column"),
        ((-2,), BOTH, "float32", "first-column"),
        ((-2,), {"dynamicShapeSupport": {"flag": "true"}}, "float32", "refused-shape"),
        ((2, -1), {}, "float32", "refused-shape"),
        ((2, 16), {"dynamicCompileStatic": {"flag": "true"}}, "float32", "first-column"),
    ],
    ids=[
        "known shape",
        "unknown dimension",
        "unknown rank",
        "unknown rank without support",
        "unknown dimension without support",
        "dynamic kernel for a known shape",
    ],
)
def test_unknown_shapes_use_the_columns_of_the_dynamic_kernel(
    shape: tuple[int, ...], more: dict[str, Any], dtype: str, why: str
) -> None:
    """The kernel for unknown shapes has no float16: its format is NULL there."""
    entry = {**entry_of("true", ["float,float16", "float,float16"], 1), **more}
    for tensor in ("input0", "output0"):
        entry[tensor]["unknownshape_format"] = "ND,NULL"
    node = judged(stores({"Op": entry}), shape)
    assert (node.outputs, node.code) == ((dtype,), why)


def test_a_body_takes_the_dtype_of_what_feeds_its_owner_even_the_first_node() -> None:
    nodes = [["x", "Data", [], ["float16"]], ["if", "If", ["x"], ["float32"]]]
    body = [
        ["inner", "Data", [], ["float32"], {"parent_input": 0}],
        ["gray", "Gray", ["inner"], ["float32"]],
        ["out", "NetOutput", ["gray"], [], {"parent_outputs": (0,)}],
    ]
    operators = stores({"Gray": ["", ["float16,float", "float16,float"], 1]})
    answer = judge(graph_of(nodes, {"then": ["if", body]}), operators, "mixed_float16")
    outputs = {node.name: node.outputs for node in answer}
    assert (outputs["inner"], outputs["gray"], outputs["if"]) == (("float16",), ("float16",), ("float16",))
