"""The metadata of a file: owner and group, extended attributes, mode. A replaced file keeps them."""

from __future__ import annotations

import errno
import os

from ..errors import Refused
from .filesystem import FileSystem


def dress(fs: FileSystem, descriptor: int, path: str, here: os.stat_result) -> None:
    """Copy owner and group, extended attributes (ACLs, labels) and mode from the old file to the new one."""
    mine = fs.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (here.st_uid, here.st_gid):
        _keep_owner(fs, descriptor, path, here)
    original = fs.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _copy_xattrs(fs, descriptor, original)
    finally:
        fs.close(original)
    fs.fchmod(descriptor, here.st_mode & 0o7777)


def _keep_owner(fs: FileSystem, descriptor: int, path: str, here: os.stat_result) -> None:
    user, group = here.st_uid, here.st_gid
    try:
        fs.fchown(descriptor, user, group)
    except PermissionError:
        raise Refused(
            f"the file's owner and group ({user}:{group}) could not be kept",
            name="owner-not-kept",
            path=path,
            hint="run the command as root, or as a user who is in that group",
        ) from None


def _copy_xattrs(fs: FileSystem, descriptor: int, original: int) -> None:
    try:
        wanted = {name: fs.getxattr(original, name) for name in fs.listxattr(original)}
        present = {name: fs.getxattr(descriptor, name) for name in fs.listxattr(descriptor)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return
        raise
    for name in present.keys() - wanted.keys():
        fs.removexattr(descriptor, name)
    for name, value in wanted.items():
        if present.get(name) != value:
            fs.setxattr(descriptor, name, value)
