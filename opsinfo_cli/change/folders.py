"""Folders of installed files have mode 0550: the mode is journalled, widened while writing, and restored."""

from __future__ import annotations

import os
import stat

from ..errors import Refused
from .filesystem import FileSystem
from .record import Record, Widened
from .vault import Vault


def widen(fs: FileSystem, vault: Vault, record: Record, folders: list[str]) -> None:
    """Make folders writable for their owner, after writing their modes to the journal.

    :raises Refused: if the system refuses
    """
    try:
        closed = [each for folder in folders if (each := _closed(fs, folder))]
        if closed:
            record.folders = closed
            vault.save(record)
        for each in closed:
            fs.chmod(each.path, each.mode | stat.S_IRWXU)
    except OSError as error:
        said = f"cannot open the folder for writing: {error.strerror}"
        raise Refused(said, name="not-written", path=str(error.filename or folders[0])) from None


def _closed(fs: FileSystem, folder: str) -> Widened | None:
    here = fs.stat(folder)
    mode, needed = stat.S_IMODE(here.st_mode), stat.S_IWUSR | stat.S_IXUSR
    if here.st_uid == os.geteuid() and mode & needed != needed and not fs.access(folder, os.W_OK | os.X_OK):
        return Widened(folder, mode)
    return None


def shut(fs: FileSystem, record: Record) -> list[str]:
    """Restore the modes of folders; folders that cannot be restored stay in the record.

    :returns: the folders that were writable
    """
    opened, left = [], []
    for each in record.folders:
        try:
            if stat.S_IMODE(fs.stat(each.path).st_mode) == each.mode | stat.S_IRWXU:
                fs.chmod(each.path, each.mode)
                opened.append(each.path)
        except FileNotFoundError:
            continue
        except OSError:
            left.append(each)
    record.folders = left
    return opened
