"""Options of atc that change the graph before dtypes are chosen."""

from __future__ import annotations

from typing import Any

import pytest
from case_support import graph_of, judge, library_of

from opsinfo_cli import Graph
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.graph.atc_options import AtcOptions, with_options
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.result import Answer

NODES: list[list[Any]] = [
    ["x", "Data", [], ["float32"]],
    ["gray", "Gray", ["x"], ["float32"]],
    ["black", "Black", ["gray"], ["float32"]],
    ["out", "NetOutput", ["gray", "black"], []],
]
COLUMNS = ["float16,float", "float16,float"]
TARGET = library_of({"Gray": ["", COLUMNS, 1], "Black": ["false", COLUMNS, 1]})


def judged(options: AtcOptions, nodes: list[list[Any]] = NODES, mode: str = "mixed_float16") -> Answer:
    return judge(graph_of(nodes), TARGET, mode, atc=options)


def dtypes(answer: Answer, name: str) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    found = answer.find(name)
    assert found is not None
    return found.inputs, found.outputs


def with_facts(graph: ModelGraph, **facts: Any) -> ModelGraph:
    graph.model = graph.model._replace(**facts)
    return graph


def test_an_output_is_found_by_the_last_operator_that_was_fused_into_its_node() -> None:
    graph = graph_of(NODES)
    graph[2].fused_names = ("first", "last")
    assert with_options(graph, AtcOptions("last:0:FP16"))[1].applied == ("--output_type=last:0:FP16",)
    with pytest.raises(UsageFault):
        with_options(graph, AtcOptions("first:0:FP16"))


# the command that compiled the model


def test_options_come_from_the_command_unless_they_are_given() -> None:
    command = ("atc", "--output_type=FP16", "--input_fp16_nodes", "x", "--is_weight_clip=0")
    graph = with_facts(graph_of(NODES), command=command)
    changed, considered = with_options(graph, AtcOptions(output_type="UINT8"))
    assert considered.applied == ("--output_type=UINT8", "--input_fp16_nodes=x")
    assert (considered.unknown, dict(considered.ignored)) == ((), {})
    assert [tensor.dtype for tensor in changed[3].inputs] == ["uint8", "uint8"]
    assert [tensor.dtype for tensor in graph[3].inputs] == ["float32", "float32"], "the graph itself is not changed"


def test_options_of_the_command_that_are_not_followed_are_named() -> None:
    command = (
        *("atc", "--output_type=gone:0:FP16", "--is_output_adjust_hw_layout=false,true", "--is_weight_clip=1"),
        *("--is_input_adjust_hw_layout=false,false", "--raw_ge_options=raw.json", "--insert_op_conf=aipp.cfg"),
    )
    _, considered = with_options(with_facts(graph_of(NODES), command=command))
    assert considered.applied == ()
    assert {word: why.split(":")[0] for word, why in considered.ignored.items()} == {
        "--output_type=gone:0:FP16": "--output_type",
        "--is_weight_clip=1": "constants that overflow are clipped instead",
        "--raw_ge_options=raw.json": "its file is not read",
        "--is_output_adjust_hw_layout=false,true": "it sets a layout",
    }


def test_without_a_command_options_that_are_not_given_are_unknown() -> None:
    _, considered = with_options(graph_of(NODES), AtcOptions(output_type="FP16"))
    assert considered.unknown == ("input_fp16_nodes", "is_weight_clip", "insert_op_conf")


def test_a_number_of_thousands_of_digits_is_not_that_of_an_output() -> None:
    with pytest.raises(UsageFault, match="is not NODE:OUTPUT:TYPE"):
        judged(AtcOptions(output_type=f"gray:{'9' * 5000}:FP16"))


# the public API


def test_a_graph_is_judged_with_options() -> None:
    graph = Graph.of(graph_of(NODES))
    assert graph.judge(TARGET, "force_fp32", output_type="FP16").inputs[-2:] == ["float16", "float16"]
