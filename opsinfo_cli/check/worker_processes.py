"""Divide work among processes; each does its part, sends the results one by one, and exits."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")


def processors() -> int:
    return len(os.sched_getaffinity(0))


def shared(sizes: Sequence[int], work: Callable[[int], T], workers: int) -> Iterator[tuple[int, T]]:
    """Call ``work(index)`` for every index, and yield the results as they arrive.

    The processes are forks, so data read before is shared. If one was killed or failed, the rest of its part is done
    here, where an error can be reported.
    """
    from multiprocessing.connection import wait

    children: dict[Connection[Any, Any], int] = {}
    todo = set(range(len(sizes)))
    try:
        for part in _parts(sizes, workers):
            _begin(part, work, children)
        while children:
            ready = wait(list(children))
            for connection in [each for each in children if each in ready]:
                try:
                    index, done = connection.recv()
                except (EOFError, OSError):
                    _ended(connection, children)
                    continue
                todo.discard(index)
                yield index, done
        for index in sorted(todo):
            yield index, work(index)
    finally:
        for connection, child in list(children.items()):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _ended(connection, children)


def _parts(sizes: Sequence[int], workers: int) -> list[list[int]]:
    """Return balanced parts: the largest task first, each to the part with the least work. Parts keep their order."""
    parts: list[list[int]] = [[] for _ in range(workers)]
    loads = [0] * workers
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        least = loads.index(min(loads))
        parts[least].append(index)
        loads[least] += sizes[index] + 1
    return [sorted(part) for part in parts if part]


def _begin(part: list[int], work: Callable[[int], Any], children: dict[Connection[Any, Any], int]) -> None:
    from multiprocessing.connection import Pipe

    mine, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        for connection in (mine, *children):  # so that a write fails if the parent has exited
            connection.close()
        _child(part, work, theirs)
    theirs.close()
    children[mine] = child


def _child(part: list[int], work: Callable[[int], Any], connection: Connection[Any, Any]) -> NoReturn:
    """Run a part and exit, without closing the parent's files. After an error the remaining results are missing."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        for index in part:
            connection.send((index, work(index)))
        os._exit(0)
    finally:
        os._exit(1)


def _ended(connection: Connection[Any, Any], children: dict[Connection[Any, Any], int]) -> None:
    child = children.pop(connection)
    connection.close()
    os.waitpid(child, 0)
