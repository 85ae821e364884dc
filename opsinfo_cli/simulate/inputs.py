"""Inputs of a model: from files, or random numbers from a seed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageFault
from .input_files import input_folders, read_npz, read_tensor_folder
from .model_inputs import ModelInput, model_inputs, require_fit, settled_shapes
from .packages import needed

if TYPE_CHECKING:
    from typing import Any

    from .model_inputs import Shapes

RANDOM = "random:"
_BELOW = 2
"""Whole numbers of unknown meaning are 0 or 1: flags, masks, token types."""


class InputSet(NamedTuple):
    """One array for each input of a model.

    :param name: for reports: the file, the folder, or ``random:SEED``
    """

    name: str
    feeds: dict[str, Any]

    @property
    def is_random(self) -> bool:
        return self.name.startswith(RANDOM)


def input_sets(spec: str, model: str, shapes: Shapes) -> list[InputSet]:
    """Return sets of inputs for a model.

    :param spec: ``random:SEED``, an ``.npz``, a folder of ``.npy`` or ``.pb`` files, or a folder of such folders
    :param model: the path of the model
    :param shapes: of inputs with open dimensions, by name, for random ones
    :raises UsageFault: if an input is missing, unknown, or of another dtype or shape
    :raises Refused: if a file cannot be read
    """
    inputs = model_inputs(model)
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
            said = f"the input `{each.name}` takes {what}: random values cannot be made for it"
            raise UsageFault(said, name="not-random", hint="give them with --inputs FILE.npz")
    settled = settled_shapes(inputs, shapes)
    random = np.random.default_rng(seed)
    feeds = {}
    for each in inputs:
        dtype = _dtype(each.dtype)
        shape = settled[each.name]
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
