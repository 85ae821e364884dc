"""TensorFlow models: dtypes of outputs, loops, functions, variables, both forms."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import example, given
from hypothesis import strategies as st
from messages import TF, node
from readers_invariants import weights_of

from opsinfo_cli.errors import Damaged, Refused
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.graph.weights import integers_of


def _read(path: Path, message: Any, text: bool = False) -> ModelGraph:
    path.write_bytes(text_format.MessageToString(message).encode() if text else message.SerializeToString())
    return read_graph(str(path))


def _const(graph: Any, name: str, value: float = 1.0) -> Any:
    tensor = TF["TensorProto"](dtype=1, tensor_content=b"\0\0\x80\x3f")
    return node(graph, name, "Const", dtype="float32", value=tensor)


@given(
    st.lists(st.integers(-3, 300) | st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=64),
    st.sampled_from(["int_val", "int64_val"]),
    st.sampled_from(["raw", "whole", "cut"]),
)
@example([-1, 28, 28], "int_val", "whole")  # twelve bytes, as three numbers of int32
@example([-1, 1, 2], "int_val", "whole")
@example([-1, -1, 2**22], "int64_val", "whole")
def test_integers_are_those_that_were_written_whatever_their_length(
    tmp_path_factory: pytest.TempPathFactory, values: list[int], name: str, form: str
) -> None:
    """Packed numbers of variable length may be as long as raw ones would be; the last one may be repeated."""
    dtype, number, code = ("int32", 3, "i") if name == "int_val" else ("int64", 9, "q")
    last = max(at for at in range(len(values)) if at == 0 or values[at] != values[at - 1])
    how: dict[str, dict[str, Any]] = {
        "raw": {"tensor_content": struct.pack(f"<{len(values)}{code}", *values)},
        "whole": {name: values},
    }
    how["cut"] = {name: values[: last + 1]}
    message = TF["GraphDef"]()
    tensor = TF["TensorProto"](dtype=number, **how[form])
    tensor.tensor_shape.dim.add(size=len(values))
    node(message, "c", "Const", dtype=dtype, value=tensor)
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "m", "Mean", "x", "c", T="float32")
    graph = _read(tmp_path_factory.mktemp("m") / "m", message)
    constant = graph.find("c")
    assert constant is not None
    assert integers_of(constant) == values


def _types(graph: ModelGraph) -> list[tuple[str, str]]:
    return [(each.name, each.type) for each in graph]


def test_names_and_dtypes_are_translated(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float16", shape=[2, -1])
    _const(message, "w")
    node(message, "c", "Cast", "x", SrcT="float16", DstT="float32")
    node(message, "m", "MatMul", "c", "w", T="float32")
    node(message, "top", "TopKV2", "m", "k", T="float32")
    node(message, "k", "Placeholder", dtype="int32")
    node(message, "e", "Equal", "top:1", "k", "^c", T="int32")
    graph = _read(tmp_path / "m", message)
    assert _types(graph) == [
        ("x", "Data"),
        ("k", "Data"),
        ("w", "Const"),
        ("c", "Cast"),
        ("m", "MatMulV2"),
        ("top", "TopK"),
        ("e", "Equal"),
        ("Node_Output", "NetOutput"),
    ]
    assert [[tensor.dtype for tensor in each.outputs] for each in graph] == [
        ["float16"],
        ["int32"],
        ["float32"],
        ["float32"],
        ["float32"],
        ["float32", "int32"],
        ["bool"],
        [],
    ]
    assert graph[0].outputs[0].shape == (2, -1)
    assert graph[6].control == (3,)
    assert graph[6].sources[0] == (5, 1)
    where = weights_of(graph)[2]
    assert (tmp_path / "m").read_bytes()[where.offset :][: where.size] == b"\0\0\x80\x3f"


def test_text_and_binary_give_the_same_graph(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32", shape=[3])
    node(message, "s", "Split", "x", "x", num_split=3, T="float32")
    node(message, "y", "Add", "s:2", "s:1", T="float32")
    binary, text = _read(tmp_path / "b", message), _read(tmp_path / "t", message, text=True)
    assert _types(binary) == _types(text)
    assert [each.sources for each in binary] == [each.sources for each in text]
    assert [each.outputs for each in binary] == [each.outputs for each in text]
    assert len(binary[1].outputs) == 3


@pytest.mark.parametrize(("training", "op_type"), [(False, "BNInferenceD"), (True, "BatchNorm"), (None, "BatchNorm")])
@pytest.mark.parametrize("text", [False, True])
def test_batch_normalization_in_training_is_not_fused(
    tmp_path: Path, training: bool | None, op_type: str, text: bool
) -> None:
    """Training is TensorFlow's default."""
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32", shape=[1, 2, 2, 4])
    _const(message, "p")
    norm = node(message, "norm", "FusedBatchNormV3", "x", "p", "p", "p", "p", T="float32", U="float32")
    if training is not None:
        norm.attr.add(key="is_training").value.b = training
    graph = prepare(_read(tmp_path / "m", message, text), "fixtures/opp@ascend910b").graph
    assert graph.find("norm").type == op_type


