"""Reports as files: written as a whole, and never over a target or a mixlist."""

from __future__ import annotations

import os

from ..change.output_file import write_file
from ..errors import Refused, UsageFault


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: if a target or a mixlist is there
    :raises Refused: if the file cannot be written"""
    require_report(path)
    write_file(path, data)


def require_report(path: str) -> None:
    """:raises UsageFault: if a target or a mixlist is there"""
    if not path.endswith(".json") or not os.path.isfile(path):
        return
    from ..model.file_kind import is_marked, kind_of
    from ..text.source import Source

    try:
        source = Source.read(path)
        marked = is_marked(source) or kind_of(source) == "snapshot"
    except Refused:  # not text, so none of these kinds
        return
    if marked:
        raise UsageFault(
            "a library, a mixlist or a snapshot is there; a report does not replace it",
            name="wrong-kind",
            path=path,
            hint="name another file",
        )
