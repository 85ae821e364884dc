"""Conversion of a model to a newer opset, whose operators the roundings need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .onnx_file import OnnxFile
from .packages import needed

if TYPE_CHECKING:
    from typing import Any


def converted(file: OnnxFile, opset: int) -> OnnxFile | None:
    """Return the model in another opset; None if the ``onnx`` package cannot convert it.

    Weights are left out: the converter gets their dtypes and shapes, and they are put back afterwards.
    """
    onnx = needed("onnx")
    from onnx import version_converter

    bare = onnx.ModelProto()
    bare.CopyFrom(file.proto)
    outside = [each for each in bare.graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL]
    kept = {each.name: _copy(each) for each in outside}
    for each in outside:
        each.ClearField("external_data")
        each.ClearField("data_location")
    try:
        made = version_converter.convert_version(bare, opset)
    except Exception:  # the converter raises several kinds; a model that it cannot convert is rounded another way
        return None
    for each in made.graph.initializer:
        if each.name in kept:
            each.CopyFrom(kept[each.name])
    made.ir_version = file.proto.ir_version
    found = OnnxFile(made, file.folder, file.weights, file.original)
    return found if _outputs(found) >= file.original and _weights(found) >= set(kept) else None


def _copy(tensor: Any) -> Any:
    made = type(tensor)()
    made.CopyFrom(tensor)
    return made


def _outputs(file: OnnxFile) -> set[str]:
    """Return every value that a node yields: a conversion that renames or drops values is not used."""
    return {value for node in file.nodes for value in node.proto.output}


def _weights(file: OnnxFile) -> set[str]:
    return {each.name for each in file.proto.graph.initializer}
