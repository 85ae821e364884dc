"""Answers: reasons, counts, confidence, and refusals before judging."""

from __future__ import annotations

import json
import re
from dataclasses import astuple
from pathlib import Path

import pytest
from case_support import entry_of, graph_of, judge, library_of, marks_of
from snapshot_texts import text_of_snapshot

from opsinfo_cli.core.cann.option_files import CustomizeDtypes, KeepDtype
from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.errors import Damaged, UsageFault
from opsinfo_cli.lab.graph import reason
from opsinfo_cli.lab.graph.api import Graph
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import NEVER_JUDGED, UNKNOWN, GraphTensor, ModelFacts
from opsinfo_cli.lab.graph.judge.kernel_sources import Kernels
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.reason import TEXTS
from opsinfo_cli.lab.graph.result import WrittenAnswer

ENTRIES = {
    "White": ["true", ["float,float16", "float,float16"], 1],
    "Gray": ["", ["float,float16", "float,float16"], 1],
    "Black": ["false", ["float,float16", "float,float16"], 1],
    "Relu": {"dynamicFormat": {"flag": "true"}, "input0": {"name": "x", "paramType": "required"}},
    "Add": {
        "dynamicFormat": {"flag": "true"},
        **{f"{side}0": {"name": side, "paramType": "required"} for side in ("input", "output")},
        "input1": {"name": "x2", "paramType": "required"},
    },
}
LIBRARY = library_of(ENTRIES)
NODES = [
    ["x", "Data", [], ["float32"]],
    ["w", "White", ["x"], ["float32"]],
    ["g", "Gray", ["w"], ["float32"]],
    ["b", "Black", ["g"], ["float32"]],
    ["a", "Add", ["b", "w"], ["float32"]],
    ["h", "Host", ["a"], ["float32"]],
    ["out", "NetOutput", ["h"], []],
]


def test_an_answer_describes_a_node_as_text() -> None:
    answer = judge(graph_of(NODES), LIBRARY, "mixed_float16", marks_of(white=["Gray"]))
    assert {name: node.why for name in ("w", "g", "b", "a", "h") if (node := answer.find(name))} == {
        "w": "on the white list by the library",
        "g": "on the white list by the mixlist",
        "b": "on the black list by the library: keeps its dtype",
        "a": "on the gray list by the library: follows output 0 of `b`",
        "h": "not an op type of AI Core here: keeps its dtypes",
    }
    assert repr(answer) == "<Answer mixed_float16: 7 nodes, 2 low, 2 high, 3 not judged, 3 casts>"
    assert repr(answer.find("w")) == "<White 'w': float16, on the white list by the library>"


@pytest.mark.parametrize(
    ("dtype", "word", "runs"),
    [
        ("hifloat8", "hifloat8", "low"),
        ("bfloat16", "bfloat16", "low"),
        ("float32", "float", "high"),
        ("float64", "double", "high"),
        ("complex64", "complex64", "high"),
        ("int32", "int32", None),
    ],
)
def test_a_compiled_node_runs_low_or_high_as_a_judged_one(dtype: str, word: str, runs: str | None) -> None:
    library = library_of({"Op": entry_of("true", [word, word], 1)})
    graph = graph_of([["x", "Data", [], [dtype]], ["op", "Op", ["x"], [dtype]]])
    judged, compiled = judge(graph, library, "must_keep_origin_dtype"), WrittenAnswer(graph)
    assert (judged[1].runs, compiled[1].runs) == (runs, runs)


def test_a_compiled_node_reads_low_if_it_is_high_and_the_model_has_the_input_in_float32() -> None:
    builder = GraphBuilder()
    high, own = GraphTensor("float32"), GraphTensor("float16", "float16")
    half, brain = GraphTensor("float16", "float32"), GraphTensor("bfloat16", "float32")
    builder.add("x", "Data", [], [high])
    for name, op_type, inputs, output in (
        ("both", "MatMul", [half, half], high),
        ("mixed", "MatMul", [half, brain], high),
        ("other", "MatMul", [high, half], high),
        ("add", "Add", [high, half], high),
        ("own", "MatMul", [own, own], high),
        ("high", "MatMul", [high, high], high),
        ("low", "MatMul", [half, half], half),
        ("cast", "Cast", [half], high),
    ):
        builder.add(name, op_type, [("x", 0)] * len(inputs), [output], inputs=inputs)
    builder.add("out", "NetOutput", [("both", 0)], [], inputs=[half])
    rows = [astuple(row) for row in WrittenAnswer(builder.build(ModelFacts("om", judged=True))).reads_low]
    assert rows == [("MatMul", "float16", 3), ("Add", "float16", 1), ("MatMul", "bfloat16", 1)]


