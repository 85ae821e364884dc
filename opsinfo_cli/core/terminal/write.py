"""What commands that write share: write jobs or a generated file, and answer with what was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import OpsinfoError, quoted
from ..cann.install import root_above
from ..change.fmt import BuildPlan, build_jobs
from ..change.plan import Job, Result, planned
from ..change.scope import scope_of
from ..change.write_settings import WriteSettings
from ..change.writer import write_files
from ..text.source import Source
from .answer import CommandAnswer
from .changes import answer_of_result
from .console import Console
from .params import WriteOptions


def settings_of(writing: WriteOptions) -> WriteSettings:
    return {
        "dry_run": not writing.writes,
        "force": writing.force,
        "wait": writing.wait,
        "in_place": writing.in_place,
        "backup_dir": writing.backup_dir,
        "reason": writing.reason,
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
    result: Result, target: str, writing: WriteOptions, console: Console, undo: str | None = None, **more: Any
) -> CommandAnswer:
    """:param undo: the target of the command line that undoes the change; None for ``target``, or a changed file if
        ``target`` has none
    :param more: as for :func:`answer_of_result`
    """
    paths = [file.path for file in result.files if file.patch]
    try:
        scope = scope_of(target)
        is_inside = any(scope(os.path.realpath(path)) for path in paths)
    except OpsinfoError:
        is_inside = False
    touched = target if is_inside or not paths else paths[0]
    return answer_of_result(
        result,
        target=target,
        undo=undoing(writing, undo or touched),
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


def new_file(path: str, text: str) -> Job:
    return Job(path, BuildPlan(text), start=Source(b"", path))


def would_build(text: str, source: Source) -> Result:
    return Result([planned(Job(source.path, BuildPlan(text)), source)], dry_run=True)


def undoing(writing: WriteOptions, target: str) -> str:
    folder = writing.backup_dir
    words = ["opsinfo", "restore", *(["--backup-dir", folder] if folder else [])]
    return quoted(*words, *(["--"] if target.startswith("-") else []), target)
