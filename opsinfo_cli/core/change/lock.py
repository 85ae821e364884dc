"""Locks: ``flock`` on the files, their folders and the vault themselves, so that no lock file has to be removed."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from ...errors import Locked, Refused
from .file_place import SAFE, FilePlace, open_folder

DEFAULT_WAIT = 30.0  # seconds
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1  # seconds


@contextmanager
def places_locked(paths: Iterable[str], deadline: float) -> Iterator[dict[str, FilePlace]]:
    """Hold the locks of real paths and of their folders, in the same order in every process.

    A file that does not exist is locked by its folder alone. The lock of a folder also keeps two runs from putting its
    mode back under each other.

    :param deadline: on the monotonic clock
    :raises Locked: if another process holds a lock; names the process if known
    :raises Refused: if a path cannot be opened, or the file system cannot lock
    """
    paths = set(paths)
    folders: dict[str, int] = {}
    with ExitStack() as held:
        for folder in sorted({os.path.dirname(path) for path in paths}):
            folders[folder] = open_folder(folder)
            held.callback(os.close, folders[folder])
        places = {path: FilePlace(path, folders[os.path.dirname(path)]) for path in paths}
        for path in sorted({*paths, *folders}):
            if path in folders:
                wait_for(folders[path], path, deadline)
                if not _same(os.fstat(folders[path]), path, None):
                    raise Refused("the folder was replaced while opsinfo ran", name="stale", path=path)
            elif (descriptor := _lock(places[path], deadline)) is not None:
                held.callback(os.close, descriptor)
        yield places


def _lock(place: FilePlace, deadline: float) -> int | None:
    while True:
        try:
            descriptor = os.open(place.name, os.O_RDONLY | SAFE, dir_fd=place.folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            name = "stale" if error.errno == errno.ELOOP else "unreadable"
            raise Refused(error.strerror or str(error), name=name, path=place.path) from None
        try:
            wait_for(descriptor, place.path, deadline)
            if _same(os.fstat(descriptor), place.name, place.folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another process replaced the file while this one waited: lock the new one


def _same(locked: os.stat_result, path: str, folder: int | None) -> bool:
    try:
        now = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return (locked.st_dev, locked.st_ino) == (now.st_dev, now.st_ino)


def wait_for(descriptor: int, path: str, deadline: float, what: str = "the file") -> None:
    """Lock an open file or folder exclusively; closing it releases the lock.

    :raises Locked: if another process holds it when the deadline has passed
    :raises Refused: if the file system cannot lock
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno == errno.EBADF:  # the folder could not be opened for reading, only for a look-up
                message = "Permission denied"
                hint = "to write a file there, the folder must be readable and writable for you"
                raise Refused(message, name="not-written", path=path, hint=hint) from None
            if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK):
                message = f"the file system refuses to lock the file: {error.strerror}"
                hint = "without flock, concurrent writers are not safe on this file system"
                raise Refused(message, name="no-lock", path=path, hint=hint) from None
        left = deadline - time.monotonic()
        if left <= 0:
            message = f"another process holds {what}{_owner(descriptor)}"
            hint = "wait for it, or set a longer time with --wait SECONDS"
            raise Locked(message, path=path, hint=hint)
        time.sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _owner(descriptor: int) -> str:
    """Return text about the process that holds the lock, from ``/proc/locks``; empty if it is not visible."""
    try:
        here = os.fstat(descriptor)
        device = f"{os.major(here.st_dev):02x}:{os.minor(here.st_dev):02x}:{here.st_ino}"
        with open("/proc/locks", encoding="utf-8") as locks:
            owners = [fields[4] for fields in map(str.split, locks) if len(fields) > 5 and fields[5] == device]
        with open(f"/proc/{owners[0]}/comm", encoding="utf-8", errors="replace") as comm:
            return f": process {owners[0]} ({comm.read().strip()})"
    except (OSError, IndexError):
        return ""