@pytest.mark.parametrize(
    ("fed_by", "counts"), [(("Const",), (1, 0, 1)), (("Data",), (1, 1, 0)), (("Const", "Data", "Constant"), (3, 1, 2))]
)
def test_casts_on_constants_of_a_compiled_model_do_not_run(
    fed_by: tuple[str, ...], counts: tuple[int, int, int]
) -> None:
    builder = GraphBuilder()
    high, low = GraphTensor("float32"), GraphTensor("float16")
    for at, op_type in enumerate(fed_by):
        builder.add(f"from{at}", op_type, [], [high])
        builder.add(f"trans_Cast_{at}", "Cast", [(f"from{at}", 0)], [low], inputs=[high])
    builder.add("add", "Add", [(f"trans_Cast_{at}", 0) for at in range(len(fed_by))], [low], inputs=[low] * len(fed_by))
    assert WrittenAnswer(builder.build(ModelFacts("om", judged=True))).cast_counts[:3] == counts


@pytest.mark.parametrize("op_type", sorted(NEVER_JUDGED))
def test_what_is_never_judged_is_no_compute_node_but_for_a_layout(op_type: str) -> None:
    answer = judge(
        graph_of([["n", op_type, [], ["float32"]], ["w", "White", ["n"], ["float32"]]]), LIBRARY, "mixed_float16"
    )
    assert (answer[0].judged, answer[0].code) == (False, NEVER_JUDGED[op_type])
    assert (answer.coverage.compute, answer.coverage.judged) == (1 + (op_type == "TransData"), 1)
    assert not Kernels(None).of(op_type)


def test_an_answer_counts_nodes_by_op_type_and_in_total() -> None:
    answer = judge(graph_of(NODES), LIBRARY, "mixed_float16")
    assert [astuple(each) for each in answer.types if each.type in ("Add", "Data", "Gray")] == [
        ("Gray", 1, 1, 0, "gray"),
        ("Add", 1, 0, 1, "gray"),
        ("Data", 1, 0, 0, None),
    ]
    counts = answer.counts
    assert (counts.nodes, counts.low, counts.high, counts.not_judged, counts.assumed) == (7, 2, 2, 3, 1)
    assert answer.cast_counts == (3, 3, 0, 2 * 16 * (4 + 2 + 2), 0)


def test_coverage_counts_compute_nodes_and_says_why_others_are_not_judged() -> None:
    nodes = [*NODES[:-1], ["c", "Const", [], ["float32"]], ["a2", "Add", ["h", "c"], ["int8"]]]
    nodes += [["i", "Whole", ["n"], ["int32"]], ["n", "Const", [], ["int32"]], NODES[-1]]
    library = library_of({**ENTRIES, "Whole": ["", ["int32", "int32"], 1]})
    coverage = judge(graph_of(nodes), library, "mixed_float16").coverage
    assert (coverage.compute, coverage.judged, coverage.without_floating) == (7, 5, 1)
    why = "refused by AI Core, if its columns are as assumed: no column may take the dtype of output 0"
    assert [astuple(each) for each in coverage.types] == [
        ("Add", 1, why),
        ("Host", 1, "not an op type of AI Core here: keeps its dtypes"),
    ]


def test_memory_is_what_is_read_with_weights_in_the_dtypes_of_their_readers() -> None:
    nodes = [
        *[["x", "Data", [], ["float32"]], ["c", "Const", [], ["float32"]], ["d", "Const", [], ["float32"]]],
        *[["w", "White", ["x"], ["float32"]], ["v", "White", ["c"], ["float32"]], ["b", "Black", ["d"], ["float32"]]],
        *[["u", "Black", ["c"], ["float32"]], ["unread", "White", ["x"], ["float32"]]],
        ["out", "NetOutput", ["w", "v", "b", "u"], []],
    ]
    element = 2 * 16
    memory = judge(graph_of(nodes), LIBRARY, "mixed_float16").memory
    assert astuple(memory) == (2 * element * 2, 3 * element * 4, element * (2 + 4 + 4), 0)


def test_equal_casts_of_one_output_run_once_and_known_sizes_are_summed() -> None:
    nodes = [
        ["x", "Data", [], ["float32"]],
        ["c", "Const", [], ["float32"]],
        *[[f"w{number}", "White", [feed], ["float32"]] for number, feed in enumerate(["x", "x", "c"])],
    ]
    casts = judge(graph_of(nodes), LIBRARY, "mixed_float16").cast_counts
    assert casts == (3, 1, 1, 2 * 16 * 4, 0)


@pytest.mark.parametrize(("soc", "confidence"), [("ascend910b", "kernel"), ("ascend910", "assumed")])
def test_columns_that_the_library_leaves_out_are_those_recorded_of_the_chip(soc: str, confidence: str) -> None:
    answer = judge(graph_of(NODES), LIBRARY, "mixed_float16", soc=soc)
    assert [node.confidence for name in ("w", "a") if (node := answer.find(name))] == ["library", confidence]


def test_without_a_target_everything_computed_is_assumed_gray() -> None:
    answer = judge(graph_of(NODES), None, "mixed_float16", marks_of(white=["White"]))
    assert [node.outputs[0] for node in answer if node.outputs] == ["float32", *["float16"] * 5]
    found = answer.find("g")
    assert found is not None
    assert (found.policy, found.by, found.confidence) == ("gray", "assumption", "assumed")


