"""Reports as files: written as a whole, never over a library, a mixlist or a snapshot."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..change.output_file import write_file
from ..errors import Refused, UsageFault


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: if the file is a library, a mixlist or a snapshot
    :raises Refused: if the file cannot be written"""
    require_report(path)
    write_file(path, data)


def require_other(path: str, inputs: Iterable[str | None]) -> None:
    """:param inputs: files that the report is made from; None for one that was not given
    :raises UsageFault: if the report would replace one of them"""
    for each in inputs:
        if each is not None and os.path.exists(each) and os.path.exists(path) and os.path.samefile(each, path):
            raise UsageFault(
                "the report would replace a file that it is made from",
                name="is-input",
                path=path,
                hint="name another file",
            )


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
