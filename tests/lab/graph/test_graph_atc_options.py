"""Options of atc that change the graph before dtypes are chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_support import add, graph_of, judge, library_of
from readers_invariants import weights_of

from opsinfo_cli import Graph
from opsinfo_cli.errors import Damaged, Refused, UsageFault
from opsinfo_cli.lab.graph.atc_options import Aipp, AtcOptions, command_options, raw_ge_options, with_options
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.constants import constant_faults
from opsinfo_cli.lab.graph.graph import ModelFacts, ModelGraph, Weights
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.graph.result import Answer

NODES: list[list[Any]] = [
    ["x", "Data", [], ["float32"]],
    ["gray", "Gray", ["x"], ["float32"]],
    ["black", "Black", ["gray"], ["float32"]],
    ["out", "NetOutput", ["gray", "black"], []],
]
COLUMNS = ["float16,float", "float16,float"]
TARGET = library_of(
    {
        "Gray": ["", COLUMNS, 1],
        "Black": ["false", COLUMNS, 1],
        "Aipp": ["", ["uint8,uint8", "float16,uint8"], 1],
    }
)


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
    graph[2].fused_from = ("first", "last")
    assert with_options(graph, AtcOptions("last:0:FP16"))[1].applied == ("--output_type=last:0:FP16",)
    with pytest.raises(UsageFault):
        with_options(graph, AtcOptions("first:0:FP16"))


# the command that compiled the model


def test_options_come_from_the_command_unless_they_are_given() -> None:
    command = ("atc", "--output_type=FP16", "--input_fp16_nodes", "x", "--is_weight_clip=0")
    graph = with_facts(graph_of(NODES), command=command)
    changed, considered = with_options(graph, AtcOptions(output_type="UINT8", is_weight_clip="1"))
    assert considered.applied == ("--output_type=UINT8", "--input_fp16_nodes=x", "--is_weight_clip=1")
    assert (considered.clips, considered.unknown, dict(considered.ignored)) == (True, (), {})
    assert [tensor.dtype for tensor in changed[3].inputs] == ["uint8", "uint8"]
    assert [tensor.dtype for tensor in graph[3].inputs] == ["float32", "float32"], "the graph itself is not changed"


def test_an_option_of_the_command_that_does_not_fit_is_ignored_and_named() -> None:
    command = ("atc", "--output_type=gone:0:FP16", "--is_output_adjust_hw_layout=false,true", "--is_weight_clip=7")
    _, considered = with_options(with_facts(graph_of(NODES), command=command))
    assert considered.applied == ()
    assert {word: why.split(":")[0] for word, why in considered.ignored.items()} == {
        "--output_type=gone:0:FP16": "--output_type",
        "--is_weight_clip=7": "--is_weight_clip",
        "--is_output_adjust_hw_layout=false,true": "it sets a layout",
    }


def test_raw_options_follow_those_of_the_command_and_graph_wins_over_session(tmp_path: Path) -> None:
    levels = {
        "global": {"ge.exec.precision_mode": "force_fp16", "ge.outputDatatype": "FP32", "ge.unknown": "1"},
        "graph": {"ge.exec.modify_mixlist": "b.json", "ge.is_weight_clip": "1"},
        "session": {"ge.exec.precision_mode": "allow_mix_precision", "ge.exec.modify_mixlist": "a.json"},
    }
    path = tmp_path / "options.json"
    path.write_text(json.dumps({"compile options": levels, "execute options": {"graph": {"keep_dtype": "k.cfg"}}}))
    command = ("atc", f"--raw_ge_options={path}", "--output_type=FP16")
    assert command_options(command) == {
        "precision_mode": "allow_mix_precision",
        "modify_mixlist": "b.json",
        "is_weight_clip": "1",
        "output_type": "FP16",
        "raw_ge_options": str(path),
    }
    _, considered = with_options(with_facts(graph_of(NODES), command=command))
    assert considered.applied == ("--output_type=FP16", "--is_weight_clip=1")


@pytest.mark.parametrize("text", ["", "[]", '{"compile options": []}', '{"compile options": {"graph": 1}}', "{}"])
def test_raw_options_that_atc_refuses_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "options.json"
    path.write_text(text)
    with pytest.raises(Damaged, match="compile options"):
        raw_ge_options(str(path))
    assert command_options(("atc", f"--raw_ge_options={path}")) == {"raw_ge_options": str(path)}


def test_without_a_command_options_that_are_not_given_are_unknown() -> None:
    _, considered = with_options(graph_of(NODES), AtcOptions(output_type="FP16"))
    assert considered.unknown == ("input_fp16_nodes", "is_weight_clip", "insert_op_conf")
    assert considered.clips is None


def test_a_compiled_model_has_its_preprocessing() -> None:
    graph = with_facts(graph_of(NODES), command=("atc", "--insert_op_conf=/home/somebody/aipp.cfg"), format="om")
    changed, considered = with_options(graph)
    assert changed is graph
    assert considered.applied == ("--insert_op_conf=/home/somebody/aipp.cfg",)


# --is_weight_clip


@pytest.mark.parametrize(
    ("clip", "message"), [(None, "overflow float16"), ("0", "overflow"), ("1", "are clipped to the range of float16")]
)
def test_constants_are_clipped_if_the_option_is_given(tmp_path: Path, clip: str | None, message: str) -> None:
    import struct

    path = tmp_path / "weights"
    path.write_bytes(struct.pack("<2f", 70000.0, 1.0))
    nodes = [["w", "Const", [], ["float32"]], ["white", "White", ["w"], ["float32"]]]
    graph = graph_of(nodes)
    graph[0].weights = Weights(str(path), 0, 8)
    answer = judge(
        graph, library_of({"White": ["true", COLUMNS, 1]}), "mixed_float16", atc=AtcOptions(None, None, clip)
    )
    (fault,) = constant_faults(answer).faults
    assert fault.why.startswith("1 of 2 values " + message)


# --insert_op_conf


def config(folder: Path, text: str) -> str:
    path = folder / "aipp.cfg"
    path.write_text(text, "utf-8")
    return str(path)


def test_image_preprocessing_is_put_behind_the_input(tmp_path: Path) -> None:
    path = config(tmp_path, "# a camera\naipp_op { aipp_mode: static\n input_format : YUV420SP_U8 csc_switch: true }")
    answer = judged(AtcOptions(insert_op_conf=path))
    assert dtypes(answer, "x") == ((), ("uint8",))
    assert dtypes(answer, "x_0_aipp") == (("uint8",), ("float16",))
    assert dtypes(answer, "gray")[1] == ("float16",)
    assert [node.name for node in answer.graph] == ["x", "gray", "black", "out", "x_0_aipp"]
    assert [each.node for each in answer.graph[1].sources if each] == [4]


def test_preprocessing_has_the_dtypes_of_a_real_dump(corpus: Path) -> None:
    """That of GE's own tests: ResNet-50 with a static configuration."""
    graph = read_graph(str(next((corpus / "graphs").glob("ge_proto_00015*.txt"))))
    data, operator = graph.find("data"), graph.find("data_0_huawei_aipp")
    assert data is not None
    assert operator is not None
    assert [tensor.first_dtype for tensor in data.outputs] == ["uint8"]
    assert [tensor.first_dtype for tensor in (*operator.inputs, *operator.outputs)] == ["uint8", "float32"]


