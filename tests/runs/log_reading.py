"""Read lines of logs, and compare what was read."""

from __future__ import annotations

from typing import Any

from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.occurrences import Occurrences
from opsinfo_cli.runs.readers.reader import Reader
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.stream import Window


def text_of(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def read(kind: type[Reader], *windows: bytes, by_shape: bool = True) -> Any:
    reader, fields = kind(), StepFields()
    for data in windows:
        sheet = Sheet(data, len(data), by_shape)
        reader.sheet(sheet, fields)
        fields.finish(sheet)
    return reader


def fed(windows: list[bytes], by_shape: bool = True) -> Log:
    log = Log("log")
    for data in windows:
        log._by_shape = by_shape
        log.take(Window(data, len(data)))
    return log


def state(reader: Any) -> object:
    parts = [vars(reader.scale), reader.found.at_is_step, reader.found.scaling, reader.found.level]
    parts += [
        occurrences_state(each) if isinstance(each, Occurrences) else vars(each)
        for name in ("counters", "occurrences", "_descent", "lowered", "not_run")
        if (each := getattr(reader, name, None))
    ]
    parts += [flags_state(reader.flags)] if hasattr(reader, "flags") else []
    return reader.lines, repr(parts), reader.tally(None, None)


def occurrences_state(found: Occurrences) -> object:
    visits = vars(found._visits)
    return {**vars(found), "_visits": {**visits, "sizes": sorted(visits["sizes"].items())}}


def flags_state(flags: Flags) -> object:
    flags._remember()
    return vars(flags)


def fields_state(fields: StepFields) -> object:
    tracks = {kind: vars(track) for kind, track in fields._kinds.items()}
    return tracks, fields.seen, fields.at, fields.spacing, fields.total, fields.note
