"""Detect the format of a model file by its content, never by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import Damaged, Refused
from .wire import BYTES, VARINT, WireFault, fields, varint

if TYPE_CHECKING:
    from typing import IO

OM, GE_TEXT, GE_JSON = "om", "ge-proto", "atc-json"
ONNX, GRAPH_DEF, GRAPH_TEXT, SAVED, SAVED_TEXT = (
    "onnx",
    "graph-def",
    "graph-def-text",
    "saved-model",
    "saved-model-text",
)

_HEAD = 1 << 16
_CONTROLS = bytes(sign for sign in range(32) if sign not in b"\t\n\r\f") + b"\x7f"
_OUTER = re.compile(rb"\b(graph|node|op|meta_graphs|layer|layers|graph_def)\s*:?\s*[{<\[]")
_ONNX_TYPE = re.compile(rb'\bop_type\s*:\s*"(ge:)?')
_NODE = re.compile(rb"\b(op|node)\s*:?\s*[{<\[]")
_HINT = "compiled models (.om), GE dumps (ge_proto_*.txt), ATC JSON, ONNX and TensorFlow models are read"


def kind_of(file: IO[bytes], path: str) -> str:
    """Return the format of a model file; the file is left at its beginning.

    :raises Refused: if the format is not supported
    :raises Damaged: if it is empty
    """
    file.seek(0)
    head = file.read(_HEAD)
    file.seek(0)
    if not head:
        raise Damaged("the file is empty", name="empty-file", path=path)
    if head.startswith(b"IMOD"):
        return OM
    if head.startswith(b"PK\x03\x04"):
        hint = "give the .om file that ATC writes by default"
        raise Refused("compiled models in the zip form are not read", name="unknown-model", path=path, hint=hint)
    if head.translate(None, _CONTROLS) != head:
        found = _binary(head)
    elif head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        found = GE_JSON
    else:
        found = _text(head, path)
    if found is None:
        raise Refused("not a model that opsinfo reads", name="unknown-model", path=path, hint=_HINT)
    return found


def _text(head: bytes, path: str) -> str | None:
    outer = _OUTER.search(head)
    if not outer:
        return _binary(head)
    name = outer[1]
    if name in (b"layer", b"layers"):
        raise Refused("Caffe models are not read", name="unknown-model", path=path, hint=_HINT)
    if name == b"node":
        return GRAPH_TEXT
    if name == b"meta_graphs":
        return SAVED_TEXT
    if name != b"graph":
        return None
    of_onnx = _ONNX_TYPE.search(head)
    if of_onnx:
        if not of_onnx[1]:
            hint = "convert it: onnx.save(onnx.load(path, format='textproto'), 'model.onnx')"
            raise Refused("ONNX in text form is not read", name="unknown-model", path=path, hint=hint)
        raise _ge_onnx(path)
    inner = _NODE.search(head, outer.end())
    if inner and inner[1] == b"node":
        raise _ge_onnx(path)
    return GE_TEXT


def _ge_onnx(path: str) -> Refused:
    hint = "give the ge_proto_*.txt of the same dump (DUMP_GE_GRAPH=2), or the compiled model (.om)"
    return Refused("GE dumps in ONNX form (ge_onnx_*.pbtxt) are not read", name="unknown-model", path=path, hint=hint)


def _binary(head: bytes) -> str | None:
    """Detect by the fields at the beginning, which are in the order of their numbers."""
    seen: dict[int, bytes] = {}
    try:
        for tag, start, end in fields(head, 0, len(head)):
            if tag & 7 not in (BYTES, VARINT) or not 1 <= tag >> 3 <= 25:
                return None
            seen.setdefault(tag, head[start : min(end, start + 64)] if end >= 0 else b"")
    except WireFault as fault:  # the head of a file ends inside a field
        if fault.at < len(head):
            seen.setdefault(head[fault.at], _behind_length(head, fault.at + 1))
    first = next(iter(seen), 0)
    if first == 0x0A and seen[0x0A][:1] == b"\n":
        return GRAPH_DEF
    if first == 0x08 and not seen.keys() - {0x08, 0x12}:
        producer = seen.get(0x12, b"")
        return SAVED if (producer and not producer.isascii()) or producer[:1] in (b"\n", b"\x12") else ONNX
    if first in (0x08, 0x3A, 0x12) or 0x3A in seen:
        return ONNX
    return GRAPH_DEF if first in (0x0A, 0x22) and not seen.keys() - {0x0A, 0x12, 0x18, 0x22, 0x2A} else None


def _behind_length(head: bytes, at: int) -> bytes:
    """Return the byte after the length of a field that continues after the head."""
    try:
        _, start = varint(head, at)
    except (IndexError, WireFault):
        return b""
    return head[start : start + 64]
