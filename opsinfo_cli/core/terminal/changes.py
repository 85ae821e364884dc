"""The answer of a command that changes files: the moves, the diff, or the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import counted
from ..change.plan import Result
from .answer import Block, Column, CommandAnswer, Diff, PathCell, Table
from .targets import below
from .unified_diff import unified_diff


def answer_of_result(
    result: Result,
    *,
    target: str,
    undo: str,
    dry_run: bool,
    check: bool = False,
    notes: Sequence[str] = (),
    verbose: bool = False,
) -> CommandAnswer:
    """The moves of a run, or with a dry run the diff.

    :param target: the TARGET of the command; a terminal shows files relative to it
    :param undo: the command line that undoes the change
    :param dry_run: whether the diff is shown instead of the moves
    :param check: whether nothing was written, and the status says whether anything would be
    :param notes: printed last
    :param verbose: whether the notes have hashes
    """
    rows = [(file, move) for file in result.files for move in file.moved]
    table = Table(
        [Column("operator"), Column("from", policy=True), Column("to", policy=True), Column("file", dim=True)],
        [
            (move.name, str(move.before or "-"), str(move.after or "-"), PathCell(below(file.path, target)))
            for file, move in rows
        ],
        lambda: ((move.name, str(move.before or "-"), str(move.after or "-"), file.path) for file, move in rows),
    )

    def blocks() -> list[Block]:
        if dry_run:
            return diffs(result)
        return [table] if rows else []

    told = [*notes_of_result(result, undo, not check, verbose)] if not (dry_run and result.would_change) else []
    return CommandAnswer(
        result.to_dict,
        blocks,
        notes=[*told, *notes],
        status=status_of(result, check),
        paged=False,
    )


def status_of(result: Result, check: bool) -> int:
    """3 if a file was refused, else 1 if ``--check`` found what would change."""
    return 3 if result.refused else int(check and result.would_change)


def diffs(result: Result) -> list[Block]:
    texts = (unified_diff(file.source, file.patch, file.result, file.is_new) for file in result.files)
    return [Diff(text) for text in texts if text]


def notes_of_result(result: Result, undo: str, writes: bool, verbose: bool) -> Iterator[str]:
    """Yield what was written, and how to undo it; without ``writes`` how many files would be."""
    touched = [file for file in result.files if file.patch]
    if not touched:
        yield "nothing to change"
    elif not writes:
        yield f"{counted(len(touched), 'file')} would change"
    else:
        for file in touched:
            yield f"made {file.path}" if file.is_new else f"wrote {file.path}; backup {file.backup}"
            if verbose:
                yield f"  SHA-256 {file.source.sha256} -> {file.result.sha256}"
        yield f"change {result.change}; undo it with: {undo}"
