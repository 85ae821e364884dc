"""Arrays for the inputs of a model, from files or from a seed.

Files are ``.npz``, folders of ``.npy``, and the test data of ONNX models.
"""

from __future__ import annotations

import os
import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.input_shapes import (
    OPEN,
    ModelInput,
    dims_text,
    options_for,
    require_input,
    require_shape,
    stated_shapes,
)
from ...core.cann.onnx_opsets import is_standard
from ...core.text.source import read_bytes
from ...errors import Damaged, UsageFault, join_some
from ...opening import open_file, unreadable
from ..graph.readers.onnx import model_inputs
from .packages import load_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ...core.cann.input_shapes import Shapes

RANDOM = "random:"
GIVEN = "given"
"""The name of arrays that a program gives."""
_BELOW = 2
"""Whole numbers of unknown meaning are 0 or 1: flags, masks, token types."""
_MOST_DIMS, _MOST_VALUES = 32, 1 << 30
"""The largest random input; numpy has no array of more dimensions."""
_NUMBERED = re.compile(r"input_(\d+)\.pb")


def require_fit(inputs: Sequence[ModelInput], feeds: Mapping[str, Any], where: str) -> None:
    """Require that arrays have the names, dtypes and shapes of a model's inputs.

    :raises UsageFault: if one is missing, unknown, or of another dtype or shape
    """
    known = {model_input.name: model_input for model_input in inputs}
    for name in feeds:
        require_input(name, inputs, where)
    if missing := [model_input.shown for model_input in inputs if model_input.name not in feeds]:
        raise UsageFault(f"{where}: missing inputs: {join_some(missing, 5)}", name="missing-input")
    for name, array in feeds.items():
        wanted = known[name].dtype
        dtype = "str" if array.dtype.kind in "OSU" else array.dtype.name
        if dtype != wanted:
            hint = f"numpy: array.astype('{wanted}')" if wanted else None
            message = f"{where}: `{name}` is {dtype}, the model takes {wanted or 'no tensor here'}"
            raise UsageFault(message, name="bad-dtype", hint=hint)
        require_shape(known[name], array.shape, f"{where}: `{name}`")


class InputSet(NamedTuple):
    """One array for each input of a model.

    :param name: for reports: the file, the folder, or ``random:SEED``
    """

    name: str
    feeds: dict[str, Any]

    @property
    def is_random(self) -> bool:
        return self.name.startswith(RANDOM)


def given_shapes(specs: Iterable[str | Mapping[str, Any]], shapes: Shapes, inputs: Sequence[ModelInput]) -> Shapes:
    """Return the shapes that a model is judged with: as stated, and of arrays.

    A dimension that differs between sets of arrays is open.

    :param specs: as for :func:`input_sets`, or arrays by the name of the input
    :raises UsageFault: if one does not fit the model, or an array does not fit the stated shapes
    :raises Refused: if a file cannot be read
    """
    found = stated_shapes(shapes, inputs)
    seen: dict[str, list[tuple[int, ...]]] = {}
    for spec in specs:
        for input_set in [InputSet(GIVEN, dict(spec))] if not isinstance(spec, str) else _read_sets(spec, inputs):
            require_fit(inputs, input_set.feeds, input_set.name)
            for name, array in input_set.feeds.items():
                if any(size not in (OPEN, own) for size, own in zip(shapes.get(name, ()), array.shape, strict=False)):
                    message = (
                        f"--shape {name}={dims_text(shapes[name])}: in {input_set.name} it is {dims_text(array.shape)}"
                    )
                    hint = "leave out --shape: the shapes of --inputs are used"
                    raise UsageFault(message, name="bad-shape", hint=hint)
                seen.setdefault(name, []).append(array.shape)
    for name, own in seen.items():
        if len(set(map(len, own))) == 1:
            found[name] = tuple(sizes[0] if len(set(sizes)) == 1 else OPEN for sizes in zip(*own, strict=True))
    return found


def input_sets(spec: str, proto: Any) -> list[InputSet]:
    """Return sets of inputs for a model.

    :param spec: ``random:SEED``, an ``.npz``, a folder of ``.npy`` or ``.pb`` files, or a folder of such folders
    :raises UsageFault: if an input is missing, unknown, or of another dtype or shape
    :raises Refused: if a file cannot be read
    """
    inputs = model_inputs(proto)
    if spec.startswith(RANDOM):
        seed = spec.removeprefix(RANDOM)
        if not (seed.isascii() and seed.isdigit()) or len(seed) > 18:
            message = f"--inputs {spec}: the seed must be a whole number"
            raise UsageFault(message, name="bad-seed", hint="write random:0")
        return [InputSet(spec, _random(inputs, int(seed), _tables(proto.graph)))]
    found = _read_sets(spec, inputs)
    for input_set in found:
        require_fit(inputs, input_set.feeds, input_set.name)
    return found


def _read_sets(spec: str, inputs: Sequence[ModelInput]) -> list[InputSet]:
    """Return the arrays of a file or a folder; none for random ones."""
    if spec.startswith(RANDOM):
        return []
    if os.path.isdir(spec):
        return [InputSet(folder, read_tensor_folder(folder, inputs)) for folder in input_folders(spec)]
    return [InputSet(spec, read_npz(spec))]


