"""One model of the graph engine, written in each of its forms, is read as the same graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import GE, om_bytes, put
from program_run import Runner
from readers_invariants import weights_of

from opsinfo_cli.errors import Damaged, OpsinfoError, Refused
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.readers import read_graph

_DTYPES = [0, 1, 2, 3, 8, 27, 33]
_WORDS = {0: None, 1: "float32", 2: "float16", 3: "int8", 8: "int64", 27: "bfloat16", 33: "hifloat8"}
_STRING = {1: "DT_FLOAT", 2: "DT_FLOAT16", 3: "DT_INT8", 8: "DT_INT64", 27: "DT_BFLOAT16", 33: "DT_HIFLOAT8"}

_names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\"\\:{}\n'#"),
    min_size=1,
    max_size=8,
)
_descs = st.tuples(
    st.sampled_from(_DTYPES), st.sampled_from(_DTYPES), st.lists(st.integers(-2, 1 << 40), max_size=4), st.booleans()
)


@st.composite
def models(draw: st.DrawFn) -> Any:
    """A model with a main graph, maybe a subgraph, all kinds of edges and attributes."""
    model = GE["ModelDef"](name="m")
    put(model, "atc_cmdline", s=b'atc --mode=0 --modify_mixlist="a b.json" --precision_mode allow_mix_precision')
    put(model, "soc_version", s=b"Ascend910B1")
    main = model.graph.add(name="main")
    put(main, "graph_precision_mode", i=2)
    _ops(draw, main)
    if draw(st.booleans()):
        main.op[-1].subgraph_name.append("inner")
        inner = model.graph.add(name="inner")
        _ops(draw, inner)
        data = inner.op.add(name="inner data", type="Data")
        _desc(data.output_desc.add(), (1, 1, [2], False))
        put(data, "_parent_node_index", i=1)
        out = inner.op.add(name="inner out", type="NetOutput", input=["inner data:0"])
        _desc(out.input_desc.add(), (1, 1, [2], False))
        put(out.input_desc[0], "_parent_node_index", i=0)
    return model


def _ops(draw: st.DrawFn, graph: Any) -> None:
    made: list[Any] = []
    for name in draw(st.lists(_names, min_size=1, max_size=5, unique=True)):
        op = graph.op.add(name=name, type=draw(st.sampled_from(["Add", "Data", "Conv2D"])))
        for _ in range(draw(st.integers(0, 3))):
            producer = draw(st.sampled_from([None, *made]))
            outputs = len(producer.output_desc) if producer is not None else 0
            op.input.append(f"{producer.name}:{draw(st.integers(0, outputs - 1))}" if outputs else "")
            _desc(op.input_desc.add(), draw(_descs))
        refers = draw(st.booleans())
        if made and refers:
            op.input.append(f"{made[0].name}:-1")
        for _ in range(draw(st.integers(0, 2))):
            _desc(op.output_desc.add(), draw(_descs))
        if draw(st.booleans()):
            put(op, "_keep_dtype", i=1)
            put(op, "_format_agnostic_except_output", integers=[1])
        put(op, "_op_slice_info", s=b'{"}\n    }": [1]}')
        put(op, "_datadump_original_op_names", strings=draw(st.lists(_names, max_size=2)))
        made.append(op)


def _desc(desc: Any, facts: tuple[int, int, list[int], bool]) -> None:
    desc.dtype, original, dims, continuous = facts
    desc.layout = "ND"
    desc.shape.dim.extend(dims)
    if original:
        put(desc, "origin_data_type", s=_STRING[original].encode())
    put(desc, "origin_shape", integers=dims)
    put(desc, "origin_format", s=b"NCHW")
    if continuous:
        put(desc, "_format_continuous", i=1)


def _seen(graph: ModelGraph) -> list[Any]:
    """The facts of a graph that every form can express."""
    return [
        (
            node.name,
            node.type,
            node.sources,
            node.control,
            node.inputs,
            node.outputs,
            dict(node.attributes),
            node.fused_names,
        )
        for node in graph
    ]


def _written(path: Path, data: bytes | str) -> ModelGraph:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_graph(str(path))


def _as_atc_json(message: Any) -> Any:
    """A message as ``atc --mode=1`` prints it: enums as words, bytes escaped, maps as lists."""
    found: dict[str, Any] = {}
    for field, value in message.ListFields():
        many = isinstance(value, (list, tuple)) or hasattr(value, "append")
        made = [_json_value(field, each) for each in value] if many else _json_value(field, value)
        found[field.name] = made
    return found


def _json_value(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return _as_atc_json(value) or None
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@settings(max_examples=50)
@given(models())
def test_text_binary_and_json_of_a_model_are_read_alike(tmp_path: Path, model: Any) -> None:
    read = {
        "text": _written(tmp_path / "ge_proto.txt", text_format.MessageToString(model)),
        "small table": _written(tmp_path / "a.om", om_bytes(model.SerializeToString())),
        "large table": _written(tmp_path / "b.om", om_bytes(model.SerializeToString(), large=True)),
        "json": _written(tmp_path / "c.json", json.dumps(_as_atc_json(model), indent=2)),
    }
    expected = _seen(read["text"])
    for name, graph in read.items():
        assert _seen(graph) == expected, name
        assert [each[1:] for each in graph.subgraphs] == [each[1:] for each in read["text"].subgraphs]
        assert (graph.model.graph_precision_mode, graph.model.soc_version) == (2, "Ascend910B1")
        assert "--modify_mixlist=a b.json" in graph.model.command
    for node, op in zip(read["text"], [op for each in model.graph for op in each.op], strict=True):
        assert (node.name, node.type) == (op.name, op.type)
        assert [tensor.dtype for tensor in node.outputs] == [_WORDS[desc.dtype] for desc in op.output_desc]
        assert [tensor.shape for tensor in node.outputs] == [tuple(desc.shape.dim) for desc in op.output_desc]


def _simple(dtype: int = 2) -> Any:
    model = GE["ModelDef"]()
    graph = model.graph.add(name="g")
    _desc(graph.op.add(name="x", type="Data").output_desc.add(), (1, 1, [4], False))
    add = graph.op.add(name="y", type="Relu", input=["x:0"])
    _desc(add.input_desc.add(), (dtype, 1, [4], False))
    _desc(add.output_desc.add(), (dtype, 1, [4], False))
    return model


@pytest.mark.parametrize(
    ("word", "dtype"),
    [
        ("DT_FLOAT", "float32"),
        ("DT_NEW8", "new8"),
        ("DT_HALF_REF", "float16"),
        ("DT_STRING_REF", "string_ref"),
        ("DT_", None),
    ],
)
def test_a_dtype_may_be_a_word_and_one_that_is_not_known_keeps_its_name(
    tmp_path: Path, word: str, dtype: str | None
) -> None:
    text = text_format.MessageToString(_simple()).replace("dtype: DT_FLOAT16", f"dtype: {word}")
    _, relu = _written(tmp_path / "a", text)
    assert relu.outputs[0].dtype == dtype


def test_a_dump_whose_dtypes_changed_was_judged(tmp_path: Path) -> None:
    assert _written(tmp_path / "a", text_format.MessageToString(_simple(2))).model.judged is True
    assert _written(tmp_path / "b", text_format.MessageToString(_simple(1))).model.judged is False


def test_a_compiled_model_without_the_engines_casts_is_said_to_have_its_dtypes_only(
    opsinfo: Runner, tmp_path: Path
) -> None:
    (tmp_path / "a.om").write_bytes(om_bytes(_simple().SerializeToString()))
    assert "note: the engine has chosen these dtypes\n" in opsinfo("graph", tmp_path / "a.om").err


def test_a_subgraph_has_the_inputs_and_outputs_of_its_parent(tmp_path: Path) -> None:
    model = _simple()
    model.graph[0].op[1].subgraph_name.append("body")
    body = model.graph.add(name="body")
    put(body.op.add(name="in", type="Data"), "_parent_node_index", i=0)
    out = body.op.add(name="out", type="NetOutput")
    put(out.input_desc.add(), "_parent_node_index", i=3)
    graph = _written(tmp_path / "a.om", om_bytes(model.SerializeToString()))
    assert [(each.name, each.parent) for each in graph.subgraphs] == [("g", None), ("body", 1)]
    assert graph[2].attributes["parent_input"] == 0
    assert graph[3].attributes["parent_outputs"] == (3,)


def test_weights_of_a_constant_are_found_in_the_partition_of_weights(tmp_path: Path) -> None:
    model = _simple()
    const = model.graph[0].op.add(name="w", type="Const")
    value = const.attr.add(key="value").value.t.desc
    value.weight_size, value.data_offset = 8, 4
    _desc(const.output_desc.add(), (1, 1, [2], False))
    graph = _written(tmp_path / "a.om", om_bytes(model.SerializeToString(), b"----12345678", large=True))
    where = weights_of(graph)[2]
    assert (tmp_path / "a.om").read_bytes()[where.offset :][: where.size] == b"12345678"


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b'graph {\n  node {\n    name: "x"\n    op_type: "ge:Data"\n  }\n}\n', "ge_proto_"),
        (b"PK\x03\x04", "that ATC writes by default"),
        (b'graph { op { name: "x" type: "Data" } }\n', None),
    ],
    ids=["ONNX form of a dump", "zip form of a compiled model", "a dump in one line"],
)
def test_other_forms_are_refused_with_the_file_to_give(tmp_path: Path, data: bytes, hint: str | None) -> None:
    with pytest.raises(OpsinfoError) as caught:
        _written(tmp_path / "m", data)
    assert (hint or "") in str(caught.value.hint)


@pytest.mark.parametrize("cut", [1, 100, 255, 300, 400])
def test_a_compiled_model_that_is_cut_off_is_refused_with_a_byte(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.om"
    path.write_bytes(om_bytes(_simple().SerializeToString())[:cut])
    with pytest.raises((Damaged, Refused)) as caught:
        read_graph(str(path))
    assert cut < 4 or "byte" in caught.value.message


def test_an_encrypted_model_is_refused(tmp_path: Path) -> None:
    data = bytearray(om_bytes(_simple().SerializeToString()))
    data[0x50] = 1
    with pytest.raises(Refused, match="encrypted"):
        _written(tmp_path / "a.om", bytes(data))


def test_a_dump_that_is_cut_off_is_refused_with_its_line(tmp_path: Path) -> None:
    text = text_format.MessageToString(_simple())
    with pytest.raises(Damaged) as caught:
        _written(tmp_path / "a.txt", text[: len(text) // 2].rstrip())
    assert caught.value.line is not None
    assert caught.value.line > 5


def test_a_reader_reports_its_progress(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text_format.MessageToString(_simple()))
    seen: list[int] = []
    read_graph(str(path), seen.append)
    assert sum(seen) >= path.stat().st_size


def test_an_edge_to_a_missing_node_is_named(tmp_path: Path) -> None:
    model = _simple()
    model.graph[0].op[1].input[0] = "gone:0"
    with pytest.raises(Damaged, match="`gone`"):
        _written(tmp_path / "a.txt", text_format.MessageToString(model))
