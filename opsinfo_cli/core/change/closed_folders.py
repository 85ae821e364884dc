"""Folders that are closed for writing, as those of installed files are (mode 0550), and files that are overwritten in
place: widened, and put back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import Refused
from .file_place import opened, place_of


class Widened(NamedTuple):
    """A folder or file whose mode is widened, and the mode to put back."""

    path: str
    mode: int


def closed_to_owner(paths: Sequence[str]) -> list[Widened]:
    """Return the folders and files of this user that have to be widened to write in them."""
    closed = []
    for path in paths:
        here = os.stat(path)
        mode, is_folder = stat.S_IMODE(here.st_mode), stat.S_ISDIR(here.st_mode)
        needed = stat.S_IWUSR | (stat.S_IXUSR if is_folder else 0)
        is_ours = here.st_uid == os.geteuid() and mode & needed != needed
        if is_ours and not os.access(path, os.W_OK | (os.X_OK if is_folder else 0)):
            closed.append(Widened(path, mode))
    return closed


def _open_mode(closed: Widened, here: os.stat_result) -> int:
    """Return the mode of a folder or file while it is widened."""
    return closed.mode | (stat.S_IRWXU if stat.S_ISDIR(here.st_mode) else stat.S_IWUSR)


@contextmanager
def widened(closed: Sequence[Widened]) -> Iterator[None]:
    """:raises Refused: if the system refuses"""
    try:
        for each in closed:
            try:
                _set_mode(each.path, _open_mode(each, os.stat(each.path)))
            except OSError as error:
                reason = f"cannot open {each.path} for writing: {error.strerror}"
                raise Refused(reason, name="not-written", path=each.path) from None
        yield
    finally:
        put_back(closed)


def put_back(closed: Sequence[Widened]) -> tuple[list[str], list[Widened]]:
    """Put the modes back of what is still widened.

    :returns: the paths of those that were widened, and those whose mode could not be put back
    """
    done, left = [], []
    for each in closed:
        try:
            here = os.stat(each.path)
            if stat.S_IMODE(here.st_mode) == _open_mode(each, here):
                _set_mode(each.path, each.mode)
                done.append(each.path)
        except FileNotFoundError:
            continue
        except (OSError, Refused):
            left.append(each)
    return done, left


def _set_mode(path: str, mode: int) -> None:
    with place_of(path) as place, opened(place.name, folder=place.folder) as descriptor:  # no link that took its place
        os.fchmod(descriptor, mode)
