"""A report as a file of its own: old or new, never half, and never in the place of what it reports on."""

from __future__ import annotations

import os

from ..errors import Refused, UsageFault
from .files import write_file

__all__ = ["require_report", "write_report"]


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: where a library or a mixlist stands there; :raises Refused: where it cannot be written"""
    require_report(path)
    write_file(path, data)


def require_report(path: str) -> None:
    """:raises UsageFault: where a library or a mixlist stands there"""
    if not path.endswith(".json") or not os.path.isfile(path):
        return
    from ..model.kind import is_marked
    from ..text.source import Source

    try:
        marked = is_marked(Source.read(path))
    except Refused:  # what is no text is neither
        return
    if marked:
        raise UsageFault(
            "a library or a mixlist is there; a report does not replace it",
            name="wrong-kind",
            path=path,
            hint="name another file",
        )
