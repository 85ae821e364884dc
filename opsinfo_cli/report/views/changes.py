"""The changes of a run, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...change.moves import FileResult, Result
from ..escape import row, shown
from ..terminal.cell_width import cell_width, padded
from ..terminal.output import Output
from ..terminal.places import place_shown

if TYPE_CHECKING:
    from typing import Any


def change_lines(output: Output, result: Result, target: str) -> Iterator[str]:
    """Yield `name, from, to, file` for every op type that moved; aligned and coloured on a terminal.

    :param target: the TARGET of the command; a terminal shows files relative to it
    """
    moves = [(file, move) for file in result.files for move in file.moved]
    width = max((cell_width(shown(move.name)) for _, move in moves), default=0)
    for file, move in moves:
        before, after = str(move.before or "-"), str(move.after or "-")
        if output.on_terminal:
            words = f"{output.paint(before, before)} -> {output.paint(after, after)}"
            words += " " * (len("white -> black") - len(f"{before} -> {after}"))
            room = output.columns - width - len("  white -> black  ")
            place = place_shown(output, file.path, target, room)
            yield f"{padded(shown(move.name), width)}  {words}  {place}"
        else:
            yield row(move.name, before, after, file.path)


def change_document(result: Result, ignored: list[str], dry_run: bool) -> dict[str, Any]:
    moved = {move.name for file in result.files for move in file.moved}
    stayed = {name for file in result.files for name in file.stayed}
    return {
        "change": result.change,
        "changed": [
            {"name": move.name, "from": move.before, "to": move.after, "file": file.path}
            for file in result.files
            for move in file.moved
        ],
        "unchanged": sorted(stayed - moved),
        "ignored": sorted(ignored),
        "files": file_documents(result),
        "dry_run": dry_run,
    }


def file_documents(result: Result) -> list[dict[str, Any]]:
    return [_file_document(file) for file in result.files if file.patch]


def _file_document(file: FileResult) -> dict[str, Any]:
    return {
        "path": file.path,
        "backup": file.backup,
        "sha256_before": None if file.is_new else file.source.sha256,
        "sha256_after": file.result.sha256,
    }
