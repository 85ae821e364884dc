"""Checks whether a process still runs."""

from __future__ import annotations

import errno
import fcntl
import os

from .filesystem import FileSystem

_BUSY = (errno.EAGAIN, errno.EWOULDBLOCK)


def process_lives(pid: int) -> bool:
    """Return whether a process of this PID namespace runs. For other namespaces use :func:`is_held`."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def is_held(fs: FileSystem, path: str) -> bool:
    """Return whether a process of any namespace or user holds the lock (``flock``) of a file.

    A file of opsinfo is locked by its writer, so this also shows whether the writer runs. False for a link, because
    opsinfo makes none. True if the file cannot be opened.
    """
    try:
        descriptor = fs.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENXIO)
    try:
        fs.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _BUSY
    finally:
        fs.close(descriptor)
    return False
