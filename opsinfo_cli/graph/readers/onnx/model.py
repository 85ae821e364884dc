"""The ModelProto of an ONNX file: read once for the graph and for simulations, without external data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ....errors import Damaged, MissingPackage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

EXTERNAL = 1
"""The location of a tensor whose values are in another file."""


def package() -> ModuleType:
    """The ``onnx`` package.

    :raises MissingPackage: if it is not installed
    """
    try:
        import onnx
    except ImportError:
        raise MissingPackage(
            "reading an ONNX model requires the `onnx` package",
            hint="python -m pip install 'opsinfo[graph]', or give a compiled model or a dump",
        ) from None
    found: ModuleType = onnx
    return found


def parsed(data: bytes, path: str) -> Any:
    """Return the ModelProto of a file's content.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Damaged: if it is not an ONNX model
    """
    try:
        proto = package().load_model_from_string(data)
    except MissingPackage:
        raise
    except Exception as error:  # protobuf raises its own exceptions
        raise Damaged(f"not an ONNX model: {brief(error)}", name="damaged-model", path=path) from None
    if not proto.HasField("graph"):
        raise Damaged("not an ONNX model: it has no graph", name="damaged-model", path=path)
    return proto


def inlined(proto: Any, path: str) -> Any:
    """Return the model with its own functions inlined.

    :raises MissingPackage: if the ``onnx`` package is too old to inline
    :raises Damaged: if the model cannot be inlined
    """
    if not proto.functions:
        return proto
    try:
        from onnx.inliner import inline_local_functions
    except ImportError:
        raise MissingPackage("inlining a model's functions requires onnx 1.16", hint="pip install -U onnx") from None
    try:
        return inline_local_functions(proto)
    except Exception as error:  # the package raises several kinds of exceptions
        message = f"the model's functions cannot be inlined: {brief(error)}"
        raise Damaged(message, name="damaged-model", path=path) from None


def brief(error: Exception) -> str:
    """Return the first line of an exception's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def bodies(node: Any) -> Iterator[tuple[str, Any]]:
    """Return the name of each attribute of a node that is a graph, and the graph."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def without_large(proto: Any, most: int, keep: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of a model in which large initializers of the main graph have a dtype and a shape only.

    :param most: the largest size in bytes of one that is copied whole
    :param keep: called with each larger one; returns what takes its place, None to copy it whole
    """
    made = type(proto)()
    _copy_fields(proto, made, "graph")
    _copy_fields(proto.graph, made.graph, "initializer")
    for tensor in proto.graph.initializer:
        bare = None
        if tensor.data_location != EXTERNAL and tensor.ByteSize() > most:
            bare = type(tensor)(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
            bare = bare if keep is None else keep(tensor)
        made.graph.initializer.append(tensor if bare is None else bare)
    return made


def _copy_fields(message: Any, made: Any, left_out: str) -> None:
    for field, value in message.ListFields():
        if field.name == left_out:
            continue
        if hasattr(value, "extend"):
            getattr(made, field.name).extend(value)
        else:
            setattr(made, field.name, value)


def external_place(tensor: Any, folder: str) -> tuple[str, str | None]:
    """Return the name of the file with a tensor's values, and its path; None if it is outside the model's folder."""
    name = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    if not name or "\0" in name or os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
        return name, None
    return name, os.path.join(folder, name)
