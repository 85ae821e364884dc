"""Reports as files: written as a whole, never over a library, a mixlist, another file of CANN, or a binary file.

OpDef sources and inis of opbuild are among the files of CANN.
"""

from __future__ import annotations

import os

from ...errors import Refused, UsageFault
from ..change.output_file import write_file

_HEAD = 65536


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: if the file is a library, a mixlist, a snapshot, another file of CANN, or binary
    :raises Refused: if the file cannot be written"""
    require_report(path)
    write_file(path, data)


def require_report(path: str) -> None:
    """:raises UsageFault: if the file is a library, a mixlist, a snapshot, another file of CANN, or binary
    :raises Refused: if the file cannot be read"""
    what = _what_stays(path) if os.path.isfile(path) else None
    if what:
        message = f"the file is {what}; a report does not replace it"
        raise UsageFault(message, name="wrong-kind", path=path, hint="choose another file")


def _what_stays(path: str) -> str | None:
    """Return what a file is that no report replaces; None for any other file.

    :raises Refused: if it cannot be read
    """
    is_json, is_definition = path.endswith(".json"), path.endswith((".ini", ".cpp", ".cc", ".cxx"))
    try:
        with open(path, "rb") as file:
            data = file.read() if is_json or is_definition else file.read(_HEAD)
    except PermissionError:  # it can be replaced nevertheless if its folder can be written
        return None
    except OSError as error:
        raise Refused(f"cannot write: {error.strerror}", name="not-written", path=path) from None
    if b"\0" in data[:_HEAD]:  # which no report has: a model, its weights, a tensor
        return "a binary file"
    if is_json:
        from ..cann.file_kind import foreign_of, is_marked, kind_of
        from ..text.members import read_members
        from ..text.source import Source

        try:
            source = Source(data, path)
        except Refused:  # not text, so none of these kinds
            return None
        outcome = read_members(source)
        if foreign := foreign_of(source, outcome):
            return foreign.what
        if is_marked(source, outcome) or kind_of(source, outcome) == "snapshot":
            return "a library, a mixlist or a snapshot"
    elif is_definition:
        from ..cann.targets.defined import what_defines
        from ..text.source import Source

        return what_defines(Source(data, path, strict=False))
    return None
