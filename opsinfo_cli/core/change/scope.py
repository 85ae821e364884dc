"""The files that a command of the vault is about."""

from __future__ import annotations

import errno
import os
import stat

from ...opening import is_below, unreadable
from ..cann.target import resolve
from ..cann.targets.chip import may_be_chip
from ..cann.targets.found import TargetOptions
from .file_place import real_path
from .vault import Scope


def scope_of(target: str | None) -> Scope:
    """Return whether a real path is one of a TARGET of a vault command; files may be damaged or missing.

    :raises Refused: if the kind of the path cannot be determined
    """
    if target is None:
        return lambda _: True
    is_folder = _is_folder(target)
    real = real_path(target)
    if is_folder:
        return lambda path: is_below(path, real)
    is_chip = not os.path.lexists(target) and os.path.isdir(target.rpartition("@")[0])
    if not is_chip and (os.path.lexists(target) or not may_be_chip(target)):
        return lambda path: path == real
    folders = set(map(os.path.realpath, resolve(target, TargetOptions(), os.environ).folders))
    return lambda path: os.path.dirname(path) in folders


def _is_folder(path: str) -> bool:
    """:raises Refused: if the disk fails, so that the answer is unknown"""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except ValueError:  # a NUL character cannot be in a path
        return False
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            return False
        raise unreadable(error, path) from None
