"""The readers on public files, compared with the protobuf and onnx packages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from messages import GE, TF
from readers_invariants import weights_of

from opsinfo_cli.core.cann.install import Install
from opsinfo_cli.lab.graph.atc_options import command_options
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph

onnx = pytest.importorskip("onnx")
LIGHT = sorted((Path(onnx.__file__).parent / "backend" / "test" / "data" / "light").glob("*.onnx"))
_OF_GE = {"FLOAT": "float32", "DOUBLE": "float64", "BF16": "bfloat16", "UNDEFINED": None}


@pytest.fixture
def graphs(corpus: Path) -> Path:
    folder = corpus / "graphs"
    if not folder.is_dir():
        pytest.skip("this corpus holds no graphs")
    return folder


def _dtype(number: int) -> str | None:
    word = GE["TensorDescriptor"].DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[number].name
    return _OF_GE.get(word[3:], word[3:].lower())


def _agrees(graph: ModelGraph, model: Any) -> None:
    """Names, types, edges, dtypes and shapes are the message's."""
    ops = [op for each in model.graph for op in each.op]
    assert [node.name for node in graph] == [op.name for op in ops]
    assert [node.type for node in graph] == [op.type for op in ops]
    for node, op in zip(graph, ops, strict=True):
        inputs = [each for each in op.input if not each.endswith(":-1")]
        found = [f"{graph[each.node].name}:{each.output}" if each else "" for each in node.sources]
        assert found[: len(inputs)] == inputs
        assert set(found[len(inputs) :]) <= {""}
        assert [graph[each].name + ":-1" for each in node.control] == [
            each for each in op.input if each.endswith(":-1")
        ]
        for tensors, descs in ((node.inputs, op.input_desc), (node.outputs, op.output_desc)):
            assert [each.dtype for each in tensors] == [_dtype(desc.dtype) for desc in descs]
            for tensor, desc in zip(tensors, descs, strict=True):
                attributes = {entry.key: entry.value for entry in desc.attr}
                original = attributes.get("origin_shape")
                dims = original.list.i if original is not None else desc.shape.dim
                assert tensor.shape == tuple(dims)
                word = attributes["origin_data_type"].s.decode() if "origin_data_type" in attributes else None
                assert tensor.original_dtype == (_OF_GE.get(word[3:], word[3:].lower()) if word else None)
        fused = [
            each.decode()
            for entry in op.attr
            if entry.key == "_datadump_original_op_names"
            for each in entry.value.list.s
        ]
        assert list(node.fused_names) == fused


def test_a_real_dump_is_read_as_protobuf_reads_it(graphs: Path) -> None:
    for path in sorted(graphs.glob("ge_proto_*.txt")):
        model = text_format.Parse(path.read_text(), GE["ModelDef"](), allow_unknown_field=True)
        graph = read_graph(str(path))
        assert len(graph) == 465
        _agrees(graph, model)
        assert graph.model.judged is False


def test_a_real_compiled_model_is_read_as_protobuf_reads_it(graphs: Path) -> None:
    path = graphs / "autoencoder.om"
    data = path.read_bytes()
    at = 256 + 4 + 4 * 12
    model = GE["ModelDef"].FromString(data[at : at + int.from_bytes(data[268:272], "little")])
    graph = read_graph(str(path))
    _agrees(graph, model)
    assert len(graph) == 46


def test_a_real_compiled_model_has_its_command_and_casts(graphs: Path) -> None:
    graph = read_graph(str(graphs / "autoencoder.om"))
    model = graph.model
    assert (model.format, model.soc_version, model.judged) == ("om", "Ascend310", True)
    assert command_options(model.command)["soc_version"] == "Ascend310"
    assert "precision_mode" not in command_options(model.command)
    casts = [node.name for node in graph if node.type == "Cast"]
    assert casts == ["trans_Cast_0", "trans_Cast_21", "trans_Cast_35"]
    assert len(weights_of(graph)) == sum(node.type == "Const" for node in graph)


