"""Compiled models (``.om``): a header, a table of partitions, a graph with the dtypes that the compiler chose.

Source: hicann/ge inc/framework/common/framework_types_internal.h:675-790 (header, both tables, partition types),
base/common/helper/om_file_helper.cc:152-262 (which table it is, and that partitions are contiguous). Read
on real files: one of 2021 with the small table, three of the graph engine's own tests with the large one.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from ....errors import Damaged, Refused
from ...graph import Weights
from ..wire import WireFault
from .definition import read_binary
from .model import GeModel

if TYPE_CHECKING:
    from typing import IO

    from ...graph import ModelGraph

MAGIC = b"IMOD"

_HEADER = 256
_LENGTH, _ENCRYPTED, _KIND, _MODELS, _LONG_LENGTH = 0x4C, 0x50, 0x52, 0x9C, 0xB8
_FLOW_MODEL = 3
_SMALL, _LARGE = struct.Struct("<III"), struct.Struct("<IIQQ")
_MODEL_DEF, _WEIGHTS, _FLOW_SUBMODEL = 0, 1, 7
_MOST_PARTITIONS, _MOST_MODELS = 4096, 1 << 16


class Partition(NamedTuple):
    """A part of a compiled model; offset and size in bytes, from the start of the file."""

    kind: int
    offset: int
    size: int


def partitions(file: IO[bytes], path: str) -> list[list[Partition]]:
    """The partitions of each model of the file.

    :raises Damaged: if the header or a table is broken, or exceeds the file
    :raises Refused: if the model is encrypted
    """
    size = file.seek(0, 2)
    file.seek(0)
    header = file.read(_HEADER)
    if len(header) < _HEADER:
        raise _damaged(path, f"the header of a compiled model has {_HEADER} bytes, the file {size}", len(header))
    length, long_length = (
        struct.unpack_from("<I", header, _LENGTH)[0],
        struct.unpack_from("<Q", header, _LONG_LENGTH)[0],
    )
    if header[_ENCRYPTED]:
        raise Refused("the compiled model is encrypted", name="encrypted-model", path=path)
    if (long_length or length) > size - _HEADER:
        message = f"its header announces {long_length or length} bytes, there are {size - _HEADER}"
        raise _damaged(path, f"the compiled model is cut off: {message}", _LENGTH)
    large = bool(long_length) or header[_KIND] == _FLOW_MODEL
    models = max(min(struct.unpack_from("<I", header, _MODELS)[0], _MOST_MODELS), 1)
    found, at = [], _HEADER
    for _ in range(models):
        if at >= size:
            break
        table, at = _table(file, at, size, large, path)
        found.append(table)
    return found


def _table(file: IO[bytes], at: int, size: int, large: bool, path: str) -> tuple[list[Partition], int]:
    """Return one table and the offset after its partitions."""
    entry, begin = (_LARGE, at + 8) if large else (_SMALL, at + 4)
    file.seek(at)
    head = file.read(4)
    count = struct.unpack("<I", head)[0] if len(head) == 4 else 0
    if not 0 < count <= _MOST_PARTITIONS or begin + count * entry.size > size:
        raise _damaged(path, f"a table of {count} partitions does not fit into the file", at)
    file.seek(begin)
    rows = list(entry.iter_unpack(file.read(count * entry.size)))
    base = place = begin + count * entry.size
    table = []
    for row in rows:
        kind, offset, length = (row[0], row[2], row[3]) if large else row
        begin = base + offset if offset + length <= size - base else place
        if length > size or begin > size - length:
            raise _damaged(path, f"partition {kind} has {length} bytes, {max(size - begin, 0)} are left", begin)
        table.append(Partition(kind, begin, length))
        place = begin + length
    return table, place


def _damaged(path: str, message: str, at: int) -> Damaged:
    return Damaged(f"{message} (byte {at})", name="damaged-model", path=path)


def read_om(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a compiled model.

    :raises Damaged: if the file is broken
    :raises Refused: if it is encrypted
    :raises WireFault: if its graph is broken
    """
    model = GeModel("om", path)
    found = False
    for table in partitions(file, path):
        weights = next((part for part in table if part.kind == _WEIGHTS), None)
        store = Weights(path, weights.offset, weights.size) if weights else None
        for part in table:
            if part.kind == _MODEL_DEF:
                found = True
                file.seek(part.offset)
                try:
                    read_binary(file.read(part.size), part.offset, model, store)
                except WireFault as fault:
                    raise WireFault(part.offset + fault.at, fault.message) from None
            elif part.kind == _FLOW_SUBMODEL:
                model.notes.add("flow-submodel", "only the graph of a flow model is read, not the models inside")
    if not found:
        raise _damaged(path, "the compiled model has no graph", _HEADER)
    return model.close()
