"""Files of dumped tensors, named after the operator that produced them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_NAME = re.compile(r"(?P<type>[A-Za-z_]\w*)\.(?P<op>.+?)\.\d+(?:\.\d+)+\.(?P<way>input|output)\.(?P<number>\d+)\.npy")


class DumpName(NamedTuple):
    """The parts of ``OpType.opname.taskid.timestamp.output.N.npy``; ``number`` is the index of the tensor."""

    type: str
    operator: str
    way: str
    number: int


def dump_name(path: str) -> DumpName | None:
    """Return the parts of a file's name; None if it has another form."""
    match = _NAME.fullmatch(os.path.basename(path))
    return DumpName(match["type"], match["op"], match["way"], int(match["number"])) if match else None


def dump_files(folder: str) -> list[str]:
    """Return every .npy file below a folder, sorted."""
    return sorted(
        os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".npy")
    )
