"""Folders that are closed for writing, as those of installed files are (mode 0550): widened, and put back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import Refused
from .file_place import place_of


class Widened(NamedTuple):
    """A folder whose mode is widened, and the mode to put back."""

    path: str
    mode: int


def closed_folders(folders: Sequence[str]) -> list[Widened]:
    """Return the folders of this user that have to be widened to write in them."""
    closed = []
    for folder in folders:
        here = os.stat(folder)
        mode, needed = stat.S_IMODE(here.st_mode), stat.S_IWUSR | stat.S_IXUSR
        is_ours = here.st_uid == os.geteuid() and mode & needed != needed
        if is_ours and not os.access(folder, os.W_OK | os.X_OK):
            closed.append(Widened(folder, mode))
    return closed


@contextmanager
def widened(folders: Sequence[Widened]) -> Iterator[None]:
    """:raises Refused: if the system refuses"""
    try:
        for folder in folders:
            try:
                _set_mode(folder.path, folder.mode | stat.S_IRWXU)
            except OSError as error:
                reason = f"cannot open the folder for writing: {error.strerror}"
                raise Refused(reason, name="not-written", path=folder.path) from None
        yield
    finally:
        put_back(folders)


def put_back(folders: Sequence[Widened]) -> tuple[list[str], list[Widened]]:
    """Put the modes back of the folders that are still widened.

    :returns: the paths of those that were widened, and the folders whose mode could not be put back
    """
    closed, left = [], []
    for folder in folders:
        try:
            if stat.S_IMODE(os.stat(folder.path).st_mode) == folder.mode | stat.S_IRWXU:
                _set_mode(folder.path, folder.mode)
                closed.append(folder.path)
        except FileNotFoundError:
            continue
        except (OSError, Refused):
            left.append(folder)
    return closed, left


def _set_mode(folder: str, mode: int) -> None:
    with place_of(os.path.join(folder, "")) as place:  # a link that took its place is refused
        os.fchmod(place.folder, mode)
