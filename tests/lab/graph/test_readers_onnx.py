"""ONNX models: translation of operators, constants, bodies and functions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from readers_invariants import weights_of

from opsinfo_cli.errors import Damaged, MissingPackage
from opsinfo_cli.lab.graph.constants import extremes
from opsinfo_cli.lab.graph.graph import ModelGraph, Producer, Refusal
from opsinfo_cli.lab.graph.mixlist_check import second_types
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import onnx as onnx_reader
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.graph.verdict import refusal_lines

onnx = pytest.importorskip("onnx")
numpy = pytest.importorskip("numpy")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT = TensorProto.FLOAT


def _value(name: str, shape: list[int] | None, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def _weights(name: str, *shape: int) -> Any:
    return numpy_helper.from_array(numpy.ones(shape, "f4"), name)


def _read(
    folder: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: Sequence[Any] = (), **more: Any
) -> ModelGraph:
    opsets = more.pop("opsets", [("", 17)])
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in opsets], **more)
    path = folder / "model.bin"
    path.write_bytes(model.SerializeToString())
    return read_graph(str(path))


def _types(graph: ModelGraph) -> list[tuple[str, str]]:
    return [(node.name, node.type) for node in graph if node.type not in ("Data", "Const", "NetOutput")]


def test_operators_get_the_names_of_the_policy(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="mm"),
        helper.make_node("Div", ["a", "x"], ["b"]),
        helper.make_node("Softmax", ["b"], ["c"]),
        helper.make_node("Div", ["c", "x"], ["y"]),
    ]
    graph = _read(tmp_path, nodes, [_value("x", [2, 2])], [_value("y", [2, 2])], [_weights("w", 2, 2)])
    assert _types(graph) == [
        ("mm", "BatchMatMulV2"),
        ("Div_0", "RealDiv"),
        ("Softmax_1", "SoftmaxV2"),
        ("Div_2", "RealDiv"),
    ]
    assert [(node.type, node.name) for node in graph][0::5] == [("Data", "x"), ("RealDiv", "Div_2")]
    assert all(tensor == ("float32", None, None, (2, 2), False) for node in graph for tensor in node.outputs)
    assert graph.model.notes == ()


def test_the_opset_chooses_the_name(tmp_path: Path) -> None:
    axes = numpy_helper.from_array(numpy.array([0]), "axes")
    old = _read(
        tmp_path,
        [helper.make_node("Unsqueeze", ["x"], ["y"], axes=[0])],
        [_value("x", [2])],
        [_value("y", [1, 2])],
        opsets=[("", 11)],
    )
    new = _read(
        tmp_path,
        [helper.make_node("Unsqueeze", ["x", "axes"], ["y"])],
        [_value("x", [2])],
        [_value("y", [1, 2])],
        [axes],
    )
    assert [_types(each)[0][1] for each in (old, new)] == ["Unsqueeze", "UnsqueezeV3"]


@pytest.mark.parametrize("opset", [21, -(2**62)])
def test_an_opset_without_plugins_is_refused(tmp_path: Path, opset: int) -> None:
    graph = _read(
        tmp_path, [helper.make_node("Relu", ["x"], ["y"])], [_value("x", [2])], [_value("y", [2])], opsets=[("", opset)]
    )
    assert graph.model.refused == (Refusal("Relu_0", "Relu", f"no plugin for ai.onnx::{opset}::Relu"),)
    assert _types(graph) == [("Relu_0", f"ai.onnx::{opset}::Relu")]
    convert = "`onnx.version_converter.convert_version(model, 18)`"
    advice = (
        [f"the model has opset {opset}: export it with opset 18, or convert it with {convert}"] if opset > 0 else []
    )
    assert list(refusal_lines(graph.model)) == [
        f"atc refuses this model: `Relu_0` (Relu): no plugin for ai.onnx::{opset}::Relu",
        *advice,
    ]


def test_operators_without_plugin_are_refused_and_named(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Whatever", ["x"], ["a"], domain="com.example"),
        helper.make_node("Whatever", ["a"], ["b"], domain="com.example"),
        helper.make_node("Unheard", ["x"], ["s"]),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    opsets = [("", 17), ("com.example", 1)]
    graph = _read(tmp_path, nodes, [_value("x", [2])], [_value("y", [2])], opsets=opsets)
    assert [note.kind for note in graph.model.notes] == ["unknown-dtype"]
    assert list(refusal_lines(graph.model)) == [
        "atc refuses this model: `Whatever_0`, `Whatever_1` (Whatever): no plugin for com.example::1::Whatever",
        "atc refuses this model: `Unheard_2` (Unheard): no plugin for ai.onnx::17::Unheard",
    ]
    assert ("Whatever_0", "com.example::1::Whatever") in _types(graph)


def test_gemm_becomes_matmul_add_and_muls_for_factors_other_than_one(tmp_path: Path) -> None:
    weights = [_weights("w", 4, 4), _weights("b", 4)]
    plain = _read(
        tmp_path,
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="g")],
        [_value("x", [2, 4])],
        [_value("y", [2, 4])],
        weights,
    )
    scaled = _read(
        tmp_path,
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="g", alpha=0.5)],
        [_value("x", [2, 4])],
        [_value("y", [2, 4])],
        weights,
    )
    assert _types(plain) == [("g", "MatMulV2"), ("g_add", "Add")]
    assert _types(scaled) == [("g_Muls2", "Muls"), ("g", "MatMulV2"), ("g_Muls1", "Muls"), ("g_add", "Add")]
    assert [node.outputs[0].dtype for node in scaled if node.type == "Muls"] == ["float32", "float32"]
    assert plain.find("g_add").attributes["source"] == "g"


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ([8], ["Unsqueeze", "Conv2D", "Squeeze"]),
        ([8, 8], ["Conv2D"]),
        ([8, 8, 8], ["Conv3D"]),
    ],
)
def test_a_convolution_is_translated_by_its_dimensions(tmp_path: Path, dims: list[int], expected: list[str]) -> None:
    kernel = [1] * len(dims)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="c", kernel_shape=kernel)
    graph = _read(
        tmp_path, [node], [_value("x", [1, 2, *dims])], [_value("y", [1, 3, *dims])], [_weights("w", 3, 2, *kernel)]
    )
    assert [op_type for _, op_type in _types(graph)] == expected
    assert all(tensor.dtype == "float32" for node in graph for tensor in node.outputs)


def test_reductions_take_their_axes_as_a_constant_and_name_their_second_type(tmp_path: Path) -> None:
    node = helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], name="r")
    graph = _read(tmp_path, [node], [_value("x", [2, 3])], [_value("y", [2, 1])])
    found = graph.find("r")
    assert found is not None
    assert (found.type, len(found.inputs), found.inputs[1].dtype) == ("ReduceMean", 2, "int32")
    assert second_types(graph) == {"ReduceMeanD"}


def test_layer_normalization_and_max_of_three_expand(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "w"], ["a"], name="n"),
        helper.make_node("Max", ["a", "x", "a"], ["y"], name="m"),
    ]
    graph = _read(tmp_path, nodes, [_value("x", [2, 4])], [_value("y", [2, 4])], [_weights("w", 4)])
    types = [op_type for _, op_type in _types(graph)]
    assert types == ["BroadcastTo", "BroadcastTo", "LayerNorm", "Maximum", "Maximum"]
    assert [node.outputs[0].shape for node in graph if node.type == "BroadcastTo"] == [(2, 4), (2, 4)]


@pytest.mark.parametrize(("parts", "read"), [(9, 8), (10, 9), (20, 3), (64, 63)])
def test_an_operator_has_as_many_outputs_as_the_model_gives_it(tmp_path: Path, parts: int, read: int) -> None:
    names = [f"s{at}" for at in range(parts)]
    nodes = [
        helper.make_node("Split", ["x", "k"], names, name="split", axis=1),
        helper.make_node("Relu", [names[read]], ["y"], name="relu"),
    ]
    sizes = helper.make_tensor("k", TensorProto.INT64, [parts], [2] * parts)
    graph = _read(tmp_path, nodes, [_value("x", [2, 2 * parts])], [_value("y", [2, 2])], [sizes])
    assert graph.find("relu").sources == (Producer(graph.find("split").index, read),)


def test_nodes_that_depend_on_constants_only_are_folded(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Neg", ["w"], ["v"], name="neg"),
        helper.make_node("Add", ["x", "v"], ["a"], name="add"),
        helper.make_node("Reshape", ["a", "s"], ["y"], name="reshape"),
    ]
    graph = _read(
        tmp_path, nodes, [_value("x", [2, 2])], [_value("y", [2, 2])], [_weights("w", 2, 2), _weights("unused", 1)]
    )
    assert _types(graph) == [("add", "Add"), ("reshape", "Reshape")]
    assert [node.name for node in graph if node.type == "Const"] == ["Shape_0", "neg"]


COMPUTED_SHAPES = """
sizes = Shape(x)
ends = Slice(sizes, zero, two)
flat = Concat<axis=0>(ends, minus)
rows = Reshape(x, flat)
ones = ConstantOfShape<value=int64[1] {1}>(three)
free = Mul(ones, minus)
isfree = Equal(given, free)
target = Where(isfree, ones, given)
wide = Expand(w, target)
all = ReduceProd<keepdims=0>(sizes)
many = ConstantOfShape(all)
y = Add(rows, wide)
"""


@pytest.mark.parametrize(
    ("dims", "shapes"),
    [
        ([2, 3, 4, 5], {"rows": (2, 3, 20), "wide": (2, 1, 20), "y": (2, 3, 20), "many": (120,)}),
        ([-1, 3, 4, 5], {"rows": (-1, -1, -1), "wide": (2, 1, 20), "y": (2, -1, 20), "many": None}),
        ([1 << 20, 3, 4, 5], {"rows": (1 << 20, 3, 20), "many": (60 << 20,)}),
    ],
)
def test_shapes_that_the_model_computes_are_known(dims: list[int], shapes: dict[str, Any], tmp_path: Path) -> None:
    """As exporters write Reshape and Expand; the compiler folds these nodes."""
    nodes = [onnx.parser.parse_node(line) for line in COMPUTED_SHAPES.strip().splitlines()]
    for node in nodes:
        node.name = node.output[0]
    numbers = {"zero": [0], "two": [2], "three": [3], "minus": [-1], "given": [2, -1, -1]}
    weights = [numpy_helper.from_array(numpy.array(value), name) for name, value in numbers.items()]
    outputs = [_value("y", None), _value("many", None)]
    graph = _read(tmp_path, nodes, [_value("x", dims)], outputs, [*weights, _weights("w", 2, 1, 20)])
    assert graph.model.notes == ()
    found = {node.name: node.outputs[0].shape for node in graph if node.outputs}
    assert {name: found[name] for name in shapes} == shapes


def test_a_dimension_of_minus_one_is_unknown(tmp_path: Path) -> None:
    shape = numpy_helper.from_array(numpy.array([2, -1]), "s")
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"], name="r")]
    graph = _read(tmp_path, nodes, [_value("x", [-1, -1, 4])], [_value("y", None)], [shape])
    assert [node.outputs[0].shape for node in graph if node.name == "r"] == [(2, -1)]


def test_a_shape_in_another_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shape.bin").write_bytes(numpy.array([3, 2]).tobytes())
    shape = TensorProto(name="s", data_type=TensorProto.INT64, dims=[2], data_location=TensorProto.EXTERNAL)
    shape.external_data.add(key="location", value="shape.bin")
    nodes = [helper.make_node("Identity", ["s"], ["t"]), helper.make_node("Reshape", ["x", "t"], ["y"], name="r")]
    graph = _read(tmp_path, nodes, [_value("x", [2, 3])], [_value("y", None)], [shape])
    assert [node.outputs[0].shape for node in graph if node.name == "r"] == [(-1, -1)]


def test_bodies_of_if_get_captured_values_as_inputs(tmp_path: Path) -> None:
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "then", [], [_value("t", [2])])
    other = helper.make_graph([helper.make_node("Neg", ["z"], ["e"])], "else", [], [_value("e", [2])])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)
    inputs = [_value("x", [2]), _value("z", [2]), _value("c", [], TensorProto.BOOL)]
    graph = _read(tmp_path, [node], inputs, [_value("y", [2])])
    found = graph.find("if")
    assert found is not None
    assert [graph[each.node].name for each in found.sources if each] == ["c", "x", "z"]
    bodies = [
        [(graph[each].name, graph[each].type, dict(graph[each].attributes)) for each in sub.nodes]
        for sub in graph.subgraphs
    ]
    data = [("x", "Data", {"parent_input": 1}), ("z", "Data", {"parent_input": 2})]
    out = ("Node_Output", "NetOutput", {"parent_outputs": (0,)})
    by_name = {sub.name: body for sub, body in zip(graph.subgraphs, bodies, strict=True)}
    assert by_name["if/then_branch"] == [*data, ("Relu_1", "Relu", {}), out] or by_name["if/then_branch"][:2] == data
    assert {sub.name: sub.parent for sub in graph.subgraphs} == {
        "g": None,
        "if/then_branch": found.index,
        "if/else_branch": found.index,
    }
    assert all(tensor.dtype for node in graph for tensor in node.outputs)


def test_a_loop_records_the_inputs_of_its_body(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["v", "k"], ["w"])],
        "body",
        [_value("i", [], TensorProto.INT64), _value("go", [], TensorProto.BOOL), _value("v", [2])],
        [_value("on", [], TensorProto.BOOL), _value("w", [2])],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    inputs = [_value("n", [], TensorProto.INT64), _value("x", [2]), _value("k", [2])]
    graph = _read(tmp_path, [node], inputs, [_value("y", [2])])
    inner = [graph[index] for index in graph.subgraphs[1].nodes]
    assert [each.attributes.get("parent_input") for each in inner if each.type == "Data"] == [0, 1, 2, 3]
    assert inner[-1].attributes["parent_outputs"] == (-1, 0)
    assert graph.find("loop").sources[1] is None


def test_functions_of_the_model_are_inlined(tmp_path: Path) -> None:
    function = helper.make_function(
        "local", "Double", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    node = helper.make_node("Double", ["x"], ["y"], domain="local")
    opsets = [("", 17), ("local", 1)]
    weights = [_weights("w", 600)]
    nodes = [node, helper.make_node("Mul", ["w", "x"], ["z"])]
    outputs = [_value("y", [600]), _value("z", [600])]
    graph = _read(tmp_path, nodes, [_value("x", [600])], outputs, weights, opsets=opsets, functions=[function])
    assert [op_type for _, op_type in _types(graph)] == ["Add", "Mul"]
    assert [note.kind for note in graph.model.notes] == ["functions"]
    (held,) = weights_of(graph).values()
    assert extremes(held, "float32") == (600, 0, 0, None, None)


def test_without_the_onnx_package_the_error_names_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    _read(tmp_path, [node], [_value("x", [2])], [_value("y", [2])])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingPackage) as caught:
        read_graph(str(tmp_path / "model.bin"))
    assert "pip install onnx" in str(caught.value.hint)


def test_an_input_that_nothing_produces_is_named(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="`gone`"):
        _read(tmp_path, [helper.make_node("Relu", ["gone"], ["y"])], [], [_value("y", [2])])


def test_an_operator_whose_input_has_no_type_is_read(tmp_path: Path) -> None:
    """The shape inference of onnx 1.23 ends the process at this EyeLike."""
    nodes = [
        helper.make_node("EyeLike", ["a"], ["y"], dtype=TensorProto.FLOAT16),
        helper.make_node("EyeLike", ["x"], ["z"], dtype=TensorProto.FLOAT16),
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in "yz"]
    inputs = [_value("x", [2, 3]), helper.make_empty_tensor_value_info("a")]
    graph = _read(tmp_path, nodes, inputs, outputs)
    collected = next(node for node in graph if node.type == "NetOutput")
    assert [(each.dtype, each.shape) for each in collected.inputs] == [("float16", None), ("float16", (2, 3))]


def test_operators_of_cann_without_inputs_or_outputs_are_read(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ArgMax", ["x"], ["b", "c", "y"]),
        helper.make_node("NPUDtypeCast", ["x"], []),
        helper.make_node("NPUFormatCast", [], ["a"]),
    ]
    graph = _read(tmp_path, nodes, [_value("x", [2, 3])], [_value("y", [1, 3])])
    answer = prepare(graph, None).judge("force_fp16")
    assert answer.counts.casts == 0
    assert [len(node.outputs) for node in answer if node.type == "ArgMaxV2"] == [3]


def test_more_outputs_than_stated_are_refused(tmp_path: Path) -> None:
    """The shape inference of onnx 1.23 aborts the process."""
    outputs = ["a", "b", "c"]
    node = helper.make_node("Split", ["x"], outputs, name="n", num_outputs=2)
    with pytest.raises(Damaged, match=r"`n` \(Split\) has 3 outputs, but num_outputs is 2"):
        _read(tmp_path, [node], [_value("x", [6])], [_value(each, [2]) for each in outputs], opsets=[("", 18)])


def test_an_attribute_that_the_constant_made_from_it_cannot_hold_is_refused(tmp_path: Path) -> None:
    node = helper.make_node("ReduceMax", ["x"], ["y"], name="n", axes=[2**31], keepdims=0)
    with pytest.raises(Damaged, match=r"`n` \(ReduceMax\): an attribute is not a number of int32"):
        _read(tmp_path, [node], [_value("x", [2])], [_value("y", [])], opsets=[("", 15)])


def test_nodes_with_equal_names_get_numbers(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="x"), helper.make_node("Relu", ["a"], ["y"], name="x")]
    graph = _read(tmp_path, nodes, [_value("x", [2])], [_value("y", [2])])
    assert [node.name for node in graph] == ["x:2", "x", "x:1", "Node_Output"]


def test_a_value_that_two_nodes_produce_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"], name="second")]
    with pytest.raises(Damaged, match="`y` is an output of two nodes, the second is `second`"):
        _read(tmp_path, nodes, [_value("x", [2])], [_value("y", [2])])


@pytest.mark.parametrize("given", [[], [""]], ids=["no input", "an empty one"])
def test_an_operator_of_any_number_of_inputs_needs_one(tmp_path: Path, given: list[str]) -> None:
    value = onnx.helper.make_tensor_value_info("y", 1, [1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Concat", given, ["y"], "all", axis=0)], "g", [], [value])
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with pytest.raises(Damaged, match=r"`all` \(Concat\) lacks input 0"):
        read_graph(str(path))


def test_nodes_that_feed_no_output_are_removed_as_the_compiler_does_and_said(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], "kept"),
        helper.make_node("Exp", ["y"], ["a"], "dead"),
        helper.make_node("Log", ["a"], ["b"], "behind"),
    ]
    graph = _read(tmp_path, nodes, [_value("x", [2]), _value("alone", [2])], [_value("y", [2])])
    assert [node.name for node in graph if node.type not in ("Data", "NetOutput")] == ["kept"]
    assert "alone" in graph.names  # an input stays
    (note,) = [note for note in graph.model.notes if note.kind == "unused"]
    assert (note.nodes, "the compiler removes them: dead, behind" in note.message) == (2, True)


def test_a_node_that_is_refused_stays_though_it_feeds_nothing(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], "kept"), helper.make_node("NoSuch", ["y"], ["a"], "dead")]
    graph = _read(tmp_path, nodes, [_value("x", [2])], [_value("y", [2])])
    assert [refusal.name for refusal in graph.model.refused] == ["dead"]
    assert "dead" in graph.names


def test_a_dead_node_in_a_body_is_removed_too(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 13]> g (bool c, float[3] x) => (float[3] y) {
      y = If (c) <then_branch = t () => (float[3] a) { a = Add(x, x) d = Mul(x, x) },
        else_branch = e () => (float[3] b) { b = Mul(x, x) }>
    }"""
    path = tmp_path / "m.onnx"
    model = onnx.parser.parse_model(text)
    then, otherwise = (branch.g.node for branch in model.graph.node[0].attribute)
    for node, name in zip([*then, *otherwise], ["one", "dead", "two"], strict=True):
        node.name = name  # the parser of older versions does not read names
    onnx.save(model, path)
    names = read_graph(str(path)).names
    assert ("one" in names, "two" in names, "dead" in names) == (True, True, False)


def test_what_limits_the_reading_of_a_file_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise ValueError("no types")

    monkeypatch.setattr(onnx_reader, "infer", fails)
    weights = _weights("w", 2, 2)
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="../w.bin")
    ports = [_value("x", [2, 2])], [_value("y", [2, 2])]
    graph = _read(tmp_path, [helper.make_node("MatMul", ["x", "w"], ["y"])], *ports, [weights])
    assert {note.kind: note.message for note in graph.model.notes} == {
        "external-data": "external data outside the model's folder is not read: `../w.bin`",
        "inference": "the onnx package cannot infer dtypes: no types",
    }
