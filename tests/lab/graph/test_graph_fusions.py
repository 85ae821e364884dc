"""Fusions that run before the choice of dtypes: each rule, its conditions, and what the answers say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from case_support import entry_of, library_of, marks_of

from opsinfo_cli.core.cann.option_files import KeepDtype
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.cost import NodeBytes, left_low
from opsinfo_cli.lab.graph.fusions.fuse import RULES, fused_into, unknown_passes
from opsinfo_cli.lab.graph.fusions.pattern import Pattern
from opsinfo_cli.lab.graph.fusions.rule import FusionGraph
from opsinfo_cli.lab.graph.graph import GraphTensor, ModelFacts, ModelGraph
from opsinfo_cli.lab.graph.prepare import PreparedModel, prepare
from opsinfo_cli.lab.graph.read_back import read_back
from opsinfo_cli.lab.graph.result import WrittenAnswer

ROOT = Path(__file__).parent.parent.parent.parent
FLOATS, WHOLE = "float,float16", "int32,int32"
LIBRARY = library_of(
    {
        "ReduceMean": ["", [FLOATS, WHOLE, FLOATS], 2],
        "ReduceMeanD": ["false", [FLOATS, FLOATS], 1],
        "ReduceSumD": ["", [FLOATS, FLOATS], 1],
        "OneHotD": ["", [WHOLE, FLOATS, FLOATS, FLOATS], 3],
        "GatherV2": ["", [FLOATS, WHOLE, WHOLE, FLOATS], 3],
        "GatherV2D": ["", [FLOATS, "int32,int64", FLOATS], 2],
        "SplitD": ["", [FLOATS, FLOATS, FLOATS], 1],
        "SplitVD": ["", [FLOATS, FLOATS, FLOATS], 1],
        "TileD": ["", [FLOATS, FLOATS], 1],
        "TransposeD": ["", ["float16", "float16"], 1],
        "StridedSliceD": ["", [FLOATS, FLOATS], 1],
        "MatMulV2": ["true", [FLOATS] * 4, 3],
        "Add": ["", [FLOATS] * 3, 2],
    }
)


def graph(*nodes: tuple[Any, ...], predicted: bool = True) -> ModelGraph:
    """Nodes of name, op type, inputs (``name:output``), and dtype with shape of each output: ``float32 2x?``."""
    builder = GraphBuilder()
    for name, op_type, inputs, *outputs in nodes:
        sources: list[tuple[int | str, int] | None] = [
            (each.partition(":")[0], int(each.partition(":")[2] or 0)) if each else None for each in inputs
        ]
        builder.add(name, op_type, sources, [tensor(each) for each in outputs])
    return builder.build(ModelFacts("onnx" if predicted else "ge-proto"))


def tensor(text: str) -> GraphTensor:
    dtype, _, dims = text.partition(" ")
    return GraphTensor(dtype, shape=tuple(-1 if dim == "?" else int(dim) for dim in dims.split("x") if dim))


def prepared(made: ModelGraph, *without: str) -> PreparedModel:
    return prepare(made, LIBRARY, no_fusion=without)


def types(made: ModelGraph, *without: str) -> list[str]:
    """The op types after fusion, without the input, the output and constants."""
    return [
        node.type for node in prepared(made, *without).fused.graph if node.type not in ("Data", "Const", "NetOutput")
    ]


X = ("x", "Data", [], "float32 2x3")
I = ("i", "Const", [], "int32 1")  # noqa: E741
W = ("w", "Const", [], "float32 3x4")
B = ("b", "Const", [], "float32 4")
P = ("p", "Const", [], "float32 3")
PRODUCT = ("mm", "MatMulV2", ["x", "w"], "float32 2x4")


PATTERNS = (Path(__file__).parent / "fusions.txt").read_text("utf-8").splitlines()
"""``NAME TYPE(INPUTS) OUTPUTS | ... => TYPES``: nodes beside X, I, W, B and P, and the op types after fusion."""


def nodes_of(text: str) -> Iterator[tuple[Any, ...]]:
    for name, op_type, inputs, outputs in re.findall(r"(\w+) (\w+)\((.*?)\) ?([^|]*)", text):
        yield name, op_type, inputs.split(", ") if inputs else [], *filter(None, outputs.strip().split(", "))


def pattern_graph(pattern: str) -> ModelGraph:
    return graph(X, I, W, B, P, *nodes_of(pattern.partition(" => ")[0]))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_becomes_what_the_compiler_makes_of_it(pattern: str) -> None:
    text, _, expected = pattern.partition(" => ")
    made = pattern_graph(pattern)
    assert types(made) == [each for each in expected.split() if each != "nothing"]
    assert types(made, "all") == [node[1] for node in nodes_of(text) if node[1] not in ("Data", "Const", "NetOutput")]


def test_a_compiled_model_is_left_as_it_is() -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"), predicted=False)
    assert types(made) == ["ReduceMean"]


def test_constants_that_became_attributes_go_and_the_judge_sees_the_new_type() -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"), ("o", "NetOutput", ["r"]))
    answer = prepared(made).judge("mixed_float16")
    assert [node.name for node in answer] == ["x", "r", "o"]
    node = answer.find("r")
    assert node is not None
    assert (node.type, node.type_before_fusion, node.policy) == ("ReduceMeanD", "ReduceMean", "black")
    assert node.why.endswith("; ReduceMeanD, from ReduceMean by ConstToAttrPass")
    assert [astuple(each) for each in answer.fused.fusions] == [("ConstToAttrPass", ("r",), ("r",), "high")]


def test_a_gather_takes_over_the_cast_of_its_indices_and_says_what_it_was() -> None:
    n, axis, cast = ("n", "Data", [], "int64 2"), ("l", "Const", [], "int64 1"), ("c", "Cast", ["n"], "int32 2")
    made = graph(X, n, axis, cast, ("g", "GatherV2", ["x", "c", "l"], "float32 2x2"), ("o", "NetOutput", ["g"]))
    answer = prepared(made).judge("mixed_float16")
    assert [node.name for node in answer] == ["x", "n", "g", "o"]
    node = answer.find("g")
    assert node is not None
    assert (node.type, node.type_before_fusion) == ("GatherV2D", "GatherV2")
    assert [each.dtype for each in answer.graph[node.index].inputs] == ["float32", "int64"]
    assert answer.fused.fusions[0].nodes == ("g", "c")


def test_a_bias_is_an_input_of_the_product_and_both_names_find_it() -> None:
    made = graph(X, W, PRODUCT, B, ("a", "Add", ["mm", "b"], "float32 2x4"), ("o", "NetOutput", ["a"]))
    answer = prepared(made).judge("mixed_float16")
    node = answer.find("a")
    assert node is not None
    assert (node.name, node.type, node.inputs) == ("mm", "MatMulV2", ("float16",) * 3)
    assert answer.graph[node.index].fused_names == ("mm", "a")
    assert node.why.endswith("; MatMulV2, from `mm` and `a` by MatMulBiasAddFusionPass")
    assert answer.fused.fusions[0].nodes == ("mm", "a")


def test_what_waits_for_a_part_waits_for_the_node_that_took_it() -> None:
    builder = GraphBuilder()
    for name, op_type, inputs, output in (X, W, PRODUCT, B, ("a", "Add", ["mm", "b"], "float32 2x4")):
        builder.add(name, op_type, [(each, 0) for each in inputs], [tensor(output)])
    builder.add("e", "Exp", [("x", 0)], [tensor("float32 2x3")], control=["mm"])
    builder.add("o", "NetOutput", [("a", 0), ("e", 0)], [])
    fused = prepared(builder.build(ModelFacts("onnx"))).fused.graph
    node = fused.find("e")
    assert node is not None
    assert [(fused[index].name, len(fused[index].sources)) for index in node.control] == [("mm", 3)]


def test_a_reader_that_reads_a_value_again_since_a_node_went_counts_twice() -> None:
    e, i, m = (("e", "Exp", ["x"]), ("i", "Identity", ["e"]), ("m", "Mul", ["i", "e"]))
    it = FusionGraph(graph(X, *((*node, "float32 2x3") for node in (e, i, m))), lambda _: True)
    for change in RULES["IdentityPass"].changes(it):
        it.apply("IdentityPass", change)
    assert it.is_read(it.nodes[1], 2)


@pytest.mark.parametrize(("is_carried", "dtype"), [(True, "float32"), (False, "float16")])
def test_an_input_that_a_loop_carries_follows_its_list_in_every_mode(is_carried: bool, dtype: str) -> None:
    builder = GraphBuilder()
    builder.add("x", "Data", [], [GraphTensor("float32", shape=(2, 3), continuous=is_carried)])
    builder.add("a", "Add", [("x", 0), ("x", 0)], [GraphTensor("float32", shape=(2, 3))])
    builder.add("o", "NetOutput", [("a", 0)], [])
    library = library_of({"Add": ["false", [FLOATS] * 3, 2]})
    node = prepare(builder.build(ModelFacts("onnx")), library).judge("force_fp16").find("a")
    assert node is not None
    assert node.inputs == (dtype, dtype)


def test_the_size_of_a_node_is_that_of_all_its_outputs() -> None:
    made = graph(X, I, ("s", "Split", ["i", "x"], "float32 1x3", "float32 1x3"), ("o", "NetOutput", ["s", "s:1"]))
    assert left_low(prepared(made).judge("force_fp16")) == NodeBytes(1, 2 * 3 * 2)


NODES = [
    ("a", "Exp", ["x"], "float32 2x3"),
    ("b", "Exp", ["a"], "float32 2x3"),
    ("c", "Neg", ["b"], "float32 2x3"),
    ("d", "Add", ["c", "a"], "float32 2x3"),
    ("e", "Add", ["c", "b"], "float32 2x3"),
]


def test_rules_see_the_nodes_as_they_are_in_their_order_and_only_with_inputs_and_outputs() -> None:
    made = graph(X, *NODES, ("f", "Exp", [], "float32 2"), ("g", "Exp", ["x"]))
    it = FusionGraph(made, lambda _: True)
    assert [node.name for node in it.of("Neg", "Exp")] == ["a", "b", "c"]
    assert (it.has(["Sub", "Neg"]), it.has(["Sub"])) == (True, False)
    it.nodes[1] = replace(it.nodes[1], type="Log")
    it.gone[3] = None
    assert [node.name for node in it.of("Neg", "Exp")] == ["b"]


PATTERN = Pattern("""
    x = Exp()
    y = Neg(x)
    result = Add(y, x)
