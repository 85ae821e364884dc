"""The folders of a vault: their allowed owners, and their creation, which survives a power cut."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from ..errors import Refused
from ..model.file_kind import is_library_name
from .filesystem import FileSystem
from .whole_file import remove_leftovers, sync_folder

FOLDERS = ("objects", "changes", "heads")


def make_folders(fs: FileSystem, path: str) -> None:
    """Create missing folders; the folder of heads is created with the first heads.

    :raises Refused: if the place is in a config directory, belongs to another user, or is open to others
    :raises OSError: if the system refuses, or the disk does not confirm a folder
    """
    real = os.path.realpath(path)
    if _in_config_directory(real):
        raise Refused(
            "a vault must not be in a config directory: the engine reads every JSON file there",
            name="vault-in-store",
            path=path,
            hint="choose another --backup-dir",
        )
    is_new = not os.path.isdir(os.path.join(real, "heads"))
    if is_new:
        _make_parents(fs, os.path.dirname(real))
    for folder in (real, *(os.path.join(real, name) for name in FOLDERS)):
        if not folder.endswith("/heads"):
            with suppress(FileExistsError):
                fs.mkdir(folder, 0o700)
        elif is_new:
            continue
        _require_private(fs, folder)
        remove_leftovers(fs, folder)
    if not sync_folder(fs, real):
        raise OSError(errno.EIO, "the disk does not confirm the vault's folders")
    if is_new:  # the folders above may not have been synced
        _sync_parents(fs, real)


def require_owned(fs: FileSystem, path: str) -> None:
    """:raises Refused: if the vault or a folder in it exists and does not belong to this user"""
    real = os.path.realpath(path)
    for folder in (real, *(os.path.join(real, name) for name in FOLDERS)):
        try:
            _require_ours(fs, folder)
        except FileNotFoundError:
            if folder == real:
                return
        except OSError as error:
            raise Refused(error.strerror or str(error), name="vault-unusable", path=folder) from None


def _require_ours(fs: FileSystem, folder: str) -> os.stat_result:
    here = fs.lstat(folder)
    if not stat.S_ISDIR(here.st_mode) or here.st_uid != os.geteuid():
        raise Refused(
            "the vault's folder is not a directory that belongs to you",
            name="vault-not-ours",
            path=folder,
            hint="run the command as its owner, or choose another --backup-dir",
        )
    return here


def _require_private(fs: FileSystem, folder: str) -> None:
    here = _require_ours(fs, folder)
    if stat.S_IMODE(here.st_mode) & 0o077:
        hint = f"chmod 700 {folder}, or choose a new folder with --backup-dir"
        raise Refused("other users can enter the vault's folder", name="vault-open", path=folder, hint=hint)


def _make_parents(fs: FileSystem, folder: str) -> None:
    missing = []
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        with suppress(FileExistsError):
            fs.mkdir(each, 0o755)


def _sync_parents(fs: FileSystem, real: str) -> None:
    """Sync the folders above, as far as this user may have created folders in them."""
    folder = real
    while folder != os.path.dirname(folder) and fs.lstat(folder).st_uid == os.geteuid():
        folder = os.path.dirname(folder)
        if not sync_folder(fs, folder) and fs.lstat(folder).st_uid == os.geteuid():
            raise OSError(errno.EIO, "the disk does not confirm the vault's folders")


def _in_config_directory(real: str) -> bool:
    folder = real
    while folder != os.path.dirname(folder):
        if is_library_name(os.path.join(folder, "x.json")):
            return True
        folder = os.path.dirname(folder)
    return False
