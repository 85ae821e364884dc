"""Names, dtypes and dimensions of a model's inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageFault, join_some
from .onnx_file import loaded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Shapes = Mapping[str, tuple[int, ...]]


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


def model_inputs(path: str) -> list[ModelInput]:
    """Return the inputs that a model requires, in its order.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Refused: if the file cannot be read, or is not an ONNX model
    """
    return inputs_of(loaded(path))


def inputs_of(model: Any) -> list[ModelInput]:
    """Return the inputs of a ModelProto without an initializer."""
    given = {each.name for each in model.graph.initializer}
    tables = _tables(model.graph)
    return [_input(each, tables) for each in model.graph.input if each.name not in given]


def _input(value: Any, tables: Mapping[str, int]) -> ModelInput:
    from onnx import helper

    if not value.type.HasField("tensor_type"):
        return ModelInput(value.name, "", None)
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type else ""
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
        if node.op_type == "Gather" and sizes.get(node.input[0]):
            axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
            value, size = node.input[1], sizes[node.input[0]][axis]
        elif node.op_type in _SAME_NUMBERS and node.output[0] in rows:
            value, size = node.input[0], rows[node.output[0]]
        else:
            continue
        rows[value] = min(rows.get(value, size), size)
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
        said = f"{where}: the shape {','.join(map(str, shape)) or 'of a single value'} does not fit {one.shown}"
        raise UsageFault(said, name="bad-shape")


def require_fit(inputs: Sequence[ModelInput], feeds: Mapping[str, Any], where: str) -> None:
    """Require that arrays have the names, dtypes and shapes of a model's inputs.

    :raises UsageFault: if one is missing, unknown, or of another dtype or shape
    """
    known = {each.name: each for each in inputs}
    if unknown := [name for name in feeds if name not in known]:
        said = f"{where}: the model has no input `{unknown[0]}`"
        raise UsageFault(said, name="unknown-input", hint=_listed(inputs))
    if missing := [each.shown for each in inputs if each.name not in feeds]:
        raise UsageFault(f"{where}: missing inputs: {join_some(missing, 5)}", name="missing-input")
    for name, array in feeds.items():
        wanted = known[name].dtype
        dtype = "str" if array.dtype.kind in "OSU" else array.dtype.name
        if dtype != wanted:
            hint = f"numpy: array.astype('{wanted}')" if wanted else None
            said = f"{where}: `{name}` is {dtype}, the model takes {wanted or 'no tensor here'}"
            raise UsageFault(said, name="bad-dtype", hint=hint)
        _require_fit(known[name], array.shape, f"{where}: `{name}`")
