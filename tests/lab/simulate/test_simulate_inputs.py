"""Inputs: random ones, files, test data of ONNX, and the errors if they do not fit the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from simulate_support import BOOL, FLOAT, INT64, STRING, node, save, value

from opsinfo_cli.core.cann.input_shapes import ModelInput, parse_shapes, settles, stated_shapes
from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.lab.graph.readers.onnx import model_inputs, write_shapes
from opsinfo_cli.lab.simulate.inputs import given_shapes, input_sets


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Inputs with an open dimension, of bool, of a table's rows, and of whole numbers of unknown meaning."""
    inputs = [
        value("x", FLOAT, ["batch", 3]),
        value("mask", BOOL, ["batch"]),
        value("ids", INT64, [2, 50]),
        value("steps", TensorProto.INT32, [40]),
    ]
    nodes = [
        node("Gather", ["table", "ids"], ["g"], name="g"),
        node("Identity", ["x"], ["y"], name="i"),
    ]
    return save(tmp_path, nodes, inputs, [value("y", FLOAT, None)], {"table": np.zeros((7, 2), "f4")})


@pytest.mark.parametrize(
    ("dims", "shapes", "expected"),
    [
        (("batch", 3), {"x": (2, 3)}, True),
        (None, {"x": (2,)}, True),
        (("batch", 3), {"x": (-1, 3)}, False),
        ((2, 3), {"x": (2, 3)}, False),
        (("batch", 3), {}, False),
    ],
)
def test_shapes_settle_a_model_if_they_have_the_size_of_an_open_dimension(
    dims: tuple[int | str, ...] | None, shapes: dict[str, tuple[int, ...]], expected: bool
) -> None:
    assert settles(shapes, [ModelInput("y", (1,)), ModelInput("x", dims)]) is expected


def shaped(path: str, **shapes: tuple[int, ...]) -> Any:
    """Return a ModelProto with shapes written in."""
    model = onnx.load(path)
    write_shapes(model, stated_shapes(shapes, model_inputs(model)))
    return model


def test_random_inputs_have_the_models_dtypes_and_shapes_and_depend_on_the_seed(model: str) -> None:
    found = input_sets("random:5", shaped(model, x=(2, 3)))[0]
    again, other = (input_sets(seed, shaped(model, x=(2, 3)))[0] for seed in ("random:5", "random:6"))
    assert {name: (each.dtype.name, each.shape) for name, each in found.feeds.items()} == {
        "x": ("float32", (2, 3)),
        "mask": ("bool", (2,)),
        "ids": ("int64", (2, 50)),
        "steps": ("int32", (40,)),
    }
    assert all((found.feeds[name] == again.feeds[name]).all() for name in found.feeds)
    assert not (found.feeds["x"] == other.feeds["x"]).all()
    assert set(np.unique(found.feeds["ids"])) == set(range(7)), "rows of the table"
    assert set(np.unique(found.feeds["steps"])) == {0, 1}


@pytest.mark.parametrize(
    ("axis", "rows", "domain"),
    [(0, 7, ""), (-2, 7, ""), (2, 2, ""), (-3, 2, ""), (0, 2, "com.example")],
    ids=["rows", "rows from the end", "no axis", "no axis before", "another operator"],
)
def test_whole_numbers_are_rows_of_a_table_only_along_an_axis_that_it_has(
    tmp_path: Path, axis: int, rows: int, domain: str
) -> None:
    nodes = [node("Gather", ["table", "ids"], ["y"], domain=domain, axis=axis)]
    weights = {"table": np.zeros((7, 3), "f4")}
    path = save(tmp_path, nodes, [value("ids", INT64, [90])], [value("y", FLOAT, None)], weights)
    assert input_sets("random:5", onnx.load(path))[0].feeds["ids"].max() == rows - 1


@pytest.mark.parametrize("rows", [0, -4])
def test_a_table_without_rows_leaves_whole_numbers_as_they_are(tmp_path: Path, rows: int) -> None:
    nodes = [node("Gather", ["table", "ids"], ["y"])]
    path = save(tmp_path, nodes, [value("ids", INT64, [90])], [value("y", FLOAT, None)], {"table": np.zeros((0, 3))})
    model = onnx.load(path)
    model.graph.initializer[0].dims[0] = rows
    assert set(input_sets("random:5", model)[0].feeds["ids"].tolist()) == {0, 1}


def arrays() -> dict[str, Any]:
    return {
        "x": np.ones((1, 3), "f4"),
        "mask": np.ones(1, bool),
        "ids": np.zeros((2, 50), "i8"),
        "steps": np.zeros(40, "i4"),
    }


