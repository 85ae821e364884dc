"""Hold folders by descriptors while files in them are changed, and check whether root may trust them.

The path is walked from ``/`` one name at a time, and no link is followed: a real path has none. Afterwards swapping
a folder for a link has no effect, since every call goes through the descriptor.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ..errors import Refused
from .filesystem import FileSystem


class _Step(NamedTuple):
    """A folder on the path to a file, and its access list, if it has one."""

    path: str
    stat: os.stat_result
    has_acl: bool


@contextmanager
def held(fs: FileSystem, paths: Iterable[str], trusts: bool) -> Iterator[None]:
    """Hold the folders of real paths.

    :param trusts: whether root skips the check for other users who may write in them
    :raises Refused: if a folder cannot be entered, became a link, or root must not trust it
    """
    added: list[str] = []
    try:
        for path in sorted(set(paths)):
            folder = os.path.dirname(path)
            if folder in fs.held:
                continue
            descriptor, steps = _walk(fs, path, folder)
            fs.held[folder] = descriptor
            added.append(folder)
            if os.geteuid() == 0 and not trusts:
                require_trusted(path, steps, _owner(fs, path, steps))
        yield
    finally:
        for folder in added:
            with suppress(OSError):
                fs.close(fs.held.pop(folder))


def _walk(fs: FileSystem, path: str, folder: str) -> tuple[int, list[_Step]]:
    here, steps = "/", []
    descriptor: int | None = None
    try:
        descriptor = fs.enter("/", None)
        steps.append(_step(fs, here, descriptor))
        for name in filter(None, folder.split("/")):
            below = fs.enter(name, descriptor)
            fs.close(descriptor)
            descriptor, here = below, os.path.join(here, name)
            steps.append(_step(fs, here, descriptor))
    except OSError as error:
        if descriptor is not None:
            with suppress(OSError):
                fs.close(descriptor)
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.lexists(os.path.join(here, name)):
            raise Refused(
                f"{os.path.join(here, name)} is no longer a folder: it was replaced while opsinfo ran",
                name="stale",
                path=path,
                hint="check who replaced it, then run the command again",
            ) from None
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    return descriptor, steps


def _step(fs: FileSystem, path: str, descriptor: int) -> _Step:
    here = fs.fstat(descriptor)
    # only root checks this; the rights of an ACL appear in the mode as those of the group
    has_acl = os.geteuid() == 0 and bool(here.st_mode & stat.S_IWGRP) and _has_acl(descriptor)
    return _Step(path, here, has_acl)


def _has_acl(descriptor: int) -> bool:
    try:
        return "system.posix_acl_access" in os.listxattr(f"/proc/self/fd/{descriptor}")
    except OSError:
        return False


def _owner(fs: FileSystem, path: str, steps: list[_Step]) -> int:
    """Return the owner of the file, or of the folder if the file does not exist."""
    try:
        return fs.lstat(path).st_uid
    except OSError:
        return steps[-1].stat.st_uid


def require_trusted(path: str, steps: Iterable[_Step], owner: int) -> None:
    """:raises Refused: if a user who is neither root nor the file's owner may put another file at its place"""
    trusted = {0, owner}
    for step in steps:
        reason = _danger(step, trusted)
        if reason:
            raise Refused(
                f"another user may replace this file while root writes it: {step.path} {reason}",
                name="folder-not-trusted",
                path=path,
                hint="run the command as the file's owner, or with --trust-folder if you trust that user",
            )


def _danger(step: _Step, trusted: set[int]) -> str | None:
    mode = step.stat.st_mode
    if step.stat.st_uid not in trusted:
        return f"belongs to {_user(step.stat.st_uid)}"
    if mode & stat.S_ISVTX:  # only owners may rename or remove its files
        return None
    if mode & stat.S_IWOTH:
        return "can be written by everybody"
    if mode & stat.S_IWGRP and (step.has_acl or not _is_private(step.stat.st_gid, trusted)):
        return f"can be written by group {_group(step.stat.st_gid)}"
    return None


def _is_private(group: int, trusted: set[int]) -> bool:
    """Return whether a group has only trusted users; False for a group that the system does not know."""
    if group == 0:
        return True
    try:
        members = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(group).gr_mem}
    except KeyError:
        return False
    members |= {user.pw_uid for user in pwd.getpwall() if user.pw_gid == group}
    return members <= trusted


def _user(number: int) -> str:
    try:
        return f"user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
