"""The request to change one file, and the result."""

from __future__ import annotations

from typing import NamedTuple

from ..text.patch import Patch
from ..text.source import Source
from .moves import Move, Plan


class Job(NamedTuple):
    """One file to change: the path as given, and the plan.

    :param seen: the text as the command read it; it is not parsed again if the file is unchanged
    """

    path: str
    plan: Plan
    seen: Source | None = None

    def source(self, data: bytes) -> Source:
        return self.seen if self.seen and self.seen.equals(data) else Source(data, self.path)


class FileResult(NamedTuple):
    """The change, done or planned, of one file."""

    path: str
    source: Source
    patch: Patch
    result: Source
    moved: list[Move]
    stayed: list[str]
    backup: str | None = None
    is_new: bool = False


class Result(NamedTuple):
    """The changes of all files. ``change`` is None if nothing was written."""

    files: list[FileResult]
    change: str | None = None

    @property
    def would_change(self) -> bool:
        return any(file.patch for file in self.files)


def planned(job: Job, source: Source) -> FileResult:
    """Apply the plan to a text, and prove the result."""
    moves = job.plan.moves(source)
    patch = job.plan.patch(source)
    result = Source(patch.apply(source), source.path) if patch else source
    if patch:
        job.plan.prove(source, result)
    moved = [move for move in moves if patch and (move.before is None or move.before is not move.after)]
    names = {move.name for move in moved}
    return FileResult(job.path, source, patch, result, moved, [move.name for move in moves if move.name not in names])
