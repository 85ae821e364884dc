"""Locks on the real files, so that no lock file has to be removed."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from ..errors import Locked, Refused
from .filesystem import FileSystem

FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.2  # seconds
_BUSY = (errno.EAGAIN, errno.EWOULDBLOCK)


@contextmanager
def locked(fs: FileSystem, paths: Iterable[str], wait: float, operation: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold ``flock`` on every real path, files or folders, in the same order in every process.

    :param wait: seconds to wait in total
    :raises Locked: if another process holds a lock; names the process if known
    :raises Refused: if the file system cannot lock
    """
    deadline = time.monotonic() + wait
    held: list[int] = []
    try:
        for path in sorted(set(paths)):
            held.append(_lock(fs, path, operation, deadline))
        yield
    finally:
        for descriptor in held:
            _close(fs, descriptor)


def _lock(fs: FileSystem, path: str, operation: int, deadline: float) -> int:
    while True:
        descriptor = _open(fs, path)
        try:
            _acquire(fs, descriptor, path, operation, deadline)
            if _same_file(fs, descriptor, path):
                return descriptor
        except OSError as error:
            _close(fs, descriptor)
            raise _no_lock(error, path) from None
        except BaseException:
            _close(fs, descriptor)
            raise
        _close(fs, descriptor)  # another process replaced the file while this one waited: lock the new one


def _acquire(fs: FileSystem, descriptor: int, path: str, operation: int, deadline: float) -> None:
    """Try until the lock is held.

    :raises Locked: if another process holds it when the deadline has passed
    :raises OSError: if the file system cannot lock
    """
    pause = FIRST_PAUSE
    while True:
        try:
            fs.flock(descriptor, operation | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in _BUSY:
                raise
        if time.monotonic() >= deadline:
            raise Locked(
                f"another process holds {'the file' if operation == fcntl.LOCK_EX else 'the vault'}"
                f"{_owner(fs, descriptor)}",
                path=path,
                hint="wait for it, or set a longer time with --wait SECONDS",
            )
        pause = paused(pause, deadline)


def _close(fs: FileSystem, descriptor: int) -> None:
    with suppress(OSError):  # only read: closing it only releases the lock
        fs.close(descriptor)


def paused(pause: float, deadline: float) -> float:
    """Sleep before the next try, at most until a deadline.

    :returns: the next pause, in seconds
    """
    time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
    return min(2 * pause, _LONGEST_PAUSE)


def _no_lock(error: OSError, path: str) -> Refused:
    if error.errno in (errno.ENOENT, errno.ESTALE):
        return Refused(error.strerror or str(error), name="unreadable", path=path)
    return Refused(
        f"the file system refuses to lock the file: {error.strerror}",
        name="no-lock",
        path=path,
        hint="without flock, concurrent writers are not safe on this file system",
    )


def _open(fs: FileSystem, path: str) -> int:
    try:
        return fs.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None


def _same_file(fs: FileSystem, descriptor: int, path: str) -> bool:
    mine, now = fs.fstat(descriptor), fs.stat(path)
    return (mine.st_dev, mine.st_ino) == (now.st_dev, now.st_ino)


def _owner(fs: FileSystem, descriptor: int) -> str:
    """Return text about the process that holds the lock, from ``/proc/locks``; empty if it is not visible."""
    try:
        here = fs.fstat(descriptor)
        device = f"{os.major(here.st_dev):02x}:{os.minor(here.st_dev):02x}:{here.st_ino}"
        with open("/proc/locks", encoding="utf-8") as locks:
            owners = [fields[4] for fields in map(str.split, locks) if len(fields) > 5 and fields[5] == device]
        with open(f"/proc/{owners[0]}/comm", encoding="utf-8", errors="replace") as comm:
            return f": process {owners[0]} ({comm.read().strip()})"
    except (OSError, IndexError):
        return ""