def test_dynamic_preprocessing_has_an_input_of_parameters(tmp_path: Path) -> None:
    path = config(tmp_path, "aipp_op { aipp_mode: dynamic max_src_image_size: 1000 }")
    graph, _ = with_options(graph_of(NODES), AtcOptions(insert_op_conf=path))
    operator = graph.find("x_0_aipp")
    assert operator is not None
    assert [each.dtype for each in operator.inputs] == ["uint8", "uint8"]
    assert [each and graph[each.node].name for each in operator.sources] == ["x", "ascend_dynamic_aipp_data_x"]


def test_nodes_of_bodies_are_unchanged(tmp_path: Path) -> None:
    nodes = [*NODES[:3], ["if", "If", ["gray"], ["float32"]], ["out", "NetOutput", ["if"], []]]
    body = [["inner", "Data", [], ["float32"], {"parent_input": 0}], ["deep", "Gray", ["inner"], ["float32"]]]
    graph = graph_of(nodes, {"then": ["if", body]})
    graph[6].control = (5,)
    graph[6].fused_from = ("a", "b")
    graph[5].weights = Weights("w", 0, 4)
    path = config(tmp_path, "aipp_op { aipp_mode: static input_format: RAW10 }")
    changed, _ = with_options(graph, AtcOptions(insert_op_conf=path))
    assert [(each.parent, each.nodes) for each in changed.subgraphs] == [(None, range(6)), (3, range(6, 8))]
    deep = changed.find("deep")
    assert deep is not None
    assert (deep.index, deep.control, deep.fused_from) == (7, (6,), ("a", "b"))
    assert ([each.node for each in deep.sources if each], [*weights_of(changed)]) == ([6], [6])
    assert changed[6].attributes["parent_input"] == 0
    assert [tensor.dtype for tensor in changed[0].outputs] == ["uint16"]