@pytest.mark.parametrize(("padding", "op_type"), [(b"VALID", "FullyConnection"), (b"SAME", "Conv2D")])
def test_a_convolution_that_covers_its_input_is_fused_only_without_padding(
    tmp_path: Path, padding: bytes, op_type: str
) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32", shape=[1, 2, 2, 4])
    weights = TF["TensorProto"](dtype=1, tensor_content=bytes(4 * 2 * 2 * 4 * 16))
    for size in (2, 2, 4, 16):
        weights.tensor_shape.dim.add(size=size)
    node(message, "w", "Const", dtype="float32", value=weights)
    conv = node(message, "conv", "Conv2D", "x", "w", T="float32")
    conv.attr.add(key="padding").value.s = padding
    node(message, "y", "Relu", "conv", T="float32")
    graph = prepare(_read(tmp_path / "m", message), "fixtures/opp@ascend910b").fused.graph
    assert graph.find("conv").type == op_type


def test_an_operator_with_several_translations_is_noted_with_the_one_that_is_used(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "y", "InTopKV2", "x", "x", "x", T="int32")
    graph = _read(tmp_path / "m", message)
    (note,) = graph.model.notes
    assert (note.kind, note.message) == ("alternatives", "`InTopKV2` becomes InTopK or InTopKV2; `InTopK` is used")
    assert graph[1].type == "InTopK"


def test_a_string_of_the_text_form_ends_at_its_own_quote_and_in_its_line(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    for name in ('a\\"b', "c\\", "d\n"):
        node(message, name, "Placeholder", dtype="float32")
    assert [each.name for each in _read(tmp_path / "m", message, text=True)] == ['a\\"b', "c\\", "d\n"]
    data = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(data.replace(b'"d\\n"', b'"d\n"'))
    with pytest.raises(Damaged, match="a string does not end in its line"):
        read_graph(str(tmp_path / "m"))


@pytest.mark.parametrize("ends", [("enter", "next"), ("next", "enter")])
def test_values_carried_by_a_loop_are_marked_continuous(tmp_path: Path, ends: tuple[str, str]) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "go", "Placeholder", dtype="bool")
    node(message, "enter", "Enter", "x", T="float32")
    node(message, "merge", "Merge", *ends, T="float32", N=2)
    node(message, "switch", "Switch", "merge", "go", T="float32")
    node(message, "relu", "Relu", "switch:1", T="float32")
    node(message, "next", "NextIteration", "relu", T="float32")
    node(message, "exit", "Exit", "switch", T="float32")
    graph = _read(tmp_path / "m", message)
    outputs = {each.name for each in graph if any(tensor.continuous for tensor in each.outputs)}
    inputs = {
        each.name: [tensor.continuous for tensor in each.inputs]
        for each in graph
        if any(t.continuous for t in each.inputs)
    }
    assert outputs == {"enter", "merge", "next"}
    assert inputs == {"switch": [True, False]}
    assert [tensor.dtype for tensor in graph.find("merge").outputs] == ["float32", "int32"]


