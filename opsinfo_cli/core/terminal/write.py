"""What commands that write share: write jobs or a generated file, and answer with what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from ...errors import counted, quoted
from ..cann.install import root_above
from ..change.fmt import BuildPlan, build_jobs
from ..change.plan import Job, Result, planned
from ..change.write_settings import WriteSettings
from ..change.writer import write_files
from ..text.source import Source
from .answer import Block, Column, CommandAnswer, Diff, PathCell, Table
from .console import Console
from .params import WriteOptions
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


def settings_of(writing: WriteOptions) -> WriteSettings:
    return {
        "dry_run": not writing.writes,
        "force": writing.force,
        "wait": writing.wait,
        "in_place": writing.in_place,
        "backup_dir": writing.backup_dir,
        "reason": writing.reason,
        "command": click.get_current_context().obj or (),
    }


def write_jobs(kind: str, jobs: Sequence[Job], writing: WriteOptions, console: Console) -> Result:
    """Change files as one change, or return what would change, and report both.

    :param kind: the command, for the record
    """
    return report_change(write_files(kind, jobs, settings_of(writing), console.warn), writing, console)


def report_change(result: Result, writing: WriteOptions, console: Console) -> Result:
    """Report the files that were refused, and what a change means for others."""
    for error in result.refused:
        console.failure_text(error)
    if result.change and any(root_above(file.path) for file in result.files if not file.is_new):
        console.note(
            "this changes an installed library: every network on this machine is affected; "
            "the recommended way is a mixlist (`opsinfo explain mixlists`)"
        )
    if result.change and writing.in_place and not result.files[0].is_new:
        console.note("the file was overwritten in place, which is not atomic; the backup is safe")
    return result


def answer_of_target(
    result: Result, target: str, writing: WriteOptions, console: Console, **more: Any
) -> CommandAnswer:
    """:param more: as for :func:`answer_of_result`"""
    return answer_of_result(
        result,
        target=target,
        undo=undoing(writing, result.change),
        dry_run=writing.dry_run,
        check=writing.check,
        verbose=bool(console.verbose),
        **more,
    )


def write_generated(
    kind: str,
    out: str,
    text: str,
    sources: Sequence[Source],
    writing: WriteOptions,
    console: Console,
    require: Callable[[Source], None] | None = None,
) -> Result:
    """Write a text to ``out``, or return what would change. A file that already has the text is not written.

    :param sources, require: as for :func:`.build_jobs`
    """
    return write_jobs(kind, build_jobs(out, text, sources, require), writing, console)


def would_build(text: str, source: Source) -> Result:
    return Result([planned(Job(source.path, BuildPlan(text)), source)], dry_run=True)


def undoing(writing: WriteOptions, change: str | None) -> str:
    """Return the command line that undoes a change; empty if there is none."""
    if change is None:
        return ""
    vault = ["--backup-dir", writing.backup_dir] if writing.backup_dir else []
    return quoted("opsinfo", "restore", *vault, *(["--in-place"] if writing.in_place else []), change)