def test_an_npz_a_folder_of_npy_and_one_of_test_data_hold_the_same(model: str, tmp_path: Path) -> None:
    given = arrays()
    np.savez(tmp_path / "a.npz", **given)
    (tmp_path / "npy").mkdir()
    for name, array in given.items():
        np.save(tmp_path / "npy" / f"{name}.npy", array)
    for number in (1, 2, 10):
        folder = tmp_path / "data" / f"test_data_set_{number}"
        folder.mkdir(parents=True)
        for at, (name, array) in enumerate(given.items()):
            tensor = numpy_helper.from_array(array, name if number == 1 else "")
            (folder / f"input_{at}.pb").write_bytes(tensor.SerializeToString())
        (folder / "output_0.pb").write_bytes(b"not read")
    (tmp_path / "data" / "notes").mkdir()
    sets = input_sets(str(tmp_path / "data"), onnx.load(model))
    assert [Path(each.name).name for each in sets] == ["test_data_set_1", "test_data_set_2", "test_data_set_10"]
    for name in ("a.npz", "npy"):
        sets += input_sets(str(tmp_path / name), onnx.load(model))
    for each in sets:
        assert each.feeds.keys() == given.keys()
        assert all((each.feeds[name] == given[name]).all() for name in given)


def npz(**changes: Any) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        given = {name: array for name, array in {**arrays(), **changes}.items() if array is not None}
        np.savez(folder / "i.npz", **given)
        return str(folder / "i.npz")

    return make


def text(name: str, content: bytes) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return str(folder / name.split("/", maxsplit=1)[0])

    return make


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (npz(mask=None), "missing-input", "missing inputs: mask: batch"),
        (npz(z=np.zeros(1)), "unknown-input", "the model has no input `z`"),
        (npz(x=np.ones((1, 3))), "bad-dtype", "`x` is float64, the model takes float32"),
        (npz(steps=np.zeros(40, "i8")), "bad-dtype", "`steps` is int64, the model takes int32"),
        (npz(x=np.ones((1, 4), "f4")), "bad-shape", "the shape 1,4 does not fit x: batch,3"),
        (npz(x=np.ones(3, "f4")), "bad-shape", "the shape 3 does not fit x: batch,3"),
        (text("i.npz", b"PK\x03\x04 but no more"), "not-npz", "not an .npz file of arrays"),
        (text("i.npz", b"x = 1"), "not-npz", "not an .npz file"),
        (text("d/x.npy", b"x = 1"), "not-npy", "not a .npy file"),
        (text("d/input_0.pb", b"\xff\xff"), "not-tensor", "not a tensor of ONNX"),
        (text("d/input_0.pb", b""), "not-tensor", "it has no dtype"),
        (
            text("d/input_9.pb", numpy_helper.from_array(np.zeros(1)).SerializeToString()),
            "unknown-input",
            "has 4 inputs",
        ),
        (text("d/readme.txt", b""), "no-inputs", "the folder holds no arrays"),
        (lambda folder: str(folder / "none.npz"), "unreadable", "No such file"),
        (lambda folder: "random:x", "bad-seed", "the seed must be a whole number"),
        (lambda folder: "random:1", "open-dimensions", "open dimensions: x: batch,3, mask: batch"),
    ],
    ids=[
        "missing input",
        "unknown input",
        "float64",
        "int64",
        "wrong dimension",
        "wrong rank",
        "damaged npz",
        "text as npz",
        "text as npy",
        "damaged tensor",
        "empty tensor",
        "input number",
        "no arrays",
        "missing file",
        "bad seed",
        "open dimensions",
    ],
)
def test_inputs_that_do_not_fit_the_model_are_refused(
    model: str, tmp_path: Path, make: Callable[[Path], str], name: str, message: str
) -> None:
    with pytest.raises(OpsinfoError) as caught:
        input_sets(make(tmp_path), onnx.load(model))
    assert caught.value.name == name
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("shapes", "message", "hint"),
    [
        ({"z": (1,)}, "the model has no input `z`", "its inputs: x: batch,3, mask: batch, ids: 2,50, steps: 40"),
        ({"masks": (1,)}, "the model has no input `masks`", "did you mean `mask`? its inputs: x: batch,3"),
        ({"x": (1, 4)}, "the shape 1,4 does not fit x: batch,3", None),
        ({"x": (3,)}, "the shape 3 does not fit x: batch,3", None),
        ({"x": ()}, "the shape of a single value does not fit x: batch,3", None),
    ],
)
def test_a_shape_that_does_not_fit_is_named(
    model: str, shapes: dict[str, tuple[int, ...]], message: str, hint: str | None
) -> None:
    with pytest.raises(OpsinfoError, match=message) as caught:
        shaped(model, **shapes)
    assert (caught.value.hint or "").startswith(hint or "")


