"""Who else may put something at a path that root writes: owners, modes and access lists of the folders on the way."""

from __future__ import annotations

import grp
import os
import pwd
import stat
import struct
from contextlib import suppress

from ...errors import Refused
from ...opening import folders_above

# Source: linux/posix_acl.h, linux/posix_acl_xattr.h
_ACL_USER, _ACL_GROUP_OF_FOLDER, _ACL_GROUP = 0x02, 0x04, 0x08
_ACL_GROUPS = (_ACL_GROUP_OF_FOLDER, _ACL_GROUP)
_MAY_WRITE = 0x02


def require_trusted(
    given: str, real: str, hint: str = "run the command as the file's owner, or with --force if you trust that user"
) -> None:
    """Refuse to write as root where another user may put something else at the path.

    :param given: the path as given; the folders of links in it count too
    :raises Refused: if a folder on the way can be written by a user who is neither root nor the file's owner
    """
    if os.geteuid() != 0:
        return
    owner = os.stat(real if os.path.exists(real) else os.path.dirname(real)).st_uid
    folders = {folder for path in (os.path.abspath(given), real) for folder in folders_above(path)}
    for folder in sorted(folders):
        danger = _danger(folder, {0, owner})
        if danger:
            raise Refused(
                f"another user may replace this file while root writes it: {folder} {danger}",
                name="folder-not-trusted",
                path=given,
                hint=hint,
            )


def _danger(folder: str, trusted: set[int]) -> str | None:
    here = os.lstat(folder)
    if here.st_uid not in trusted:
        return f"belongs to user {here.st_uid}"
    if stat.S_ISLNK(here.st_mode) or here.st_mode & stat.S_ISVTX:  # only owners may rename or remove its files
        return None
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
