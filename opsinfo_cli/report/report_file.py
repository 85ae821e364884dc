"""A report as a file of its own: old or new, never half, and never in the place of what it reports on."""

from __future__ import annotations

import os

from ..change.output_file import write_file
from ..errors import Refused, UsageFault


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: where a target or a mixlist stands there; :raises Refused: where it cannot be written"""
    require_report(path)
    write_file(path, data)


def require_report(path: str) -> None:
    """:raises UsageFault: where a target or a mixlist stands there"""
    if not path.endswith(".json") or not os.path.isfile(path):
        return
    from ..model.file_kind import is_marked, kind_of
    from ..text.source import Source

    try:
        source = Source.read(path)
        marked = is_marked(source) or kind_of(source) == "snapshot"
    except Refused:  # what is no text is none of them
        return
    if marked:
        raise UsageFault(
            "a library, a mixlist or a snapshot is there; a report does not replace it",
            name="wrong-kind",
            path=path,
            hint="name another file",
        )
