"""What commands that write share: write jobs or a generated file, and answer with what was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import quoted
from ..cann.install import root_above
from ..change.fmt import BuildPlan, build_jobs
from ..change.plan import Job, Result, planned
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


def new_file(path: str, text: str) -> Job:
    return Job(path, BuildPlan(text), start=Source(b"", path))


def would_build(text: str, source: Source) -> Result:
    return Result([planned(Job(source.path, BuildPlan(text)), source)], dry_run=True)


def undoing(writing: WriteOptions, change: str | None) -> str:
    """Return the command line that undoes a change; empty if there is none."""
    if change is None:
        return ""
    vault = ["--backup-dir", writing.backup_dir] if writing.backup_dir else []
    return quoted("opsinfo", "restore", *vault, *(["--in-place"] if writing.in_place else []), change)
