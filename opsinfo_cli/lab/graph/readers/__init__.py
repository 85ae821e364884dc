"""Readers of model files: :func:`read_graph` detects a file's format, reads it, and gives faults their place.

``ge`` compiled models, dumps of the graph engine and ATC JSON; ``onnx``; ``tensorflow``.
"""

from __future__ import annotations

import gc
import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from ....core.cann.foreign_files import unread_model
from ....errors import Damaged, Refused, UsageFault, quoted
from ....opening import open_file, open_inside, unreadable
from .protobuf import BYTES, VARINT, TextFault, WireFault, fields, varint

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from ....core.cann.input_shapes import ShapesOf
    from ..graph import ModelGraph

Format = Literal["om", "ge-text", "ge-json", "onnx", "graph-def", "graph-def-text", "saved-model", "saved-model-text"]
_COMPILED: tuple[Format, ...] = ("om", "ge-text", "ge-json")
"""The formats of the graph engine, which have the shapes that a model was compiled for."""
_HEAD = 1 << 16
_CONTROLS = bytes(sign for sign in range(32) if sign not in b"\t\n\r\f") + b"\x7f"
_OUTER = re.compile(rb"\b(graph|node|op|meta_graphs|layer|layers|graph_def)\s*:?\s*[{<\[]")
_ONNX_TYPE = re.compile(rb'\bop_type\s*:\s*"(ge:)?')
_NODE = re.compile(rb"\b(op|node)\s*:?\s*[{<\[]")
_HINT = "compiled models (.om), GE dumps (ge_proto_*.txt), ATC JSON, ONNX and TensorFlow models are read"

_SAVED_FILES = ("saved_model.pb", "saved_model.pbtxt")


def read_graph(path: str, seen: Callable[[int], None] | None = None, shapes_of: ShapesOf | None = None) -> ModelGraph:
    """Return the graph of a model file, or of the folder of a SavedModel.

    :param shapes_of: the shapes of the inputs, which are written into the model before anything is inferred from it
    :raises UsageFault: if shapes are given, and the model has its own, or others
    :raises Refused: if the file cannot be opened or is not a model
    :raises Damaged: if it is broken, with the byte or line
    :raises MissingPackage: if it is an ONNX model and the ``onnx`` package is not installed
    """
    try:
        is_folder = os.path.isdir(folder := path)
        if is_folder:
            name = next((name for name in _SAVED_FILES if os.path.exists(os.path.join(folder, name))), "")
            if not name:
                raise Refused("not a SavedModel: saved_model.pb not found", name="unknown-model", path=folder)
            path = os.path.join(folder, name)
        with open_inside(folder, name) if is_folder else open_file(path) as file:
            if seen:
                seen(os.fstat(file.fileno()).st_size)
            return _read_file(file, path, shapes_of)
    except OSError as error:
        raise unreadable(error, path) from None


def _read_file(file: IO[bytes], path: str, shapes_of: ShapesOf | None) -> ModelGraph:
    kind = _format_of(file, path)
    reader = _reader_of(kind)
    if shapes_of is not None and kind in _COMPILED:
        message = "--shape: this model has the shapes that it was compiled for"
        raise UsageFault(message, name="has-shapes", path=path, hint="give the ONNX or TensorFlow model")
    collected = gc.isenabled()
    gc.disable()  # a graph is millions of objects without garbage: collecting takes a third of the time
    try:
        return reader(file, path) if kind in _COMPILED else reader(file, path, shapes_of)
    except TextFault as fault:
        file.seek(0)
        line, column = fault.place(file.read(fault.at))
        raise Damaged(fault.message, name="damaged-model", path=path, line=line, column=column) from None
    except WireFault as fault:
        message = f"the model is broken at byte {fault.at}: {fault.message}"
        raise Damaged(message, name="damaged-model", path=path) from None
    except RecursionError:
        raise Damaged("the model is nested too deep", name="damaged-model", path=path) from None
    finally:
        if collected:
            gc.enable()


def _reader_of(kind: Format) -> Callable[..., ModelGraph]:
    """Return the function that reads a format; only its module is imported."""
    if kind == "onnx":
        from .onnx import read_onnx

        return read_onnx
    if kind in _COMPILED:
        from . import ge

        return {"om": ge.read_om, "ge-text": ge.read_ge_text, "ge-json": ge.read_ge_json}[kind]
    from .tensorflow import read_tensorflow

    return partial(read_tensorflow, is_saved=kind.startswith("saved-model"), is_text=kind.endswith("-text"))


