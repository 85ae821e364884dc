"""Shapes of a model's inputs, as options state them. A reader writes them into the model; nothing behind it knows them.

A dimension is a size, or -1: open. atc's ``--input_shape`` is read too, several inputs and ranges included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...errors import UsageFault, join_some
from ...near_names import did_you_mean

Shapes: TypeAlias = Mapping[str, Sequence[int]]
"""The dimensions of inputs, by name."""

OPEN = -1
_MOST_INPUTS = 8
_LONG = 16
"""Names of dimensions that are so long are left out of an option."""
_LARGEST = (1 << 63) - 1
_STATED = re.compile(r"(?P<name>.+)[=:](?P<dims>[-\d~,x\s]*)", re.DOTALL)
_DIM = re.compile(r"(?P<least>-1|\d{1,19})(?:~(?P<most>-1|\d{1,19}))?")


class ModelInput(NamedTuple):
    """One input of a model.

    :param dims: sizes, or names of open dimensions, which may be empty; None: the rank is open
    :param dtype: of numpy: ``float32``, ``bool``, ``str``; empty: not a tensor, or unknown
    """

    name: str
    dims: tuple[int | str, ...] | None
    dtype: str = ""

    @property
    def is_open(self) -> bool:
        return self.dims is None or any(isinstance(dim, str) for dim in self.dims)

    @property
    def shown(self) -> str:
        if self.dims is None:
            return f"{self.name}: any shape"
        return f"{self.name}: {dims_text(self.dims) or 'a single value'}"

    @property
    def option(self) -> str:
        """The option that sets its shape, with the name or a ``?`` for each open dimension."""
        dims = [dim if isinstance(dim, int) or len(dim) < _LONG else "" for dim in self.dims or [""]]
        return f"--shape {self.name}={dims_text(dims)}"


ShapesOf: TypeAlias = Callable[[Sequence[ModelInput]], Shapes]
"""Returns the shapes that are written into a model with these inputs.

:raises UsageFault: if they do not fit it
"""


def dims_text(dims: Iterable[int | str]) -> str:
    """Return dimensions as they are typed: ``1,3,?``."""
    return ",".join(str(dim) or "?" for dim in dims)


def options_for(inputs: Iterable[ModelInput]) -> str:
    """Return the options that set every open dimension; empty if there is none."""
    options = " ".join(each.option for each in inputs if each.is_open)
    return options and f"{options}, with a number for each open dimension"


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes in values of ``--shape``, by name.

    Each is ``NAME=1,3,224,224``, or as atc's ``--input_shape``: ``NAME:1,3,224,224;NAME2:1~8,-1``. A range of several
    sizes is open.

    :raises UsageFault: if a text has another form, or a name is given twice
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        parts = [part.strip() for part in text.split(";") if part.strip()]
        for part in parts or [text]:
            stated = _STATED.fullmatch(part)
            dims = stated["dims"].replace("x", ",").strip() if stated else ""
            sizes = [_size(dim.strip()) for dim in dims.split(",")] if dims else []
            if stated is None or not stated["name"].strip() or None in sizes:
                hint = "write --shape x=1,3,224,224, or as atc --input_shape: x:1,3,224,224;ids:1~8,-1"
                raise UsageFault(f"--shape {part}: not NAME=DIMENSIONS", name="bad-shape", hint=hint)
            name = stated["name"].strip()
            if name in found:
                raise UsageFault(f"--shape {name}: given twice", name="bad-shape")
            found[name] = tuple(size for size in sizes if size is not None)
    return found


def _size(text: str) -> int | None:
    """Return a dimension, -1 for an open one; None if the text is none."""
    found = _DIM.fullmatch(text)
    if not found:
        return None
    least, most = int(found["least"]), int(found["most"] or found["least"])
    if max(least, most) > _LARGEST or (found["most"] and (least < 0 or 0 <= most < least)):
        return None
    return least if least == most else OPEN


def stated_shapes(shapes: Shapes, inputs: Sequence[ModelInput]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of inputs that options state, and of those with the same named dimensions; a name that gets
    several sizes is none, as exporters write one for all open dimensions.

    :raises UsageFault: if one does not fit the model
    """
    known = {each.name: each for each in inputs}
    sizes: dict[str, set[int]] = {}
    for name, shape in shapes.items():
        require_input(name, inputs, "--shape")
        require_shape(known[name], shape, f"--shape {name}")
        for dim, size in zip(known[name].dims or (), shape, strict=False):
            if isinstance(dim, str) and dim and size != OPEN:
                sizes.setdefault(dim, set()).add(size)
    single = {dim: size for dim, own in sizes.items() for size in own if len(own) == 1}
    found: dict[str, tuple[int, ...]] = {}
    for each in inputs:
        given = shapes.get(each.name) or [OPEN] * len(each.dims or ())
        named = [single.get(dim, OPEN) if isinstance(dim, str) else dim for dim in each.dims or given]
        merged = tuple(size if size != OPEN else own for size, own in zip(given, named, strict=True))
        if each.name in shapes or (each.is_open and any(size != OPEN for size in merged)):
            found[each.name] = merged
    return found


def settles(shapes: Shapes, inputs: Iterable[ModelInput]) -> bool:
    """Return whether shapes have the size of a dimension that is open in the model."""
    return any(
        size != OPEN and (each.dims is None or isinstance(each.dims[number], str))
        for each in inputs
        for number, size in enumerate(shapes.get(each.name, ()))
    )


def require_input(name: str, inputs: Sequence[ModelInput], where: str) -> None:
    """:raises UsageFault: if the model has no input of this name"""
    names = [each.name for each in inputs]
    if name not in names:
        near, own = did_you_mean(name, names), join_some([each.shown for each in inputs], _MOST_INPUTS)
        hint = " ".join(filter(None, [near, f"its inputs: {own}" if own else "it has none"]))
        raise UsageFault(f"{where}: the model has no input `{name}`", name="unknown-input", hint=hint)


def require_shape(one: ModelInput, shape: Sequence[int], where: str) -> None:
    """:raises UsageFault: if a shape does not fit an input"""
    if one.dims is None:
        return
    fits = len(shape) == len(one.dims) and all(
        isinstance(dim, str) or size in (dim, OPEN) for dim, size in zip(one.dims, shape, strict=True)
    )
    if not fits:
        message = f"{where}: the shape {dims_text(shape) or 'of a single value'} does not fit {one.shown}"
        raise UsageFault(message, name="bad-shape")
