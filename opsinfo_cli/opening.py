"""How files are opened for reading, and what a path may lead to.

A path that the user names is followed wherever it leads. A name that a model, a tree or a run folder contains is
followed inside its folder only, and is opened without following links.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import IO

from .errors import Refused

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a FIFO must not wait for a writer


def open_file(path: str, tree: str | None = None) -> IO[bytes]:
    """Open a regular file.

    :param tree: the folder in which the path was met; None for a path that the user names
    :raises Refused: if it does not exist, is not regular, cannot be read, or is outside the tree
    """
    try:
        return _regular(os.open(path, _READ) if tree is None else _open_inside(tree, path), path)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        raise unreadable(error, path) from None


def open_inside(folder: str, name: str) -> IO[bytes]:
    """Open a regular file that a file in ``folder`` names; links may lead to other places in the folder only.

    :param name: a path relative to the folder
    :raises Refused: if it is outside the folder, does not exist, is not regular, or cannot be read
    """
    if not name or os.path.isabs(name):
        raise _outside(folder, os.path.join(folder, name))
    return open_file(os.path.join(folder, name), folder)


def real_inside(folder: str, path: str) -> tuple[str, str]:
    """Return the real paths of a folder and of a path that was met in it.

    :raises Refused: if the path is outside the folder
    """
    real = os.path.realpath(path)
    # a folder at the beginning of a real path is real itself; most trees are given so
    top = folder if os.path.isabs(folder) and is_below(real, folder) else os.path.realpath(folder)
    if not is_below(real, top):
        raise _outside(folder, path)
    return top, real


def is_below(path: str, folder: str) -> bool:
    """Return whether a real path is that of something in a real folder, at any depth."""
    return path.startswith(f"{folder.rstrip('/')}/")


def first_file(paths: Iterable[str]) -> str | None:
    """Return the first path that is a file; None if none is."""
    return next(filter(os.path.isfile, paths), None)


def folders_above(path: str) -> Iterator[str]:
    """Yield the folder of an absolute path, then those above it."""
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        yield path


def _open_inside(folder: str, path: str) -> int:
    """Open a path that was met in ``folder`` part by part: what becomes a link meanwhile is not followed.

    :raises Refused: if it is outside the folder
    """
    top, real = real_inside(folder, path)
    descriptor = os.open(top, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        *folders, last = real.removeprefix(f"{top.rstrip('/')}/").split("/")
        for part in folders:
            inner = os.open(part, _READ | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            descriptor, outer = inner, descriptor  # first, so that an interrupt cannot make the end close it twice
            os.close(outer)
        return os.open(last, _READ | os.O_NOFOLLOW, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _outside(folder: str, path: str) -> Refused:
    return Refused(f"the file is outside the folder `{folder}`", name="outside", path=path)


def _regular(descriptor: int, path: str) -> IO[bytes]:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        hint = "write what comes from the pipe to a file first" if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else None
        os.close(descriptor)
        raise Refused("not a regular file", name="not-a-file", path=path, hint=hint)
    return open(descriptor, "rb")


def unreadable(error: Exception, path: str) -> Refused:
    """Return the error for a file or folder that the system does not let opsinfo read."""
    hint = near_file(path) if isinstance(error, FileNotFoundError) else None
    return Refused(getattr(error, "strerror", None) or str(error), name="unreadable", path=path, hint=hint)


def near_file(path: str) -> str | None:
    """Return a hint with files of a similar name in the same folder; None if there are none."""
    from .near_names import did_you_mean

    folder, name = os.path.split(path)
    try:
        near = os.listdir(folder or os.curdir)
    except (OSError, ValueError):
        return None
    return did_you_mean(name, near) if name else None


def has_folder() -> bool:
    """Return whether the current folder still exists."""
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def no_folder() -> Refused:
    """Return the error for a relative path where the current folder was removed."""
    hint = "change to a folder that exists"
    return Refused("the current folder does not exist any more", name="no-folder", hint=hint)


def system_failed(error: OSError) -> Refused:
    """Return the error for a call that the system refused where no other code knows more about it."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None
    return Refused(f"the system failed: {error.strerror or error}", name="system-failed", path=path)