def unknown_numbers(proto: Any) -> list[str]:
    """Return the inputs of whole numbers whose meaning is unknown: random ones may not serve them."""
    tables = _tables(proto.graph)
    return [
        model_input.name
        for model_input in model_inputs(proto)
        if model_input.dtype.startswith(("int", "uint")) and not tables.get(model_input.name)
    ]


def _tables(graph: Any) -> dict[str, int]:
    """Return values that choose rows of a constant table, with the number of rows; traced back through Casts."""
    sizes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    rows: dict[str, int] = {}
    for node in reversed(graph.node):
        if not is_standard(node.domain):
            continue
        if node.op_type == "Gather" and (shape := sizes.get(node.input[0])):
            axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
            value, size = node.input[1], shape[axis] if -len(shape) <= axis < len(shape) else 0
        elif node.op_type in _SAME_NUMBERS and node.output[0] in rows:
            value, size = node.input[0], rows[node.output[0]]
        else:
            continue
        rows[value] = max(min(rows.get(value, size), size), 0)
    return rows


_SAME_NUMBERS = frozenset({"Cast", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Flatten", "Transpose"})
"""Operators whose outputs contain the numbers of their first input."""


def _random(inputs: Sequence[ModelInput], seed: int, tables: Mapping[str, int]) -> dict[str, Any]:
    """Return normal numbers, row numbers for inputs that choose rows of a table, else zeros and ones.

    :param tables: the number of rows that an input chooses from, by its name
    :raises UsageFault: if dimensions are open, or an input is not an array of numbers
    """
    np = load_package("numpy")
    for model_input in inputs:
        if model_input.dtype in ("", "str"):
            what = "texts" if model_input.dtype else "no tensor"
            message = f"the input `{model_input.name}` takes {what}: random values cannot be made for it"
            raise UsageFault(message, name="not-random", hint="give them with --inputs FILE.npz")
    if missing := [model_input for model_input in inputs if model_input.is_open]:
        message = f"open dimensions: {join_some([model_input.shown for model_input in missing], 5)}"
        raise UsageFault(message, name="open-dimensions", hint=f"choose them: {options_for(missing)}")
    random = np.random.default_rng(seed)
    feeds = {}
    for model_input in inputs:
        try:
            dtype = np.dtype(model_input.dtype)
        except TypeError:  # such as bfloat16; the `onnx` package depends on ml_dtypes
            dtype = np.dtype(getattr(load_package("ml_dtypes"), model_input.dtype))
        shape = tuple(int(dim) for dim in model_input.dims or ())
        if len(shape) > _MOST_DIMS or prod(shape) > _MOST_VALUES:
            message = f"the input `{model_input.name}` has too many values or dimensions for random ones"
            raise UsageFault(message, name="not-random", hint="give a smaller shape with --shape")
        if dtype.kind in "iu":
            array = random.integers(0, tables.get(model_input.name) or _BELOW, size=shape)
        elif dtype.kind == "b":
            array = random.integers(0, 2, size=shape)
        else:
            array = random.standard_normal(size=shape)
        feeds[model_input.name] = np.asarray(array).astype(dtype)
    return feeds


def read_npz(path: str) -> dict[str, Any]:
    """The arrays of an ``.npz`` by name.

    :raises Refused: if it cannot be read
    :raises Damaged: if it is not an ``.npz``
    """
    np = load_package("numpy")
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

    def numbers(name: str) -> list[tuple[bool, int, str]]:
        parts = re.split(r"(\d+)", name)
        return [(part.isdigit(), int(part) if part.isdigit() and len(part) < 18 else 0, part) for part in parts]

    inner = [os.path.join(folder, name) for name in sorted(os.listdir(folder), key=numbers)]
    folders = [path for path in inner if os.path.isdir(path) and _arrays(path)]
    if not folders:
        hint = "NAME.npy for each input, or input_0.pb, input_1.pb"
        raise UsageFault("the folder holds no arrays", name="no-inputs", path=folder, hint=hint)
    return folders


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
            with open_file(path) as file:
                try:
                    feeds[name.removesuffix(".npy")] = load_package("numpy").load(file, allow_pickle=False)
                except Exception as error:  # numpy raises several kinds
                    raise Damaged(f"not a .npy file: {error}", name="not-npy", path=path) from None
            continue
        own, array = _tensor(path)
        number = int(numbered[1])
        if own not in {model_input.name for model_input in inputs}:
            if number >= len(inputs):
                message = f"the model has {len(inputs)} inputs, counted from 0"
                raise UsageFault(message, name="unknown-input", path=path)
            own = inputs[number].name
        feeds[own] = array
    return feeds


def _tensor(path: str) -> tuple[str, Any]:
    """Return the name and the values of a TensorProto."""
    onnx = load_package("onnx")
    data = read_bytes(path)
    try:
        tensor = onnx.TensorProto.FromString(data)
        if not tensor.data_type:
            raise ValueError("it has no dtype")
        return tensor.name, onnx.numpy_helper.to_array(tensor)
    except Exception as error:  # protobuf and onnx raise several kinds
        raise Damaged(f"not a tensor of ONNX: {error}", name="not-tensor", path=path) from None
