"""Who else may put something at a path that is written: owners, modes and access lists of what lies on the way."""

from __future__ import annotations

import grp
import os
import pwd
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress

from ...errors import Refused
from ...opening import system_failed

# Source: linux/posix_acl.h, linux/posix_acl_xattr.h
_ACL_USER, _ACL_GROUP_OF_FOLDER, _ACL_GROUP = 0x02, 0x04, 0x08
_ACL_GROUPS = (_ACL_GROUP_OF_FOLDER, _ACL_GROUP)
_MAY_WRITE = 0x02

_MOST_LINKS = 40  # as the kernel; path_resolution(7)


def require_trusted(
    given: str,
    real: str | None,
    hint: str = "run the command as the file's owner, or with --force if you trust that user",
) -> None:
    """Refuse to write where another user may lead the write to a file of their choice.

    Nobody follows a link that another user put into a folder that others may write, as the kernel's
    ``protected_symlinks``, which may be off, or blind to folders that are not sticky. Root does not write below a
    folder that others may change, either: an ordinary user works in the folders of a team.

    :param given: the path as given
    :param real: the real path, whose owner may change its folders; None if only this user may
    :raises Refused: if there is such a folder or link on the way
    """
    own = os.geteuid()
    try:
        named = _danger_on_the_way(given, real, own)
    except OSError as error:
        raise system_failed(error) from None
    if named:
        writer = "root writes" if own == 0 else "you write"
        message = f"another user may replace this file while {writer} it: {named}"
        raise Refused(message, name="folder-not-trusted", path=given, hint=hint)


def _danger_on_the_way(given: str, real: str | None, own: int) -> str | None:
    """Return the first folder or link on the way to a path that is not trusted, and why."""
    owner = own
    if real is not None:
        owner = os.stat(real if os.path.exists(real) else os.path.dirname(real)).st_uid
    for folder, link in _way(given):
        danger = _danger(folder, {0, owner}) if own == 0 else None
        if danger:
            return f"{folder} {danger}"
        if link:
            there, here = os.lstat(link), os.lstat(folder)
            trusted = {0, own, here.st_uid}
            if there.st_uid not in trusted and _open_to(folder, here, trusted):
                return f"the link {link} belongs to user {there.st_uid}"
    return None


def _way(path: str) -> Iterator[tuple[str, str | None]]:
    """Yield each folder in which the kernel looks up a part of a path, and the link that it finds there, if any."""
    folder, links = "/", 0
    parts = os.path.join(os.getcwd(), path).split("/")[::-1]
    while parts:
        part = parts.pop()
        if part == "..":
            folder = os.path.dirname(folder)
        if part in ("", ".", ".."):
            continue
        place = os.path.join(folder, part)
        try:
            target = os.readlink(place)
        except OSError:  # no link, or nothing yet
            yield folder, None
            if not os.path.isdir(place):  # the file; what is below a folder that is missing is refused elsewhere
                return
            folder = place
            continue
        yield folder, place
        links += 1
        if links > _MOST_LINKS:
            return
        parts += target.split("/")[::-1]
        folder = "/" if target.startswith("/") else folder


def _danger(folder: str, trusted: set[int]) -> str | None:
    """Return why a user who is not trusted may put another file in the place of one in the folder."""
    here = os.lstat(folder)
    if here.st_uid not in trusted:
        return f"belongs to user {here.st_uid}"
    if here.st_mode & stat.S_ISVTX:  # only owners may rename or remove its files
        return None
    return _open_to(folder, here, trusted)


def _open_to(folder: str, here: os.stat_result, trusted: set[int]) -> str | None:
    """Return which others may make files in the folder; None if only those that are trusted may."""
    if here.st_mode & stat.S_IWOTH:
        return "can be written by everybody"
    if not here.st_mode & stat.S_IWGRP:  # with an access list: no entry of it but the owner's may write
        return None
    access = b""
    with suppress(OSError):
        access = os.getxattr(folder, "system.posix_acl_access")
    if not access:
        return None if _members(here.st_gid) <= trusted else f"can be written by group {here.st_gid}"
    for tag, permissions, number in struct.iter_unpack("<HHI", access[4:]):
        if permissions & _MAY_WRITE and tag == _ACL_USER and number not in trusted:
            return f"can be written by user {number}, as its access list says"
        group = here.st_gid if tag == _ACL_GROUP_OF_FOLDER else number
        if permissions & _MAY_WRITE and tag in _ACL_GROUPS and not _members(group) <= trusted:
            return f"can be written by group {group}, as its access list says"
    return None


def _members(group: int) -> set[int]:
    """Return the users of a group; -1 for a group that the system does not know."""
    if group == 0:
        return {0}
    try:
        named = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(group).gr_mem}
    except KeyError:
        return {-1}
    return named | {user.pw_uid for user in pwd.getpwall() if user.pw_gid == group}
