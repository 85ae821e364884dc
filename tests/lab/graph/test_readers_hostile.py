"""Broken and hostile model files: a clear error with a place, never a crash, bounded memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import GE, TF, node, om_bytes, put
from readers_invariants import check_bytes, check_file

from opsinfo_cli.errors import Damaged, OpsinfoError, Refused
from opsinfo_cli.lab.graph.readers import read_graph, tensorflow

onnx = pytest.importorskip("onnx")


def _ge() -> Any:
    model = GE["ModelDef"]()
    graph = model.graph.add(name="g")
    for number in range(3):
        op = graph.op.add(name=f"n{number}", type="Add", input=[f"n{number - 1}:0"] if number else [])
        put(op, "_keep_dtype", i=1)
        for desc in (op.input_desc, op.output_desc):
            desc.add(dtype=1).shape.dim.extend([1, -1])
    graph.op[0].ClearField("input_desc")
    return model


def _tensorflow() -> Any:
    message = TF["GraphDef"]()
    node(message, "x", "Placeholder", dtype="float32", shape=[1])
    node(message, "w", "Const", dtype="float32", value=TF["TensorProto"](dtype=1, float_val=[1.0, 2.0]))
    node(message, "y", "Add", "x", "w", "^x", T="float32")
    return message


def _onnx() -> bytes:
    make, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph([make("Relu", ["x"], ["t"])], "b", [], [info("t", 1, [2])])
    nodes = [make("If", ["c"], ["y"], then_branch=body, else_branch=body)]
    graph = onnx.helper.make_graph(nodes, "g", [info("x", 1, [2]), info("c", 9, [])], [info("y", 1, [2])])
    data: bytes = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()
    return data


SEEDS = {
    "om": om_bytes(_ge().SerializeToString(), b"weights"),
    "om-large": om_bytes(_ge().SerializeToString(), b"weights", large=True),
    "ge-text": text_format.MessageToString(_ge()).encode(),
    "ge-json": json.dumps({"graph": [{"name": "g", "op": [{"name": "a", "type": "Add", "input": [""]}]}]}).encode(),
    "tensorflow": _tensorflow().SerializeToString(),
    "tensorflow-text": text_format.MessageToString(_tensorflow()).encode(),
    "onnx": _onnx(),
}


@pytest.mark.parametrize("name", SEEDS)
def test_a_file_cut_off_anywhere_gives_a_clean_error(name: str) -> None:
    data = SEEDS[name]
    for cut in range(0, len(data), max(len(data) // 150, 1)):
        check_bytes(data[:cut])


@settings(max_examples=300)
@given(st.sampled_from(sorted(SEEDS)), st.data())
def test_changed_bytes_give_a_graph_or_a_clean_error(name: str, data: st.DataObject) -> None:
    changed = bytearray(SEEDS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed) - 1))
        piece = data.draw(st.binary(max_size=4) | st.sampled_from([b"\xff" * 9, b"\n", b'"', b"{", b"}", b"\x80"]))
        changed[at : at + data.draw(st.integers(0, 4))] = piece
    check_bytes(bytes(changed))


def test_a_wrong_table_of_partitions_is_refused(tmp_path: Path) -> None:
    data = bytearray(om_bytes(_ge().SerializeToString(), large=True))
    struct.pack_into("<Q", data, 256 + 8 + 16, 1 << 60)
    (tmp_path / "a.om").write_bytes(data)
    with pytest.raises(Damaged, match="partition 0"):
        read_graph(str(tmp_path / "a.om"))
    struct.pack_into("<I", data, 256, 0xFFFFFFFF)
    (tmp_path / "a.om").write_bytes(data)
    with pytest.raises(Damaged, match="does not fit"):
        read_graph(str(tmp_path / "a.om"))


def _nested(depth: int) -> bytes:
    """A graph in a graph in a graph, as an attribute of an If."""
    graph = b""
    for _ in range(depth):
        attribute = b"\x0a\x04then" + onnx.AttributeProto(name="x").SerializeToString()[:0] + _field(6, graph)
        graph = _field(1, _field(4, b"If") + _field(5, attribute))
    return b"\x08\x08" + _field(7, graph)


def _field(number: int, body: bytes) -> bytes:
    size, length = len(body), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + body


@pytest.mark.parametrize("depth", [50, 1000])
def test_deep_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "m"
    path.write_bytes(_nested(depth))
    with pytest.raises(Damaged, match="nested too deep"):
        read_graph(str(path))
    path.write_bytes(b"graph " + b"{ op " * depth)
    with pytest.raises(OpsinfoError):
        read_graph(str(path))
    path.write_bytes(b'{"graph": ' + b"[" * 100 * depth)
    with pytest.raises(Damaged):
        read_graph(str(path))


def test_a_cycle_and_a_node_that_feeds_itself_are_read(tmp_path: Path) -> None:
    model = _ge()
    model.graph[0].op[0].input.extend(["n2:0", "n0:0"])
    path = tmp_path / "m.om"
    path.write_bytes(om_bytes(model.SerializeToString()))
    assert read_graph(str(path))[0].sources == ((2, 0), (0, 0))
    message = _tensorflow()
    message.node[2].input[0] = "y"
    path.write_bytes(message.SerializeToString())
    check_file(str(path))


def test_an_output_with_a_huge_number_is_refused(tmp_path: Path) -> None:
    model = _ge()
    model.graph[0].op[1].input[0] = "n0:2000000000"
    path = tmp_path / "m.om"
    path.write_bytes(om_bytes(model.SerializeToString()))
    with pytest.raises(Damaged, match="2000000000"):
        read_graph(str(path))


def test_outputs_from_an_attribute_are_bounded(tmp_path: Path) -> None:
    message = _tensorflow()
    node(message, "s", "Split", "x", "x", num_split=1 << 40, T="float32")
    path = tmp_path / "m"
    path.write_bytes(message.SerializeToString())
    graph = read_graph(str(path))
    assert len(graph.find("s").outputs) <= 1 << 14


def test_functions_that_grow_exponentially_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = TF["GraphDef"]()
    for number in range(40):
        function = message.library.function.add()
        function.signature.name = f"f{number}"
        function.signature.input_arg.add(name="a")
        function.signature.output_arg.add(name="r")
        function.ret.add(key="r", value="one:output:0")
        for name in ("one", "two"):
            node(function, name, "PartitionedCall", "a", f=f"f{number + 1}", Tout=("float32",))
    node(message, "x", "Placeholder", dtype="float32")
    node(message, "y", "PartitionedCall", "x", f="f0", Tout=("float32",))
    path = tmp_path / "m"
    path.write_bytes(message.SerializeToString())
    monkeypatch.setattr(tensorflow, "MOST_NODES", 5000)
    with pytest.raises(Damaged, match="more than 5,000 nodes"):
        read_graph(str(path))


def test_many_inputs_take_memory_in_proportion(tmp_path: Path) -> None:
    text = b'graph {\n  op {\n    name: "x"\n    type: "Data"\n    output_desc {\n    }\n  }\n'
    text += b'  op {\n    name: "y"\n    type: "AddN"\n'
    path = tmp_path / "m"
    path.write_bytes(text + b'    input: "x:0"\n' * 50_000 + b"  }\n}\n")
    tracemalloc.start()
    try:
        graph = read_graph(str(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(graph[1].sources) == 50_000
    assert peak < 50_000 * 500


@pytest.mark.parametrize(
    "name",
    ['a"b', "a\\", "a\nb", "}", "\x1b[31m", "ä", ":", "a:-1", "^a", " "],
    ids=[
        "quote",
        "backslash",
        "newline",
        "brace",
        "escape sequence",
        "umlaut",
        "colon",
        "colon and number",
        "caret",
        "blank",
    ],
)
def test_names_with_special_characters_are_kept(tmp_path: Path, name: str) -> None:
    model = _ge()
    model.graph[0].op[0].name = name
    model.graph[0].op[1].input[0] = f"{name}:0"
    path = tmp_path / "m"
    for data in (text_format.MessageToString(model).encode(), om_bytes(model.SerializeToString())):
        path.write_bytes(data)
        graph = read_graph(str(path))
        assert (graph[0].name, graph[1].sources) == (name, ((0, 0),))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"hello",
        b"IMOD",
        b"PK\x03\x04",
        b"{}",
        b"[1]",
        b"\xff" * 100,
        b"layer {\n}\n",
        b'graph { node { op_type: "Add" } }',
    ],
    ids=[
        "empty",
        "NUL",
        "text",
        "cut om",
        "zip header",
        "JSON object",
        "JSON array",
        "ones",
        "Caffe text",
        "TensorFlow text",
    ],
)
def test_a_file_that_is_not_a_model_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m"
    path.write_bytes(data)
    with pytest.raises((Damaged, Refused)):
        read_graph(str(path))


def test_places_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for path in (str(tmp_path), str(tmp_path / "gone"), "a\0b"):
        with pytest.raises(Refused):
            read_graph(path)


@pytest.mark.parametrize("name", [b"Relu", b"If", b"\x01y"], ids=["operator", "outer operator", "value"])
def test_a_name_of_an_onnx_model_that_is_not_utf8_is_refused(tmp_path: Path, name: bytes) -> None:
    assert name in SEEDS["onnx"]
    (tmp_path / "m.onnx").write_bytes(SEEDS["onnx"].replace(name, name[:-1] + b"\xff"))
    with pytest.raises(Damaged, match="not an ONNX model: a name is not UTF-8"):
        read_graph(str(tmp_path / "m.onnx"))


SHAPES: list[list[Any] | None] = [[1, 3, 8, 8], [], [0], [2**62, 2], [1] * 602, ["n", 3], [-5, 3], None]


@pytest.mark.parametrize("inputs", [[], [""], ["", "w"], ["x"], ["x", "", "w", "w", "x"]], ids=str)
def test_odd_nodes_of_every_operator_are_read_or_refused(tmp_path: Path, inputs: list[str]) -> None:
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    weight = onnx.helper.make_tensor("w", 1, [2], [1.0, 2.0])
    path = tmp_path / "m.onnx"
    schemas = [each for each in onnx.defs.get_all_schemas() if not each.domain]
    for number, schema in enumerate(schemas):
        outputs = [[], ["y"], ["", "y"]][number % 3]
        given = value("x", [1, 7, 99, 0][number % 4], SHAPES[number % len(SHAPES)])
        node = make(schema.name, inputs, outputs, name="n")
        graph = onnx.helper.make_graph([node], "g", [given], [value("y", 1, None)] * ("y" in outputs), [weight])
        for opset in (9, 18):
            opsets = [onnx.helper.make_opsetid("", opset)]
            path.write_bytes(onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString())
            with suppress(OpsinfoError):
                read_graph(str(path))
