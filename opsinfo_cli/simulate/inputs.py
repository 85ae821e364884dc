"""Inputs of a model: their names, dtypes and dimensions, and arrays for them from files or from a seed.

Files are ``.npz``, folders of ``.npy``, and the test data of ONNX models.
"""

from __future__ import annotations

import os
import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, UsageFault, join_some
from ..opening import open_file, unreadable
from ..text.source import read_bytes
from .packages import needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Shapes = Mapping[str, tuple[int, ...]]

RANDOM = "random:"
_BELOW = 2
"""Whole numbers of unknown meaning are 0 or 1: flags, masks, token types."""
_MOST_DIMS, _MOST_VALUES = 32, 1 << 30
"""The largest random input; numpy has no array of more dimensions."""
_NUMBERED = re.compile(r"input_(\d+)\.pb")


class ModelInput(NamedTuple):
    """One input of a model.

    :param dtype: of numpy: ``float32``, ``bool``, ``str``; empty: not a tensor
    :param dims: numbers, or names of open dimensions, which may be empty; None: the rank is open
    :param below: for integers that choose a row of a table, the number of rows; 0: unknown
    """

    name: str
    dtype: str
    dims: tuple[int | str, ...] | None
    below: int = 0

    @property
    def shown(self) -> str:
        if self.dims is None:
            return f"{self.name}: any shape"
        return f"{self.name}: {','.join(str(each) or '?' for each in self.dims) or 'a single value'}"


def model_inputs(proto: Any) -> list[ModelInput]:
    """Return the inputs that a ModelProto requires, in its order."""
    given = {each.name for each in proto.graph.initializer}
    tables = _tables(proto.graph)
    return [_input(each, tables) for each in proto.graph.input if each.name not in given]


def _input(value: Any, tables: Mapping[str, int]) -> ModelInput:
    from onnx import TensorProto, helper

    if not value.type.HasField("tensor_type"):
        return ModelInput(value.name, "", None)
    tensor = value.type.tensor_type
    known = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type in known else ""
    dtype = "str" if dtype == "object" else dtype
    if not tensor.HasField("shape"):
        return ModelInput(value.name, dtype, None, tables.get(value.name, 0))
    dims: list[int | str] = []
    for dim in tensor.shape.dim:
        is_known = dim.HasField("dim_value") and dim.dim_value >= 0
        dims.append(dim.dim_value if is_known else dim.dim_param)
    return ModelInput(value.name, dtype, tuple(dims), tables.get(value.name, 0))


def _tables(graph: Any) -> dict[str, int]:
    """Return values that choose rows of a constant table, with the number of rows; traced back through Casts."""
    sizes = {each.name: tuple(each.dims) for each in graph.initializer}
    rows: dict[str, int] = {}
    for node in reversed(graph.node):
        if node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type == "Gather" and (shape := sizes.get(node.input[0])):
            axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
            value, size = node.input[1], shape[axis] if -len(shape) <= axis < len(shape) else 0
        elif node.op_type in _SAME_NUMBERS and node.output[0] in rows:
            value, size = node.input[0], rows[node.output[0]]
        else:
            continue
        rows[value] = max(min(rows.get(value, size), size), 0)
    return rows


