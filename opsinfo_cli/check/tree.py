"""Checking everything under some paths, by several processes where that pays; the report is the same either way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, Refused
from ..model.kind import is_marked
from ..text.source import Source, read_bytes
from .finding import Outcome
from .share import processors, shared
from .walk import Task, tasks_in

if TYPE_CHECKING:
    from .run import Checker

__all__ = ["Step", "check_paths"]

Step = Callable[[int, int], None]
"""Hears how many of how many are done."""

_WORTH_SHARING = 4 << 20
"""Bytes beside the largest task from which on a second process earns what its start costs."""


class Part(NamedTuple):
    """What came of one task, as it travels between processes."""

    outcome: Outcome
    saw_mixlist: bool


def check_paths(checker: Checker, paths: list[str], step: Step) -> None:
    """Files, stores and trees. One that cannot be read is noted and hides nothing."""
    tasks: list[Task] = []
    for path in paths:
        tasks += tasks_in(path, lambda error: checker.failures.append(_cannot_walk(error)))
    parts: dict[int, Part] = {}
    for index, part in _worked(checker, tasks):
        parts[index] = part
        step(len(parts), len(tasks))
    for index in range(len(tasks)):
        part = parts[index]
        checker.outcome.findings += part.outcome.findings
        checker.outcome.files += part.outcome.files
        checker.outcome.failures += part.outcome.failures
        checker.saw_mixlist |= part.saw_mixlist


def _worked(checker: Checker, tasks: list[Task]) -> Iterator[tuple[int, Part]]:
    """What comes of each task, in any order."""
    sizes = [task.size for task in tasks] if len(tasks) > 1 else [0]
    if sum(sizes) - max(sizes) < _WORTH_SHARING or processors() < 2:
        return ((index, _done(checker, task)) for index, task in enumerate(tasks))
    return shared(sizes, lambda index: _done(checker, tasks[index]), min(processors(), len(tasks)))


def _done(checker: Checker, task: Task) -> Part:
    alone = checker.alone()
    if task.kind == "store":
        alone.store(task.path)
    else:
        try:
            data = read_bytes(task.path)
        except Refused as error:
            alone.failures.append(error)
        else:
            if task.kind == "file" or _is_taken(task.path, data):
                alone.given(task.path, data)
    return Part(alone.outcome, alone.saw_mixlist)


def _is_taken(path: str, data: bytes) -> bool:
    """Whether a file met on a walk is ours: only where its text or name says what it is."""
    try:
        return is_marked(Source(data, path))
    except Damaged:
        return False


def _cannot_walk(error: OSError) -> Refused:
    return Refused(error.strerror or str(error), name="unreadable", path=str(error.filename))