def test_a_folder_without_a_saved_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"not a SavedModel: saved_model\.pb not found"):
        read_graph(str(tmp_path))


@pytest.mark.parametrize("way", ["nothing reads the merge", "a third input"])
def test_a_merge_that_is_no_loops_marks_only_itself(tmp_path: Path, way: str) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "enter", "Enter", "x", T="float32")
    third = ["enter"] if way == "a third input" else []
    node(message, "merge", "Merge", "enter", "next", *third, T="float32", N=2 + len(third))
    node(message, "next", "NextIteration", "merge" if third else "enter", T="float32")
    graph = _read(tmp_path / "m", message)
    assert {each.name for each in graph if any(tensor.continuous for tensor in each.outputs)} == {"merge"}


def test_a_merge_after_a_switch_marks_only_itself(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "go", "Placeholder", dtype="bool")
    node(message, "switch", "Switch", "x", "go", T="float32")
    node(message, "merge", "Merge", "switch", "switch:1", T="float32", N=2)
    node(message, "y", "Relu", "merge", T="float32")
    graph = _read(tmp_path / "m", message)
    assert {each.name for each in graph if any(tensor.continuous for tensor in each.outputs)} == {"merge"}


def _function(library: Any, name: str, arguments: list[str], results: dict[str, str]) -> Any:
    made = library.function.add()
    made.signature.name = name
    for argument in arguments:
        made.signature.input_arg.add(name=argument)
    for key, value in results.items():
        made.signature.output_arg.add(name=key)
        made.ret.add(key=key, value=value)
    return made


