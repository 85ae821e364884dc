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
    if not os.path.isfile(path):
        return
    if _is_binary(path):
        raise _no_report(path, "a binary file")
    if not path.endswith(".json"):
        _require_no_definition(path)
        return
    from ..cann.file_kind import foreign_of, is_marked, kind_of
    from ..text.source import Source

    try:
        source = Source.read(path)
        foreign = foreign_of(source)
        marked = is_marked(source) or kind_of(source) == "snapshot"
    except Refused:  # not text, so none of these kinds
        return
    if foreign:
        raise _no_report(path, foreign.what)
    if marked:
        raise _no_report(path, "a library, a mixlist or a snapshot")


def _require_no_definition(path: str) -> None:
    if not path.endswith((".ini", ".cpp", ".cc", ".cxx")):
        return
    from ..cann.definitions import definition_kind
    from ..text.source import Source

    with open(path, "rb") as file:
        defined = definition_kind(Source(file.read(), path, strict=False))
    if defined:
        raise _no_report(path, "an ini of opbuild" if defined == "ini" else "an OpDef source")


def _is_binary(path: str) -> bool:
    """Whether there is a null byte, which no report has: a model, its weights, a tensor."""
    try:
        with open(path, "rb") as file:
            return b"\0" in file.read(_HEAD)
    except PermissionError:  # it can be replaced nevertheless if its folder can be written
        return False
    except OSError as error:
        raise Refused(f"cannot write: {error.strerror}", name="not-written", path=path) from None


def _no_report(path: str, what: str) -> UsageFault:
    said = f"the file is {what}; a report does not replace it"
    return UsageFault(said, name="wrong-kind", path=path, hint="choose another file")
