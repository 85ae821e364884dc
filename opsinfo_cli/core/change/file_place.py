"""The place of a file: a real path, and a descriptor of its folder.

Files are reached through the descriptor, so that a link put in the folder's place meanwhile has no effect.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ...errors import Refused, quoted
from ...opening import no_folder, unreadable

SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class FilePlace(NamedTuple):
    """A real path, and a descriptor of its folder."""

    path: str
    folder: int

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


def real_path(path: str) -> str:
    """:raises Refused: if the path is relative and the current folder was removed"""
    try:
        return os.path.realpath(path)
    except FileNotFoundError:
        raise no_folder() from None


def missing_folder(path: str) -> Refused:
    """Return the error for a file that cannot be made because its folder does not exist."""
    hint = f"create the directory first: `mkdir -p {quoted(os.path.dirname(path))}`"
    return Refused("cannot write: its directory does not exist", name="not-written", path=path, hint=hint)


def open_folder(folder: str) -> int:
    """Return a descriptor of a real folder.

    :raises Refused: if it cannot be opened, or a folder on the way to it was replaced by a link
    """
    try:
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError:  # files may be written in a folder that cannot be listed
            descriptor = os.open(folder, getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(error, folder) from None
    place = folder
    with suppress(OSError):
        place = os.readlink(f"/proc/self/fd/{descriptor}")
    if place != folder:
        os.close(descriptor)
        message = f"the folder was replaced while opsinfo ran: it is now {place}"
        hint = "check who replaced it, then run the command again"
        raise Refused(message, name="stale", path=folder, hint=hint)
    return descriptor


@contextmanager
def place_of(path: str) -> Iterator[FilePlace]:
    """Hold the folder of a real path, without a lock."""
    folder = open_folder(os.path.dirname(path))
    try:
        yield FilePlace(path, folder)
    finally:
        os.close(folder)


@contextmanager
def opened(name: str, flags: int = os.O_RDONLY, folder: int | None = None) -> Iterator[int]:
    """Hold a descriptor of a file or folder, without following a link or waiting for a pipe.

    :param folder: of the name, if it is not a path
    """
    descriptor = os.open(name, flags | SAFE, 0o600, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
