"""Checks of all files under some paths, by several processes if that is faster, with the same report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..errors import OpsinfoError, Refused, UsageFault
from ..text.source import read_bytes
from .check_tasks import Task, tasks_in
from .checker import Checker
from .finding import Outcome
from .worker_processes import processors, shared

Step = Callable[[int, int], None]
"""Called with the number of tasks done and the total."""

_WORTH_SHARING = 4 << 20
"""The bytes outside the largest task from which a second process saves time."""


class Part(NamedTuple):
    """The outcome of one task, as sent between processes."""

    outcome: Outcome
    saw_mixlist: bool


def check_paths(checker: Checker, paths: list[str], step: Step = lambda done, total: None) -> None:
    """Check files, stores and trees. One that cannot be read is recorded as a failure; the others are still checked.

    A path with nothing to check is a failure too.
    """
    tasks: list[Task] = []
    given: list[tuple[str, range]] = []
    unwalked: list[OpsinfoError] = []
    for path in paths:
        first, before = len(tasks), len(unwalked)
        tasks += tasks_in(path, lambda error: unwalked.append(_cannot_walk(error)))
        if len(unwalked) == before:
            given.append((path, range(first, len(tasks))))
    checker.failures.extend(unwalked)
    parts: dict[int, Part] = {}
    for index, part in _worked(checker, tasks):
        parts[index] = part
        step(len(parts), len(tasks))
    for index in range(len(tasks)):
        part = parts[index]
        checker.outcome.extend(part.outcome)
        checker.saw_mixlist |= part.saw_mixlist
    for path, indexes in given:
        if not any(parts[index].outcome.is_about_something for index in indexes):
            checker.failures.append(_nothing_to_check(path))


def _worked(checker: Checker, tasks: list[Task]) -> Iterator[tuple[int, Part]]:
    """Yield the outcome of each task, in any order."""
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
            if task.kind == "file":
                alone.given(task.path, data)
            elif not alone.found(task.path, data):
                alone.outcome.passed_over.append(task.path)
    return Part(alone.outcome, alone.saw_mixlist)


def _nothing_to_check(path: str) -> UsageFault:
    return UsageFault(
        "nothing to check: no mixlist, library or store found here",
        name="nothing-to-check",
        path=path,
        hint="mixlists are found by name (`ops_info*.json`, `*mixlist*.json` ...) or by their lists; -v lists what "
        "was skipped",
    )


def _cannot_walk(error: OSError) -> Refused:
    return Refused(error.strerror or str(error), name="unreadable", path=str(error.filename))
