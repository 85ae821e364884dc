"""How files are opened for reading, and what a path may lead to.

A path that the user names is followed wherever it leads. A name that a model, a tree or a run folder contains is
followed inside its folder only, and is opened without following links.
"""

from __future__ import annotations

import os
import stat
from typing import IO

from .errors import Refused

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a FIFO must not wait for a writer


def open_file(path: str) -> IO[bytes]:
    """Open a regular file that the user names.

    :raises Refused: if it does not exist, is not regular, or cannot be read
    """
    try:
        return _regular(os.open(path, _READ), path)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        raise _unreadable(error, path) from None


def open_inside(folder: str, name: str) -> IO[bytes]:
    """Open a regular file that a file in ``folder`` names; links may lead to other places in the folder only.

    :param name: a path relative to the folder
    :raises Refused: if it is outside the folder, does not exist, is not regular, or cannot be read
    """
    path = os.path.join(folder, name)
    try:
        top = os.path.realpath(folder)
        real = os.path.realpath(os.path.join(top, name))
        if not name or os.path.isabs(name) or os.path.commonpath([top, real]) != top or real == top:
            raise Refused(f"the file is outside the folder `{folder}`", name="outside", path=path)
        descriptor = os.open(top, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:  # part by part: a folder that becomes a link meanwhile is not followed
            *folders, last = os.path.relpath(real, top).split("/")
            for part in folders:
                inner = os.open(part, _READ | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            return _regular(os.open(last, _READ | os.O_NOFOLLOW, dir_fd=descriptor), path)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise _unreadable(error, path) from None


def _regular(descriptor: int, path: str) -> IO[bytes]:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        hint = "write what comes from the pipe to a file first" if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else None
        os.close(descriptor)
        raise Refused("not a regular file", name="not-a-file", path=path, hint=hint)
    return open(descriptor, "rb")


def _unreadable(error: Exception, path: str) -> Refused:
    return Refused(getattr(error, "strerror", None) or str(error), name="unreadable", path=path)