def test_a_named_dimension_has_one_size_and_a_name_with_several_is_none(model: str, tmp_path: Path) -> None:
    assert stated_shapes({"x": (4, 3)}, model_inputs(onnx.load(model))) == {"x": (4, 3), "mask": (4,)}
    paddle = [value("x", FLOAT, ["d", "d"]), value("y", FLOAT, ["d"]), value("z", FLOAT, ["?"])]
    path = save(tmp_path, [node("Identity", ["x"], ["o"])], paddle, [value("o", FLOAT, None)])
    inputs = model_inputs(onnx.load(path))
    assert stated_shapes({"x": (4, 5)}, inputs) == {"x": (4, 5)}
    assert stated_shapes({"x": (4, 4), "z": (-1,)}, inputs) == {"x": (4, 4), "y": (4,), "z": (-1,)}
    assert inputs[2].option == "--shape z=?"


def test_the_hint_for_open_dimensions_names_every_input(model: str) -> None:
    with pytest.raises(OpsinfoError) as caught:
        input_sets("random:0", onnx.load(model))
    hint = "choose them: --shape x=batch,3 --shape mask=batch, with a number for each open dimension"
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["a=b=1,3"], {"a=b": (1, 3)}),
        (["x=1x3x2"], {"x": (1, 3, 2)}),
        (["x="], {"x": ()}),
        (["x:1,3,224,224;ids:1,-1"], {"x": (1, 3, 224, 224), "ids": (1, -1)}),
        (["in:0:1~8, 3,16~16,4~-1;"], {"in:0": (-1, 3, 16, -1)}),
        (["a=1;b=2", "c:3"], {"a": (1,), "b": (2,), "c": (3,)}),
    ],
)
def test_shapes_are_names_and_numbers_as_atc_takes_them(given: list[str], found: dict[str, tuple[int, ...]]) -> None:
    assert parse_shapes(given) == found


@pytest.mark.parametrize(
    "given", ["x", "=1", "x=1,b", "x=-2", "x=1.5", "", "x=1,,3", "x=8~1", "x=-1~4", "x=1~2~3", f"x={1 << 63}", ";"]
)
def test_other_text_is_not_a_shape(given: str) -> None:
    with pytest.raises(OpsinfoError, match="not NAME=DIMENSIONS"):
        parse_shapes([given])


@pytest.mark.parametrize("given", [["x=1", "x=1"], ["x:1;x:2"]])
def test_a_name_has_one_shape(given: list[str]) -> None:
    with pytest.raises(OpsinfoError, match="--shape x: given twice"):
        parse_shapes(given)


def test_arrays_have_the_shapes_of_the_model_and_a_dimension_of_several_sizes_is_open(
    model: str, tmp_path: Path
) -> None:
    inputs = model_inputs(onnx.load(model))
    one, two = arrays(), {**arrays(), "x": np.ones((2, 3), "f4"), "mask": np.ones(2, bool)}
    np.savez(tmp_path / "i.npz", **one)
    assert given_shapes([str(tmp_path / "i.npz"), "random:1"], {}, inputs)["x"] == (1, 3)
    both = given_shapes([str(tmp_path / "i.npz"), two], {"x": (-1, 3)}, inputs)
    assert both == {"x": (-1, 3), "mask": (-1,), "ids": (2, 50), "steps": (40,)}
    with pytest.raises(OpsinfoError, match=r"--shape x=4,3: in given it is 2,3"):
        given_shapes([two], {"x": (4, 3)}, inputs)


def test_string_inputs_require_a_file(tmp_path: Path) -> None:
    path = save(tmp_path, [node("Identity", ["s"], ["y"])], [value("s", STRING, [1])], [value("y", STRING, [1])])
    with pytest.raises(OpsinfoError, match="the input `s` takes texts"):
        input_sets("random:0", onnx.load(path))
    np.savez(tmp_path / "s.npz", s=np.array(["a"]))
    assert input_sets(str(tmp_path / "s.npz"), onnx.load(path))[0].feeds["s"][0] == "a"


@pytest.mark.parametrize(
    ("dtype", "dims", "message"),
    [(FLOAT, [1 << 62, 1 << 62] * 100, "too many"), (FLOAT, [1] * 602, "too many"), (99, [1], "takes no tensor")],
    ids=["values", "dimensions", "unknown dtype"],
)
def test_an_input_that_no_random_array_fits_is_refused(
    tmp_path: Path, dtype: int, dims: list[int], message: str
) -> None:
    path = save(tmp_path, [node("Shape", ["x"], ["y"])], [value("x", dtype, dims)], [value("y", INT64, [len(dims)])])
    with pytest.raises(OpsinfoError, match=message):
        input_sets("random:0", onnx.load(path))


def test_an_initializer_that_is_also_an_input_needs_no_value(tmp_path: Path) -> None:
    inputs = [value("x", FLOAT, [1]), value("w", FLOAT, [1])]
    path = save(tmp_path, [node("Add", ["x", "w"], ["y"])], inputs, [value("y", FLOAT, [1])], {"w": np.ones(1, "f4")})
    assert list(input_sets("random:0", onnx.load(path))[0].feeds) == ["x"]
    assert onnx.load(path).graph.input[1].name == "w"