def _format_of(file: IO[bytes], path: str) -> Format:
    """Return the format of a model file, which is left at its beginning.

    :raises Refused: if the format is not supported
    :raises Damaged: if it is empty
    """
    file.seek(0)
    head = file.read(_HEAD)
    file.seek(0)
    if not head:
        raise Damaged("the file is empty", name="empty-file", path=path)
    if head.startswith(b"IMOD"):
        return "om"
    if head.startswith(b"PK\x03\x04"):
        hint = "give the .om file that ATC writes by default"
        raise Refused("compiled models in the zip form are not read", name="unknown-model", path=path, hint=hint)
    if foreign := unread_model(head):
        raise Refused(f"{foreign.what} is not read", name="unknown-model", path=path, hint=_HINT)
    found: Format | None
    if head.translate(None, _CONTROLS) != head:
        found = _binary_format(head)
    elif head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        found = "ge-json"
    else:
        found = _text_format(head, path)
    if found is None:
        script = f"--atc {quoted(path)} takes model and options of its atc command"
        hint = script if path.endswith(".sh") else _HINT
        raise Refused("not a model that opsinfo reads", name="unknown-model", path=path, hint=hint)
    return found


def _text_format(head: bytes, path: str) -> Format | None:
    outer = _OUTER.search(head)
    if not outer:
        return _binary_format(head)
    name = outer[1]
    if name in (b"layer", b"layers"):
        raise Refused("Caffe models are not read", name="unknown-model", path=path, hint=_HINT)
    if name == b"node":
        return "graph-def-text"
    if name == b"meta_graphs":
        return "saved-model-text"
    if name != b"graph":
        return None
    of_onnx, inner = _ONNX_TYPE.search(head), _NODE.search(head, outer.end())
    if of_onnx and not of_onnx[1]:
        hint = "convert it: onnx.save(onnx.load(path, format='textproto'), 'model.onnx')"
        raise Refused("ONNX in text form is not read", name="unknown-model", path=path, hint=hint)
    if of_onnx or (inner and inner[1] == b"node"):
        hint = "give the ge_proto_*.txt of the same dump (DUMP_GE_GRAPH=2), or the compiled model (.om)"
        message = "GE dumps in ONNX form (ge_onnx_*.pbtxt) are not read"
        raise Refused(message, name="unknown-model", path=path, hint=hint)
    return "ge-text"


def _binary_format(head: bytes) -> Format | None:
    """Return the format by the fields at the beginning, which are in the order of their numbers.

    A tag is eight times the number of the field, and 2 for bytes or 0 for a number. ModelProto of ONNX: ir_version
    0x08, producer_name 0x12, graph 0x3A; its last field is functions, 25. SavedModel: saved_model_schema_version 0x08,
    meta_graphs 0x12, which begins with meta_info_def 0x0A or graph_def 0x12. GraphDef: node 0x0A, which begins with
    name 0x0A; library 0x12, version 0x18, versions 0x22, debug_info 0x2A.
    """
    seen: dict[int, bytes] = {}
    try:
        for tag, start, end in fields(head, 0, len(head)):
            if tag & 7 not in (BYTES, VARINT) or not 1 <= tag >> 3 <= 25:
                return None
            seen.setdefault(tag, head[start : min(end, start + 64)] if end >= 0 else b"")
    except WireFault as fault:  # the head of a file ends inside a field
        if fault.at < len(head):
            content = b""
            with suppress(IndexError, WireFault):
                _, start = varint(head, fault.at + 1)
                content = head[start : start + 64]
            seen.setdefault(head[fault.at], content)
    first = next(iter(seen), 0)
    if first == 0x0A and seen[0x0A][:1] == b"\n":
        return "graph-def"
    if first == 0x08 and not seen.keys() - {0x08, 0x12}:
        producer = seen.get(0x12, b"")
        is_saved = (producer and not producer.isascii()) or producer[:1] in (b"\n", b"\x12")
        return "saved-model" if is_saved else "onnx"
    if first in (0x08, 0x3A, 0x12) or 0x3A in seen:
        return "onnx"
    return "graph-def" if first in (0x0A, 0x22) and not seen.keys() - {0x0A, 0x12, 0x18, 0x22, 0x2A} else None