def two_inputs(format: str) -> ModelGraph:
    builder = GraphBuilder()
    for node in (["a", "Data", [], ["float32"]], ["b", "Data", [], ["float32"]], ["gray", "Gray", ["b"], ["float32"]]):
        add(builder, *node)  # type: ignore[arg-type]
    return builder.build(ModelFacts(format, predicted=True))


def test_the_rank_of_an_input_is_its_place_in_an_onnx_file(tmp_path: Path) -> None:
    path = config(tmp_path, "aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_rank: 1 }")
    changed, _ = with_options(two_inputs("onnx"), AtcOptions(insert_op_conf=path))
    assert changed.find("b_0_aipp") is not None
    with pytest.raises(UsageFault, match="which of its 2 inputs"):
        with_options(two_inputs("tensorflow"), AtcOptions(insert_op_conf=path))
    with pytest.raises(UsageFault, match="`related_input_rank` is 1, the model has 1 input"):
        judged(AtcOptions(insert_op_conf=path))


def test_an_input_is_either_preprocessed_or_in_float16(tmp_path: Path) -> None:
    path = config(tmp_path, "aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    graph, _ = with_options(graph_of(NODES), AtcOptions(insert_op_conf=path))
    with pytest.raises(UsageFault, match="E10034"):
        with_options(graph, AtcOptions(input_fp16_nodes="x"))
    with pytest.raises(UsageFault, match="E10034"):
        judged(AtcOptions(input_fp16_nodes="x", insert_op_conf=path))
    again, _ = with_options(graph, AtcOptions(insert_op_conf=path))
    assert again is graph, "a graph that has an Aipp gets no second one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no `aipp_op"),
        ("aipp_op: 1", "no `aipp_op"),
        ("aipp_op {", "the text ends inside a message"),
        ("aipp_op { }", "`aipp_mode` is static or dynamic"),
        ("aipp_op { aipp_mode: static }", "unknown `input_format` ``"),
        ("aipp_op { aipp_mode: static input_format: RGB }", "unknown `input_format` `RGB`"),
        ("aipp_op { aipp_mode: dynamic related_input_rank: -1 }", "`related_input_rank` is a number"),
        (f"aipp_op {{ aipp_mode: dynamic related_input_rank: {'9' * 5000} }}", "`related_input_rank` is a number"),
        ("aipp_op { aipp_mode: [] }", "`aipp_mode` is static or dynamic, not ``"),
        ('aipp_op { aipp_mode: dynamic related_input_name: "data" }', "names an input of Caffe"),
    ],
    ids=[
        *("empty", "not a message", "cut off", "no mode", "no format", "unknown format", "negative rank", "long rank"),
        *("empty list", "Caffe name"),
    ],
)
def test_a_configuration_that_cannot_be_followed_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Damaged, match=message):
        Aipp.read(config(tmp_path, text))


def test_a_number_of_thousands_of_digits_is_not_that_of_an_output() -> None:
    with pytest.raises(UsageFault, match="is not NODE:OUTPUT:TYPE"):
        judged(AtcOptions(output_type=f"gray:{'9' * 5000}:FP16"))


def test_a_configuration_that_feeds_a_subgraph_is_refused(tmp_path: Path) -> None:
    path = config(tmp_path, "aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    nodes = [NODES[0], ["call", "PartitionedCall", ["x"], ["float32"]], ["out", "NetOutput", ["call"], []]]
    with pytest.raises(UsageFault, match="feeds a subgraph"):
        judged(AtcOptions(insert_op_conf=path), nodes)


# the public API


def test_a_graph_is_judged_with_options_and_an_engines_own_list(tmp_path: Path) -> None:
    graph = Graph.of(graph_of(NODES))
    assert graph.judge(TARGET, "force_fp32", output_type="FP16").inputs[-2:] == ["float16", "float16"]
    assert graph.judge(TARGET, "force_fp32", is_weight_clip=False).considered.clips is False
    answer = graph.judge(TARGET, "allow_fp32_to_fp16")
    assert dtypes(answer, "black")[1] == ("float32",)
    ini = tmp_path / "fe.ini"
    ini.write_text("fp16.op_type=Black\n", "utf-8")
    answer = graph.judge(TARGET, "allow_fp32_to_fp16", fe_ini=str(ini))
    assert dtypes(answer, "black")[1] == ("float16",)
    with pytest.raises(Refused):
        graph.judge(TARGET, "allow_fp32_to_fp16", fe_ini=str(tmp_path / "missing"))
