"""Conditions that are checked before and while files are put in place."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import NotConfirmed, Refused
from .filesystem import FileSystem
from .record import Record
from .replace import Original


def require_replaceable(original: Original) -> None:
    """:raises Refused: if the file may not be replaced, or replacing it would separate it from its hard links"""
    if not stat.S_ISREG(original.stat.st_mode):
        raise Refused("not a regular file", name="not-a-file", path=original.path)
    if original.stat.st_nlink > 1:
        raise Refused(
            f"the file has {original.stat.st_nlink} hard links; replacing it would separate them",
            name="hard-link",
            path=original.path,
            hint="make a separate copy first: cp --preserve=all FILE FILE.own && mv FILE.own FILE",
        )
    if os.geteuid() not in (0, original.stat.st_uid):
        raise Refused(
            f"the file belongs to user {original.stat.st_uid}; only its owner or root may change it",
            name="not-owner",
            path=original.path,
            hint="run the command as its owner, or use a mixlist, which needs no access to the library",
        )


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer signals while files are put in place, which takes milliseconds."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def real_path(path: str) -> str:
    """:raises Refused: if the path is relative and the working directory was removed"""
    try:
        return os.path.realpath(path)
    except FileNotFoundError:
        raise Refused("the working directory no longer exists", name="unreadable", path=path) from None


def require_absent(fs: FileSystem, path: str) -> None:
    """:raises Refused: if the path exists already"""
    with suppress(OSError):
        fs.lstat(path)
        raise Refused("the file exists already", name="exists", path=path)


def require_confirmed(confirmed: bool, record: Record, path: str) -> None:
    if not confirmed:
        raise NotConfirmed(
            f"written as change {record.id}, but the disk did not confirm it: durability is not certain",
            path=path,
            hint="check the disk; the backup is safe",
        )