def test_a_snapshot_answers_as_its_library_does(tmp_path: Path) -> None:
    path = tmp_path / "aic-ascend910b-ops-info.json"
    listed = {name: entry_of(*entry) for name, entry in ENTRIES.items() if isinstance(entry, list)}
    path.write_text(json.dumps(listed), "utf-8")
    kept = tmp_path / "ascend910b.json"
    kept.write_text(text_of_snapshot(Target.open(str(path))), "utf-8")
    snapshot, library = (judge(graph_of(NODES), str(target), "mixed_float16") for target in (kept, path))
    assert snapshot.outputs == library.outputs


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageFault, match="unknown precision mode `mixed_float17`"):
        judge(graph_of(NODES), LIBRARY, "mixed_float17")


def test_a_mixlist_that_the_engine_refuses_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixlist.json"
    path.write_text('{"gray-list": {"to-remove": ["Add"]}}', "utf-8")
    with pytest.raises(Damaged, match="remove gray"):
        judge(graph_of(NODES), LIBRARY, "mixed_float16", str(path))


def test_the_graph_of_the_public_api_judges_itself() -> None:
    graph = Graph.of(graph_of(NODES))
    low, high = graph.judge(LIBRARY, "mixed_float16"), graph.judge(LIBRARY, "origin")
    assert [graph[node].name for node in low.changed(high)] == ["w", "g"]
    assert len(low) == len(graph) == 7
    with pytest.raises(KeyError):
        low.path_of("nobody")


def test_a_node_without_known_dtypes_is_not_judged_and_one_unknown_input_decides_nothing() -> None:
    builder = GraphBuilder()
    builder.add("x", "Data", outputs=[UNKNOWN])
    builder.add("w", "White", [("x", 0)], [UNKNOWN])
    builder.add("half", "Gray", [("w", 0)], [GraphTensor("float32")])
    answer = judge(builder.build(ModelFacts("tensorflow")), LIBRARY, "mixed_float16")
    assert [(node.outputs, node.code) for node in answer][1:] == [
        ((None,), "unknown-dtype"),
        (("float32",), "gray-own"),
    ]


def test_predicted_graphs_are_not_refused_for_the_number_of_their_tensors() -> None:
    def outputs(predicted: bool) -> tuple[str | None, ...]:
        builder = GraphBuilder()
        builder.add("x", "Data", outputs=[GraphTensor("float32")])
        builder.add("w", "White", [("x", 0), ("x", 0)], [GraphTensor("float32")])
        found = judge(builder.build(ModelFacts("onnx" if predicted else "ge-proto")), LIBRARY, "mixed_float16").find(
            "w"
        )
        assert found is not None
        return (*found.inputs, *found.outputs)

    assert outputs(True) == ("float16", "float16", "float16")
    assert outputs(False) == ("float32", "float32", "float32")


def test_a_graph_with_other_files_says_where_open_dimensions_decide() -> None:
    builder = GraphBuilder()
    tensor = GraphTensor("float32", shape=(-1, 16))
    builder.add("x", "Data", outputs=[tensor])
    builder.add("w", "White", [("x", 0)], [tensor])
    builder.add("size", "Shape", [("w", 0)], [GraphTensor("int64", shape=(2,))])
    model = prepare(builder.build(ModelFacts("onnx")), LIBRARY)
    assert model.judge("mixed_float16").decided_open == ("w", "size")
    files = CustomizeDtypes(["OpType::White:InputDtype:float32,OutputDtype:float32"])
    for other in (model.with_files(KeepDtype(["w"])), model.with_files(customize_dtypes=files)):
        answer = other.judge("mixed_float16")
        assert (answer[1].outputs, answer.decided_open) == (("float32",), ("size",))


def test_a_long_chain_is_followed_back_to_its_end() -> None:
    nodes: list[list[object]] = [["n0", "Data", [], ["float32"]]]
    nodes += [[f"n{number}", "Gray", [f"n{number - 1}"], ["float32"]] for number in range(1, 5000)]
    answer = judge(graph_of(nodes), LIBRARY, "mixed_float16")
    steps = answer.path_of("n4999")
    assert len(steps) == 5000
    assert steps[-1].node.code == "graph-input"


def test_every_reason_that_the_judge_gives_has_words() -> None:
    """Codes are written where they are decided; each must be in the table."""
    folder = Path(reason.__file__).parent / "judge"
    written = set()
    for path in folder.glob("*.py"):
        written |= set(re.findall(r'(?:Refusal\(|why=|Matched\(\w+, )"([a-z-]+)"', path.read_text("utf-8")))
    assert len(written) > 10
    assert written <= set(TEXTS)


def test_the_recorded_kernel_columns_are_complete() -> None:
    kernels = Kernels(LIBRARY, "ascend910b")
    assert len(kernels._recorded) == 102
    for op_type, rows in kernels._recorded.items():
        assert len({len(row) for row in rows.values()}) == 1, op_type
    assert prepare(graph_of(NODES), LIBRARY, soc="ascend910b").graph_judge.kernels.of("Add")[0].confidence == "kernel"
