"""Opens a model file, detects its format, reads it, and turns faults into errors with a place."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ...errors import Damaged, Refused
from . import sniff
from .textproto import TextFault
from .wire import WireFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    from ..graph import ModelGraph

_READERS = {
    sniff.OM: ("ge.om", "read_om"),
    sniff.GE_TEXT: ("ge.text", "read_ge_text"),
    sniff.GE_JSON: ("ge.atc_json", "read_ge_json"),
    sniff.ONNX: ("onnx.reader", "read_onnx"),
    sniff.GRAPH_DEF: ("tensorflow.reader", "read_graph_def"),
    sniff.GRAPH_TEXT: ("tensorflow.reader", "read_graph_text"),
    sniff.SAVED: ("tensorflow.reader", "read_saved_model"),
    sniff.SAVED_TEXT: ("tensorflow.reader", "read_saved_text"),
}
_SAVED_FILES = ("saved_model.pb", "saved_model.pbtxt")


def read_graph(path: str, seen: Callable[[int], None] | None = None) -> ModelGraph:
    """Return the graph of a model file, or of the folder of a SavedModel.

    :param seen: called with the number of bytes read so far, for a progress line
    :raises Refused: if the file cannot be opened or is not a model
    :raises Damaged: if it is broken, with the byte or line
    :raises MissingPackage: if it is an ONNX model and the ``onnx`` package is not installed
    """
    try:
        if os.path.isdir(path):
            path = _inside(path)
        with open(path, "rb") as file:
            return _read(cast("IO[bytes]", _Watched(file, seen)) if seen else file, path)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    except ValueError as error:
        if "\0" not in path:
            raise
        raise Refused(str(error), name="unreadable", path=path) from None


def _inside(folder: str) -> str:
    for name in _SAVED_FILES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise Refused("not a SavedModel: saved_model.pb not found", name="unknown-model", path=folder)


def _read(file: IO[bytes], path: str) -> ModelGraph:
    if not file.seekable():
        raise Refused("a model cannot be read from a pipe: write it to a file first", name="unreadable", path=path)
    module, function = _READERS[sniff.kind_of(file, path)]
    reader = getattr(import_module(f"{__package__}.{module}"), function)
    collected = gc.isenabled()
    gc.disable()  # a graph is millions of objects without garbage: collecting takes a third of the time
    try:
        found: ModelGraph = reader(file, path)
    except WireFault as fault:
        raise Damaged(
            f"the model is broken at byte {fault.at}: {fault.said}", name="damaged-model", path=path
        ) from None
    except TextFault as fault:
        line, column = _line(file, fault.at)
        raise Damaged(fault.said, name="damaged-model", path=path, line=line, column=column) from None
    except RecursionError:
        raise Damaged("the model is nested too deep", name="damaged-model", path=path) from None
    finally:
        if collected:
            gc.enable()
    return found


def _line(file: IO[bytes], at: int) -> tuple[int, int]:
    """Line and column of a byte."""
    file.seek(0)
    line, begin, read = 1, 0, 0
    while read < at and (block := file.read(min(1 << 20, at - read))):
        line += block.count(b"\n")
        if (last := block.rfind(b"\n")) >= 0:
            begin = read + last + 1
        read += len(block)
    return line, at - begin + 1


class _Watched:
    """A file that reports how much of it was read."""

    def __init__(self, file: IO[bytes], seen: Callable[[int], None]) -> None:
        self._file = file
        self._seen = seen

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._seen(len(data))
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