_SAME_NUMBERS = frozenset({"Cast", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Flatten", "Transpose"})
"""Operators whose outputs contain the numbers of their first input."""


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name and the dimensions in ``NAME=1,3,224,224``.

    :raises UsageFault: if the text has another form
    """
    name, sign, dims = text.rpartition("=")
    try:
        shape = tuple(int(each) for each in dims.replace("x", ",").split(",") if each.strip())
    except ValueError:
        shape = (-1,)
    if not sign or not name or any(each < 0 for each in shape):
        raise UsageFault(f"--shape {text}: not NAME=DIMENSIONS", name="bad-shape", hint="write --shape x=1,3,224,224")
    return name, shape


def settled_shapes(inputs: Sequence[ModelInput], shapes: Shapes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every input: the model's, completed by ``shapes``; a named dimension has one size.

    :raises UsageFault: if a shape does not fit the model, or dimensions are open
    """
    known = {each.name: each for each in inputs}
    open_dims: dict[str, int] = {}
    for name, shape in shapes.items():
        if name not in known:
            raise UsageFault(f"--shape: the model has no input `{name}`", name="unknown-input", hint=_listed(inputs))
        _require_fit(known[name], shape, f"--shape {name}")
        for dim, size in zip(known[name].dims or (), shape, strict=False):
            if isinstance(dim, str) and dim:
                open_dims.setdefault(dim, size)
    found: dict[str, tuple[int, ...]] = {}
    missing = []
    for each in inputs:
        if each.name in shapes:
            found[each.name] = tuple(shapes[each.name])
            continue
        sizes = [open_dims.get(dim) if isinstance(dim, str) else dim for dim in each.dims or ()]
        if each.dims is None or None in sizes:
            missing.append(each)
        found[each.name] = tuple(size or 0 for size in sizes)
    if missing:
        raise UsageFault(
            f"open dimensions: {join_some([each.shown for each in missing], 5)}",
            name="open-dimensions",
            hint=f"choose them: --shape {missing[0].name}={_example(missing[0])}",
        )
    return found


def _example(one: ModelInput) -> str:
    return ",".join(str(each) if isinstance(each, int) else "1" for each in one.dims or (1,))


def _listed(inputs: Sequence[ModelInput]) -> str:
    return f"its inputs: {join_some([each.shown for each in inputs], 8)}"


def _require_fit(one: ModelInput, shape: Sequence[int], where: str) -> None:
    """:raises UsageFault: if a shape does not fit an input"""
    if one.dims is None:
        return
    fits = len(shape) == len(one.dims) and all(
        isinstance(dim, str) or dim == size for dim, size in zip(one.dims, shape, strict=True)
    )
    if not fits:
        message = f"{where}: the shape {','.join(map(str, shape)) or 'of a single value'} does not fit {one.shown}"
        raise UsageFault(message, name="bad-shape")


def require_fit(inputs: Sequence[ModelInput], feeds: Mapping[str, Any], where: str) -> None:
    """Require that arrays have the names, dtypes and shapes of a model's inputs.

    :raises UsageFault: if one is missing, unknown, or of another dtype or shape
    """
    known = {each.name: each for each in inputs}
    if unknown := [name for name in feeds if name not in known]:
        message = f"{where}: the model has no input `{unknown[0]}`"
        raise UsageFault(message, name="unknown-input", hint=_listed(inputs))
    if missing := [each.shown for each in inputs if each.name not in feeds]:
        raise UsageFault(f"{where}: missing inputs: {join_some(missing, 5)}", name="missing-input")
    for name, array in feeds.items():
        wanted = known[name].dtype
        dtype = "str" if array.dtype.kind in "OSU" else array.dtype.name
        if dtype != wanted:
            hint = f"numpy: array.astype('{wanted}')" if wanted else None
            message = f"{where}: `{name}` is {dtype}, the model takes {wanted or 'no tensor here'}"
            raise UsageFault(message, name="bad-dtype", hint=hint)
        _require_fit(known[name], array.shape, f"{where}: `{name}`")


class InputSet(NamedTuple):
    """One array for each input of a model.

    :param name: for reports: the file, the folder, or ``random:SEED``
    """

    name: str
    feeds: dict[str, Any]

    @property
    def is_random(self) -> bool:
        return self.name.startswith(RANDOM)


def input_sets(spec: str, proto: Any, shapes: Shapes) -> list[InputSet]:
    """Return sets of inputs for a model.

    :param spec: ``random:SEED``, an ``.npz``, a folder of ``.npy`` or ``.pb`` files, or a folder of such folders
    :param proto: the ModelProto of the model
    :param shapes: of inputs with open dimensions, by name, for random ones
    :raises UsageFault: if an input is missing, unknown, or of another dtype or shape
    :raises Refused: if a file cannot be read
    """
    inputs = model_inputs(proto)
    if spec.startswith(RANDOM):
        return [InputSet(spec, _random(inputs, _seed(spec), shapes))]
    if shapes:
        raise UsageFault("--shape is for random inputs; files already have shapes", name="bad-shape")
    if os.path.isdir(spec):
        found = [InputSet(folder, read_tensor_folder(folder, inputs)) for folder in input_folders(spec)]
    else:
        found = [InputSet(spec, read_npz(spec))]
    for each in found:
        require_fit(inputs, each.feeds, each.name)
    return found


def _seed(spec: str) -> int:
    """:raises UsageFault: if the text after ``random:`` is not a seed"""
    text = spec.removeprefix(RANDOM)
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise UsageFault(f"--inputs {spec}: the seed must be a whole number", name="bad-seed", hint="write random:0")
    return int(text)


def _random(inputs: list[ModelInput], seed: int, shapes: Shapes) -> dict[str, Any]:
    """Return normal numbers, row numbers for inputs that choose rows of a table, else zeros and ones.

    :raises UsageFault: if dimensions are open, or an input is not an array of numbers
    """
    np = needed("numpy")
    for each in inputs:
        if each.dtype in ("", "str"):
            what = "texts" if each.dtype else "no tensor"
            message = f"the input `{each.name}` takes {what}: random values cannot be made for it"
            raise UsageFault(message, name="not-random", hint="give them with --inputs FILE.npz")
    settled = settled_shapes(inputs, shapes)
    random = np.random.default_rng(seed)
    feeds = {}
    for each in inputs:
        dtype = _dtype(each.dtype)
        shape = settled[each.name]
        if len(shape) > _MOST_DIMS or prod(shape) > _MOST_VALUES:
            message = f"the input `{each.name}` has too many values or dimensions for random ones"
            raise UsageFault(message, name="not-random", hint="give a smaller shape with --shape")
        if dtype.kind in "iu":
            array = random.integers(0, each.below or _BELOW, size=shape)
        elif dtype.kind == "b":
            array = random.integers(0, 2, size=shape)
        else:
            array = random.standard_normal(size=shape)
        feeds[each.name] = np.asarray(array).astype(dtype)
    return feeds


def _dtype(name: str) -> Any:
    """Return the dtype with a name, from numpy or from ml_dtypes, which the ``onnx`` package depends on."""
    np = needed("numpy")
    try:
        return np.dtype(name)
    except TypeError:
        return np.dtype(getattr(needed("ml_dtypes"), name))


def read_npz(path: str) -> dict[str, Any]:
    """The arrays of an ``.npz`` by name.

    :raises Refused: if it cannot be read
    :raises Damaged: if it is not an ``.npz``
    """
    np = needed("numpy")
    with open_file(path) as file:
        try:
            if file.read(2) != b"PK":
                hint = "numpy.savez('inputs.npz', NAME=array, ...)"
                raise Damaged("not an .npz file", name="not-npz", path=path, hint=hint)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except Damaged:
            raise
        except Exception as error:  # zipfile and numpy raise several kinds
            raise Damaged(f"not an .npz file of arrays: {error}", name="not-npz", path=path) from None


def input_folders(folder: str) -> list[str]:
    """Return the folder if it contains arrays, else its subfolders that do; ``test_data_set_2`` before ``_10``.

    :raises UsageFault: if there are none
    :raises Refused: if it cannot be read
    """
    if _arrays(folder):
        return [folder]
    inner = [os.path.join(folder, name) for name in sorted(os.listdir(folder), key=_by_number)]
    found = [each for each in inner if os.path.isdir(each) and _arrays(each)]
    if not found:
        hint = "NAME.npy for each input, or input_0.pb, input_1.pb"
        raise UsageFault("the folder holds no arrays", name="no-inputs", path=folder, hint=hint)
    return found


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() and len(part) < 18 else 0, part) for part in parts]


