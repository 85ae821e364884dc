"""New files: copies beside the original, or files in a new folder; either all are written or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from ..errors import Refused
from .filesystem import FileSystem
from .replace import write_new
from .writer import Writer


def write_copies(fs: FileSystem, files: Mapping[str, bytes], target: str, directory: bool) -> None:
    """:param files: path of each original -> bytes of its copy
    :param directory: whether ``target`` is a new directory for all of them, or the one new file

    :raises Refused: if a file exists already or cannot be written; no file is left then
    """
    if not directory:
        (data,) = files.values()
        write_new(fs, os.path.abspath(target), data)
        return
    try:
        fs.mkdir(target, 0o777)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="not-written", path=target) from None
    written = []
    try:
        for path, data in files.items():
            copy = os.path.join(os.path.abspath(target), os.path.basename(path))
            write_new(fs, copy, data)
            written.append(copy)
    except BaseException:
        for copy in written:
            with suppress(OSError):
                fs.unlink(copy)
        with suppress(OSError):
            fs.rmdir(target)
        raise


def make_in_folder(writer: Writer, files: Mapping[str, bytes], folder: str, kind: str) -> str:
    """Write files into a new or empty folder, as one change; undoing it keeps the folder.

    :returns: the change's id
    :raises Refused: if a file cannot be written; no file is left then
    """
    is_new = not os.path.lexists(folder)
    try:
        if is_new:
            writer.fs.mkdir(folder, 0o777)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="not-written", path=folder) from None
    try:
        return writer.create_all(files, kind)
    except BaseException:
        if is_new:
            with suppress(OSError):
                writer.fs.rmdir(folder)
        raise
