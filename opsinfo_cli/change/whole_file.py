"""Write a whole file: a temp file beside it, then a rename. Readers see the old file or the new one."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

from .filesystem import FileSystem
from .liveness import is_held, process_lives

_TEMP = re.compile(r"\.opsinfo-([0-9]+)-[0-9a-f]+\.tmp")


class Durability(Enum):
    """The guarantee after a power cut."""

    NONE = "none"
    """None: readers accept any content (a cache)."""
    CONTENT = "content"
    """The old file or the new one, whole (a report)."""
    FULL = "full"
    """The new file, if the call returns that the disk confirmed it (a library, a backup)."""


def write_whole(
    fs: FileSystem,
    path: str,
    data: bytes,
    durability: Durability,
    *,
    mode: int = 0o600,
    is_new: bool = False,
    finish: Callable[[int], None] | None = None,
    check: Callable[[], None] | None = None,
) -> bool:
    """Write a file as a whole. A link at its place is replaced, not followed.

    :param is_new: whether to fail if the file exists
    :param finish: sets owner, mode and attributes of the temp file while it is still private
    :param check: called right before the rename; an exception stops the write
    :returns: whether the disk confirmed it, if that was requested; if not, it is written nevertheless
    :raises OSError: if it is not written; FileExistsError if ``is_new`` and it exists
    """
    temp = temp_beside(path)
    descriptor, is_ours = None, True  # a signal may come between the creation and the assignment
    try:
        try:
            descriptor = fs.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        except OSError:
            is_ours = False
            raise
        _fill(fs, descriptor, data, durability, finish)
        if check:
            check()
        _put(fs, temp, path, is_new)
    except BaseException:
        if is_ours:
            with suppress(OSError):
                fs.unlink(temp)
        raise
    finally:
        if descriptor is not None:
            with suppress(OSError):  # after the sync, closing cannot fail
                fs.close(descriptor)
    return durability is not Durability.FULL or sync_folder(fs, os.path.dirname(path))


def _fill(fs: FileSystem, temp: int, data: bytes, durability: Durability, finish: Callable[[int], None] | None) -> None:
    with suppress(OSError):  # without locks, the process id in the name says whose temp it is
        fs.flock(temp, fcntl.LOCK_EX | fcntl.LOCK_NB)
    write_all(fs, temp, data)
    if finish:
        finish(temp)
    if durability is not Durability.NONE:
        fs.fsync(temp)


def _put(fs: FileSystem, temp: str, path: str, is_new: bool) -> None:
    """Give a temp its name. A new file is linked, because a rename replaces what another process has put there."""
    if not is_new:
        fs.replace(temp, path)
        return
    fs.link(temp, path)
    with suppress(OSError):
        fs.unlink(temp)


def write_all(fs: FileSystem, descriptor: int, data: bytes) -> None:
    """Write all bytes, with as many calls as needed.

    :raises OSError: if the system writes none
    """
    rest = memoryview(data)
    while rest:
        written = fs.write(descriptor, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def sync_folder(fs: FileSystem, folder: str) -> bool:
    """Sync a folder after a rename, and return whether the disk confirmed it. A failed fsync is never repeated."""
    try:
        descriptor = fs.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fs.fsync(descriptor)
        finally:
            fs.close(descriptor)
    except OSError:
        return False
    return True


def temp_beside(path: str) -> str:
    """Return a name for a temp file in the same folder, with the id of this process."""
    return os.path.join(os.path.dirname(path), f".opsinfo-{os.getpid()}-{os.urandom(6).hex()}.tmp")


def remove_leftovers(fs: FileSystem, folder: str) -> None:
    """Remove opsinfo's temp files whose process no longer runs; only SIGKILL or a failing disk leaves one."""
    with suppress(OSError):
        for name in fs.listdir(folder):
            match = _TEMP.fullmatch(name)
            path = os.path.join(folder, name)
            if match and not process_lives(int(match[1])):
                with suppress(OSError):
                    # a second link: the new file exists already, and its lock is the temp file's lock too
                    if fs.lstat(path).st_nlink > 1 or not is_held(fs, path):
                        fs.unlink(path)