def test_calls_are_inlined_and_functions_inside_functions_too(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    inner = _function(message.library, "inner", ["a"], {"r": "top:values:0", "k": "top:indices:0"})
    node(inner, "top", "TopKV2", "a", "a", T="float32")
    outer = _function(message.library, "outer", ["b"], {"q": "call:output:1"})
    node(outer, "relu", "Relu", "b", T="float32")
    node(outer, "call", "PartitionedCall", "relu:activations:0", f="inner", Tout=("float32", "int32"))
    node(message, "f", "StatefulPartitionedCall", "x", f="outer", Tout=("int32",))
    node(message, "y", "Neg", "f", T="int32")
    graph = _read(tmp_path / "m", message)
    assert _types(graph)[1:4] == [("f/relu", "Relu"), ("f/call/top", "TopK"), ("y", "Neg")]
    assert graph[3].sources == ((2, 1),)


def test_functions_of_control_operators_are_bodies(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "c", "Placeholder", dtype="bool")
    for name, op in (("yes", "Relu"), ("no", "Neg")):
        node(_function(message.library, name, ["a"], {"r": "o:y:0"}), "o", op, "a", T="float32")
    node(message, "if", "If", "c", "x", then_branch="yes", else_branch="no", Tout=("float32",))
    graph = _read(tmp_path / "m", message)
    assert [sub.name for sub in graph.subgraphs] == ["", "if/yes", "if/no"]
    body = [graph[index] for index in graph.subgraphs[1].nodes]
    assert [(each.type, dict(each.attributes)) for each in body] == [
        ("Data", {"parent_input": 1}),
        ("Relu", {}),
        ("NetOutput", {"parent_outputs": (0,)}),
    ]
    assert body[1].outputs[0].dtype == "float32"


def test_a_saved_model_is_its_default_signature_and_its_variables_are_variable(tmp_path: Path) -> None:
    saved = TF["SavedModel"](saved_model_schema_version=1)
    meta = saved.meta_graphs.add()
    graph_def = meta.graph_def
    node(graph_def, "x", "Placeholder", dtype="float32")
    node(graph_def, "v", "VarHandleOp", dtype="float32", shape=[2, 2])
    inner = _function(graph_def.library, "serve", ["a", "h"], {"r": "m:product:0"})
    node(inner, "read", "ReadVariableOp", "h", dtype="float32")
    node(inner, "m", "MatMul", "a", "read:value:0", T="float32")
    node(graph_def, "call", "StatefulPartitionedCall", "x", "v", f="serve", Tout=("float32",))
    node(graph_def, "save", "SaveV2", "v")
    meta.signature_def.add(key="serving_default").value.outputs.add(key="r").value.name = "call:0"
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(saved.SerializeToString())
    graph = read_graph(str(folder))
    assert _types(graph) == [("x", "Data"), ("v", "Variable"), ("call/m", "MatMulV2"), ("Node_Output", "NetOutput")]
    assert graph[1].outputs[0][:1] + graph[1].outputs[0][3:4] == ("float32", (2, 2))
    assert graph.model.format == "saved-model"
    text = tmp_path / "text"
    text.mkdir()
    (text / "saved_model.pbtxt").write_text(text_format.MessageToString(saved))
    assert _types(read_graph(str(text))) == _types(graph)


def test_a_variable_that_is_passed_into_a_body_is_read_there(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "c", "Placeholder", dtype="bool")
    node(message, "v", "VarHandleOp", dtype="float32", shape=[2, 2])
    for name in ("yes", "no"):
        body = _function(message.library, name, ["a", "h"], {"r": "m:product:0"})
        node(body, "read", "ReadVariableOp", "h", dtype="float32")
        node(body, "m", "MatMul", "a", "read:value:0", T="float32")
    node(message, "if", "If", "c", "x", "v", then_branch="yes", else_branch="no", Tout=("float32",))
    graph = _read(tmp_path / "m", message)
    for sub in graph.subgraphs[1:]:
        body = [graph[index] for index in sub.nodes]
        assert [each.type for each in body] == ["Data", "Data", "MatMulV2", "NetOutput"]
        assert [tensor.dtype for each in body[:3] for tensor in each.outputs] == ["float32"] * 3


def test_a_saved_model_without_a_signature_is_refused(tmp_path: Path) -> None:
    saved = TF["SavedModel"](saved_model_schema_version=1)
    node(saved.meta_graphs.add().graph_def, "x", "Placeholder", dtype="float32")
    with pytest.raises(Damaged, match="signature"):
        _read(tmp_path / "saved_model.pb", saved)


def test_an_unknown_operator_has_the_outputs_that_others_read(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "many", "SomeUnknownOp", "x")
    node(message, "y", "Identity", "many:2", T="float32")
    graph = _read(tmp_path / "m", message)
    assert [tensor.dtype for tensor in graph[1].outputs] == ["float32", None, None]
    assert [each and tuple(each) for each in graph[2].sources] == [(1, 2)]


def test_an_output_that_a_known_operator_lacks_is_refused(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "relu", "Identity", "x", T="float32")
    node(message, "y", "Identity", "relu:1", T="float32")
    with pytest.raises(Damaged, match="`y` reads `relu:1`, which no node produces"):
        _read(tmp_path / "m", message)


def test_functions_that_call_themselves_are_refused(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(_function(message.library, "f", ["a"], {"r": "c:output:0"}), "c", "PartitionedCall", "a", f="f")
    node(message, "y", "PartitionedCall", "x", f="f", Tout=("float32",))
    with pytest.raises(Damaged, match="deep"):
        _read(tmp_path / "m", message)


def test_unknown_operators_are_reported(tmp_path: Path) -> None:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "y", "MyOwn", "x", T="float32")
    graph = _read(tmp_path / "m", message)
    assert [(note.kind, note.subject, note.nodes) for note in graph.model.notes] == [("unmapped-operator", "MyOwn", 1)]
    assert graph[1].type == "MyOwn"
