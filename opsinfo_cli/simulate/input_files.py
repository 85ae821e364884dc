"""Files with arrays: ``.npz``, folders of ``.npy``, and the test data of ONNX models."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ..errors import Damaged, Refused, UsageFault
from .packages import needed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .model_inputs import ModelInput

_NUMBERED = re.compile(r"input_(\d+)\.pb")


def read_npz(path: str) -> dict[str, Any]:
    """The arrays of an ``.npz`` by name.

    :raises Refused: if it cannot be read
    :raises Damaged: if it is not an ``.npz``
    """
    np = needed("numpy")
    try:
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                hint = "numpy.savez('inputs.npz', NAME=array, ...)"
                raise Damaged("not an .npz file", name="not-npz", path=path, hint=hint)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
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
        said = "the folder holds no arrays"
        raise UsageFault(said, name="no-inputs", path=folder, hint="NAME.npy for each input, or input_0.pb, input_1.pb")
    return found


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() and len(part) < 18 else 0, part) for part in parts]


def _arrays(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=folder) from None
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
                said = f"the model has {len(inputs)} inputs, counted from 0"
                raise UsageFault(said, name="unknown-input", path=path)
            own = inputs[number].name
        feeds[own] = array
    return feeds


def _npy(path: str) -> Any:
    np = needed("numpy")
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    except Exception as error:  # numpy raises several kinds
        raise Damaged(f"not a .npy file: {error}", name="not-npy", path=path) from None


def _tensor(path: str) -> tuple[str, Any]:
    """Return the name and the values of a TensorProto."""
    onnx = needed("onnx")
    try:
        with open(path, "rb") as file:
            tensor = onnx.TensorProto.FromString(file.read())
        if not tensor.data_type:
            raise ValueError("it has no dtype")
        return tensor.name, onnx.numpy_helper.to_array(tensor)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    except Exception as error:  # protobuf and onnx raise several kinds
        raise Damaged(f"not a tensor of ONNX: {error}", name="not-tensor", path=path) from None