""")


@pytest.mark.parametrize(
    ("change", "expected"),
    [("nothing", ["a", "b"]), ("gone", ["a"]), ("another type", ["a"])],
)
def test_a_pattern_has_the_first_node_of_a_name_and_passes_over_what_a_match_before_took(
    change: str, expected: list[str]
) -> None:
    it = FusionGraph(graph(X, *NODES), lambda _: True)
    found = PATTERN.matches(it)
    names = [next(found)["x"].name]  # `d` reads `a` itself, and `b` through `c`
    if change == "gone":
        it.gone[2] = None
    elif change == "another type":
        it.nodes[5] = replace(it.nodes[5], type="Sub")
    assert names + [nodes["x"].name for nodes in found] == expected


def test_a_node_with_a_complex_dtype_keeps_its_dtypes_and_says_why() -> None:
    x = ("x", "Data", [], "complex64 2x3")
    made = graph(x, ("e", "Add", ["x", "x"], "complex64 2x3"), ("o", "NetOutput", ["e"]))
    library = library_of({"Add": ["true", ["float16,complex64"] * 3, 2]})
    node = prepare(made, library).judge("mixed_float16").find("e")
    assert node is not None
    assert node.why.startswith("keeps its dtypes because one of them is complex")


def test_the_inputs_of_a_recurrent_network_are_those_of_its_kernel() -> None:
    lengths = ("n", "Data", [], "int32 2")
    made = graph(X, W, B, lengths, ("l", "CommonLSTM", ["x", "w", "w", "b", "n", "", "x"], "float32 2x4"))
    node = prepared(made).fused.graph.find("l")
    assert node is not None
    names = [None if each is None else prepared(made).fused.graph[each.node].name for each in node.sources]
    assert names == ["x", "w", "b", None, None, "x", None, None, None, None]
    assert node.inputs[9].dtype == "uint8"
    fused = prepared(graph(X, W, B, lengths, ("g", "CommonGRU", ["x", "w", "w", "b", "n"], "float32 2x4"))).fused.graph
    node = fused.find("g")
    assert node is not None
    assert [each and fused[each.node].name for each in node.sources] == ["x", "w", "w", "b", None, "n"]
    assert node.inputs[4].dtype == "float32", "the second bias, a constant"


@pytest.mark.parametrize("name", RULES)
def test_each_fusion_can_be_left_out(name: str) -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"))
    assert types(made, name) == (["ReduceMean"] if name == "ConstToAttrPass" else ["ReduceMeanD"])


def test_an_unknown_fusion_is_refused_with_a_near_name() -> None:
    with pytest.raises(UsageFault) as caught:
        prepared(graph(X), "ConstToAtrPass")
    assert caught.value.hint == "did you mean `ConstToAttrPass`?"


def test_fusions_whose_rules_are_not_public_are_named_where_they_may_apply() -> None:
    made = graph(
        X,
        ("e", "Einsum", ["x"], "float32 2"),
        ("t", "Pack", ["x"], "float32 2"),
        ("u", "Pack", ["x"] * 64, "float32 2"),
    )
    assert dict(prepared(made).fused.not_applied) == {"EinsumPass": ["e"], "PackFusionPass": ["u"]}
    assert not {row["name"] for row in unknown_passes()} & RULES.keys()


def test_keep_dtype_names_what_was_parsed() -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"))
    judged = prepare(made, LIBRARY, keep_dtype=KeepDtype(["OpType::ReduceMean"])).judge("force_fp16")
    node = judged.find("r")
    assert node is not None
    assert node.why.startswith("keeps its dtype because of keep_dtype")


@pytest.mark.parametrize("line", ["mm", "a", "OpType::MatMulV2", "OpType::Add"])
def test_a_fused_node_keeps_its_dtype_if_one_of_its_parts_does(line: str) -> None:
    made = graph(X, W, PRODUCT, B, ("a", "Add", ["mm", "b"], "float32 2x4"), ("o", "NetOutput", ["a"]))
    answer = prepare(made, LIBRARY, keep_dtype=KeepDtype([line])).judge("force_fp16")
    assert KeepDtype([line]).unmatched(answer.graph) == []
    assert answer.counts.high == 1


def test_a_mixlist_is_asked_for_the_type_after_fusion() -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"))
    before, after = (
        prepared(made).judge("mixed_float16", marks_of(white=[name])) for name in ("ReduceMean", "ReduceMeanD")
    )
    assert (before.counts.low, after.counts.low) == (0, 1)
    assert fused_into(after.graph, "ReduceMean") == ["ReduceMeanD"]
    assert fused_into(after.graph, "ReduceMeanD") == []


def test_a_reduction_of_short_axes_goes_before_its_axes_become_attributes() -> None:
    y = ("y", "Data", [], "float32 2x1")
    made = graph(y, I, ("r", "ReduceMean", ["y", "i"], "float32 2"), ("e", "Exp", ["r"], "float32 2"))
    assert [each.name for each in prepared(made).fused.fusions] == ["AReduceMeanFusionPass"]
    assert types(made, "AReduceMeanFusionPass") == ["ReduceMeanD", "Exp"]


@pytest.mark.parametrize(("shape", "dtype"), [("2x3", "int32"), ("2x?", "int64")])
def test_the_result_of_arg_max_becomes_int32_if_its_axis_is_short(shape: str, dtype: str) -> None:
    nodes = (
        ("x", "Data", [], f"float32 {shape}"),
        I,
        ("a", "ArgMaxV2", ["x", "i"], "int64 2"),
        ("o", "NetOutput", ["a"]),
    )
    answer = prepared(graph(*nodes)).judge("mixed_float16")
    assert [node.outputs[0].dtype for node in answer.graph if node.type == "ArgMaxV2"] == [dtype]
    assert [(cast.begin, cast.end) for cast in answer.casts] == [("int32", "int64")] * (dtype == "int32")


def test_a_library_without_entries_of_a_type_assumes_no_support() -> None:
    made = graph(X, I, ("r", "ReduceMean", ["x", "i"], "float32 2x1"))
    only = library_of({"ReduceMean": ["", [FLOATS, WHOLE, FLOATS], 2], "Exp": entry_of("", [FLOATS, FLOATS], 1)})
    assert [node.type for node in prepare(made, only).fused.graph] == ["Data", "Const", "ReduceMean"]


def test_the_page_on_fusions_has_every_one() -> None:
    page = (ROOT / "docs" / "fusions.md").read_text("utf-8")
    assert [name for name in (*RULES, *(row["name"] for row in unknown_passes())) if f"`{name}`" not in page] == []


def test_a_read_back_finds_a_fused_node_by_the_names_of_its_parts() -> None:
    made = graph(X, W, PRODUCT, B, ("a", "Add", ["mm", "b"], "float32 2x4"), ("o", "NetOutput", ["a"]))
    compiled = graph(X, W, ("a", "MatMulV2", ["x", "w"], "float16 2x4"), ("o", "NetOutput", ["a"]), predicted=False)
    back = read_back(prepared(made).judge("mixed_float16"), WrittenAnswer(compiled))
    assert [(each.type, each.matched) for each in back.types] == [("MatMulV2", 1)]
