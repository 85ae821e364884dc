"""Reports as files: written as a whole, never over a library, a mixlist or a snapshot."""

from __future__ import annotations

import os

from ..change.output_file import write_file
from ..errors import Refused, UsageFault


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: if the file is a library, a mixlist or a snapshot
    :raises Refused: if the file cannot be written"""
    require_report(path)
    write_file(path, data)


def require_report(path: str) -> None:
    """:raises UsageFault: if the file is a library, a mixlist or a snapshot"""
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
            "the file is a library, a mixlist or a snapshot; a report does not replace it",
            name="wrong-kind",
            path=path,
            hint="choose another file",
        )
