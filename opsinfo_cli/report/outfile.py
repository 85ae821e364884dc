"""A report as a file of its own: old or new, never half, and never in the place of what it reports on."""

from __future__ import annotations

import os
from contextlib import suppress

from ..errors import Refused, UsageFault

__all__ = ["write_report"]


def write_report(path: str, data: bytes) -> None:
    """:raises UsageFault: where a library or a mixlist stands there; :raises Refused: where it cannot be written"""
    _require_report(path)
    try:
        if os.path.lexists(path) and not os.path.isfile(path):  # /dev/stdout, a pipe
            with open(path, "wb") as file:
                file.write(data)
            return
        real = os.path.realpath(path)
        made = f"{real}.{os.getpid()}.tmp"
        try:
            with open(made, "xb") as file:
                file.write(data)
            os.replace(made, real)
        except BaseException:
            with suppress(OSError):
                os.unlink(made)
            raise
    except OSError as error:
        raise Refused(error.strerror or str(error), name="not-written", path=path) from None


def _require_report(path: str) -> None:
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