def test_weights_of_a_real_compiled_model_are_those_of_its_source(graphs: Path) -> None:
    compiled, source = read_graph(str(graphs / "autoencoder.om")), read_graph(str(graphs / "autoencoder.pb"))
    where, shape = weights_of(compiled)[26], source.find("random_normal/shape")
    assert shape is not None
    assert shape.index in weights_of(source)

    def values(weights: Any) -> bytes:
        return Path(weights.path).read_bytes()[weights.offset : weights.offset + weights.size]

    assert (
        values(where)
        == values(weights_of(source)[shape.index])
        == (100).to_bytes(4, "little") + (20).to_bytes(4, "little")
    )


def test_a_real_binary_graph_def_has_every_operator_that_is_not_constant(graphs: Path) -> None:
    path = graphs / "autoencoder.pb"
    message = TF["GraphDef"].FromString(path.read_bytes())
    graph = read_graph(str(path))
    assert len(message.node) == 68
    names = {node.name for node in graph}
    gone = {node.name: node.op for node in message.node if node.name not in names}
    assert set(gone.values()) <= {"Const", "Identity"}
    assert not graph.model.notes
    assert {tensor.dtype for node in graph for tensor in node.outputs} == {"float32", "int32"}


def test_a_real_text_graph_def_under_the_name_pb_is_read(graphs: Path) -> None:
    graph = read_graph(str(graphs / "monodepth.pb"))
    message = text_format.Parse((graphs / "monodepth.pb").read_text(), _loose(), allow_unknown_field=True)
    counted = Counter(node.op for node in message.node)
    assert Counter(node.type for node in graph)["Conv2D"] == counted["Conv2D"] == 32
    assert Counter(node.type for node in graph)["Variable"] == counted["VariableV2"] == 64
    assert not graph.model.notes


@pytest.mark.parametrize(
    ("name", "fused"),
    [("monodepth.pb", {"ConcatV2D": 7, "PadD": 32}), ("autoencoder.pb", {"Conv2DBackpropInputD": 2})],
)
def test_operators_of_tensorflow_with_constant_inputs_become_their_d_form(
    graphs: Path, corpus: Path, name: str, fused: dict[str, int]
) -> None:
    prepared = prepare(read_graph(str(graphs / name)), Install.open(str(corpus / "cann-910b" / "opp"), "ascend910b"))
    counts = Counter(each.type for each in prepared.judge("mixed_float16") if each.runs)
    assert {op_type: counts[op_type] for op_type in fused} == fused
    assert not counts.keys() & {op_type[:-1] for op_type in fused}


def _loose() -> Any:
    """A GraphDef of which only names and inputs are read: the dtypes of the text are words."""
    from messages import _pool

    return _pool("tf_loose", "NodeDef: name=1:string op=2:string input*=3:string\nGraphDef: node*=1:NodeDef", {})[
        "GraphDef"
    ]()


@pytest.mark.parametrize("path", LIGHT, ids=[path.stem for path in LIGHT])
def test_a_light_network_has_no_unmapped_operator_and_its_weights_are_constants(path: Path) -> None:
    graph = read_graph(str(path))
    model = onnx.load(str(path))
    assert graph.model.notes == ()
    assert graph.model.predicted
    convolutions = [node for node in graph if node.type == "Conv2D"]
    assert len(convolutions) == sum(node.op_type == "Conv" for node in model.graph.node)
    for node in convolutions:
        weights = node.sources[1]
        assert weights is not None
        assert graph[weights.node].type == "Const"
        assert [tensor.dtype for tensor in node.outputs] == ["float32"]
    names = {node.name for node in model.graph.node}
    assert {node.name for node in convolutions} <= names or not any(names)


def test_there_are_nine_light_networks() -> None:
    assert len(LIGHT) == 9