def _arrays(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise unreadable(error, folder) from None
    return [name for name in names if name.endswith(".npy") or _NUMBERED.fullmatch(name)]


def read_tensor_folder(folder: str, inputs: Sequence[ModelInput]) -> dict[str, Any]:
    """The arrays of a folder: ``NAME.npy`` by name, ``input_N.pb`` by the name in it, else by the model's order.

    :raises UsageFault: if a number is beyond the model's inputs
    :raises Damaged: if a file is broken
    """
    feeds = {}
    for name in _arrays(folder):
        path = os.path.join(folder, name)
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None:
            feeds[name.removesuffix(".npy")] = _npy(path)
            continue
        own, array = _tensor(path)
        number = int(numbered[1])
        if own not in {each.name for each in inputs}:
            if number >= len(inputs):
                message = f"the model has {len(inputs)} inputs, counted from 0"
                raise UsageFault(message, name="unknown-input", path=path)
            own = inputs[number].name
        feeds[own] = array
    return feeds


def _npy(path: str) -> Any:
    np = needed("numpy")
    with open_file(path) as file:
        try:
            return np.load(file, allow_pickle=False)
        except Exception as error:  # numpy raises several kinds
            raise Damaged(f"not a .npy file: {error}", name="not-npy", path=path) from None


def _tensor(path: str) -> tuple[str, Any]:
    """Return the name and the values of a TensorProto."""
    onnx = needed("onnx")
    data = read_bytes(path)
    try:
        tensor = onnx.TensorProto.FromString(data)
        if not tensor.data_type:
            raise ValueError("it has no dtype")
        return tensor.name, onnx.numpy_helper.to_array(tensor)
    except Exception as error:  # protobuf and onnx raise several kinds
        raise Damaged(f"not a tensor of ONNX: {error}", name="not-tensor", path=path) from None
