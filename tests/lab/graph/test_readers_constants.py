"""Values of constants, and large models of which only the structure is loaded."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from ge_dump import ge_dump
from hypothesis import given
from hypothesis import strategies as st
from readers_invariants import weights_of

from opsinfo_cli.errors import Damaged, MissingPackage, Refused
from opsinfo_cli.lab.graph import weights
from opsinfo_cli.lab.graph.constants import extremes, values_of
from opsinfo_cli.lab.graph.graph import ModelGraph, Weights
from opsinfo_cli.lab.graph.readers import read_graph

ml_dtypes = pytest.importorskip("ml_dtypes")
numpy = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")

floats = st.lists(
    st.floats(width=32)
    | st.sampled_from([65504.0, 65519.0, 65520.0, -65520.0, 2.0**-25, 2.0**-26, -(2.0**-24), 2.0**-25 * 1.01, 0.0])
)


def _written(path: Path, data: bytes, offset: int = 3) -> Weights:
    path.write_bytes(b"?" * offset + data + b"!")
    return Weights(str(path), offset, len(data))


def read(where: Weights, dtype: str = "float32") -> list[float]:
    return [value for values in values_of(where, dtype) for value in values.tolist()]


@given(floats, st.booleans(), st.sampled_from(["float16", "bfloat16"]))
def test_overflow_and_zero_counts_equal_those_of_a_real_conversion(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], wide: bool, low: str
) -> None:
    dtype = "float64" if wide else "float32"
    array = numpy.array(values, dtype=dtype)
    where = _written(tmp_path_factory.mktemp("w") / "w", array.tobytes())
    with numpy.errstate(all="ignore"):
        stored = array.astype(numpy.float16 if low == "float16" else ml_dtypes.bfloat16).astype(dtype)
    found = extremes(where, dtype, low)
    assert found is not None
    assert found.values == len(values)
    if low == "float16" or not wide:  # ml_dtypes rounds doubles twice
        assert found.overflowing == int((numpy.isfinite(array) & numpy.isinf(stored)).sum())
        assert found.vanishing == int(((array != 0) & (stored == 0)).sum())


def test_without_numpy_values_are_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = _written(tmp_path / "w", struct.pack("<f", 1.0))
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingPackage, match="not checked"):
        extremes(where, "float32")


def test_sixteen_bit_values_are_read_raw_and_as_numbers(tmp_path: Path) -> None:
    half = numpy.array([1.0, -2.5, 65504.0], "f2")
    assert read(_written(tmp_path / "a", half.tobytes()), "float16") == half.tolist()
    brain = numpy.array([1.0, 1e30], ml_dtypes.bfloat16)
    found = extremes(_written(tmp_path / "b", brain.tobytes()), "bfloat16")
    assert found is not None
    assert (found.values, found.overflowing) == (2, 1)
    patterns = onnx.TensorProto(int32_data=half.view("u2").astype(int).tolist()).SerializeToString()
    where = _written(tmp_path / "c", patterns[2:])._replace(encoding="varint")
    assert read(where, "float16") == half.tolist()


def test_a_missing_file_is_named_and_a_short_one_refused(tmp_path: Path) -> None:
    gone = Weights(str(tmp_path / "gone.bin"), 0, 8)
    with pytest.raises(Refused) as caught:
        extremes(gone, "float32")
    assert (caught.value.name, caught.value.path) == ("missing-weights", gone.path)
    where = _written(tmp_path / "w", b"12345678")
    with pytest.raises(Damaged, match="the file has 12"):
        extremes(where._replace(size=80), "float32")
    assert extremes(where, "int64") is None


def _external(folder: Path, location: str) -> ModelGraph:
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", "4"), ("length", "8")):
        tensor.external_data.add(key=key, value=value)
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [make("Add", ["x", "w"], ["y"])], "g", [value("x", 1, [2])], [value("y", 1, [2])], [tensor]
    )
    opset = onnx.helper.make_opsetid("", 17)
    (folder / "m.onnx").write_bytes(onnx.helper.make_model(graph, opset_imports=[opset]).SerializeToString())
    return read_graph(str(folder / "m.onnx"))


def test_external_data_is_read_only_for_values(tmp_path: Path) -> None:
    graph = _external(tmp_path, "weights.bin")
    where = next(iter(weights_of(graph).values()))
    assert where[:4] == (str(tmp_path / "weights.bin"), 4, 8, "raw")
    with pytest.raises(Refused, match="missing"):
        extremes(where, "float32")
    (tmp_path / "weights.bin").write_bytes(b"----" + struct.pack("<2f", 1.0, -7e4))
    found = extremes(where, "float32")
    assert found is not None
    assert (found.overflowing, found.overflow) == (1, -7e4)


@pytest.mark.parametrize(
    "location",
    ["../secret", "/etc/passwd", "a/../../b", "", "a\0b"],
    ids=["parent", "absolute", "through a child", "empty", "NUL"],
)
def test_external_data_outside_the_folder_is_reported_and_not_read(tmp_path: Path, location: str) -> None:
    graph = _external(tmp_path, location)
    assert not weights_of(graph)
    assert [note.kind for note in graph.model.notes] == ["external-data"]


def test_external_data_through_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"----" + struct.pack("<2f", 1.0, -7e4))
    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights.bin").symlink_to("../secret")
    graph = _external(tmp_path / "model", "weights.bin")
    with pytest.raises(Refused, match="outside the folder"):
        extremes(next(iter(weights_of(graph).values())), "float32")


def test_values_inside_an_onnx_model_are_read_in_every_form(tmp_path: Path) -> None:
    values = numpy.array([1.0, -7e4, 1e-9], "f4")
    half = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT16, [2], [1.0, 65504.0])
    for tensor, found in (
        (onnx.numpy_helper.from_array(values), (3, 1, 1)),
        (onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [3], values.tolist()), (3, 1, 1)),
        (half, (2, 0, 0)),
    ):
        dtype = "float16" if tensor is half else "float32"
        assert extremes(Weights("m.onnx", tensor=tensor), dtype)[:3] == found  # type: ignore[index]
    with pytest.raises(Damaged, match="do not fit"):
        extremes(
            Weights("m.onnx", tensor=onnx.TensorProto(name="w", data_type=1, dims=[5], raw_data=b"1234")), "float32"
        )


# the strings of a text dump


def escaped(data: bytes) -> str:
    """As protobuf prints bytes: some signs by name, others as octal numbers."""
    signs = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return "".join(signs.get(each) or (chr(each) if 32 <= each < 127 else f"\\{each:03o}") for each in data)


def _dump(folder: Path, data: str | None, op_type: str = "Const") -> Path:
    nodes: list[dict[str, Any]] = [
        {"name": "before", "type": "Data", "out": ["f32"]},
        {"name": "w", "type": op_type, "out": ["f32"], **({} if data is None else {"data": data})},
    ]
    path = folder / "ge_proto_00020_FeTopoSortingAfter.txt"
    path.write_text(ge_dump({"nodes": nodes}), "utf-8")
    return path


@given(st.lists(st.floats(width=32), min_size=1), st.integers(min_value=1, max_value=40))
def test_values_in_a_text_dump_are_those_that_it_prints(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], size: int
) -> None:
    data = struct.pack(f"<{len(values)}f", *values)
    graph = read_graph(str(_dump(tmp_path_factory.mktemp("d"), escaped(data))))
    (where,) = weights_of(graph).values()
    assert [*weights_of(graph)] == [1]
    raw = _written(tmp_path_factory.mktemp("w") / "w", data)
    whole = repr(extremes(raw, "float32"))
    assert repr(read(where)) == repr(read(raw))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_SLICE", size)
        assert repr(extremes(raw, "float32")) == whole


@pytest.mark.parametrize(
    "text",
    [r"\000\000\200\077", r"\0\0\200?", r"\x00\x00\x80\x3f", r"\U00000000\x00\200?"],
    ids=["octal", "short octal", "hexadecimal", "Unicode"],
)
def test_every_escape_of_a_text_dump_is_known(tmp_path: Path, text: str) -> None:
    (where,) = weights_of(read_graph(str(_dump(tmp_path, text)))).values()
    assert read(where) == [1.0]


def test_a_dump_without_values_and_other_nodes_have_no_weights(tmp_path: Path) -> None:
    assert weights_of(read_graph(str(_dump(tmp_path, None)))) == {}
    assert weights_of(read_graph(str(_dump(tmp_path, escaped(b"1234"), "Variable")))) == {}
