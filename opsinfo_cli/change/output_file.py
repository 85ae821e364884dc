"""opsinfo's own output files, such as reports, plots and copies: written as a whole, without a backup."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress

from ..errors import Refused
from .whole_file import Place, open_folder, place_of, require_trusted, write_all, write_new, write_whole
from .writer import Writer


def require_writable(path: str) -> None:
    """:raises Refused: if no file can be written to the path; called before the work begins"""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise Refused("this is a directory; give the name of a file", name="not-written", path=path)
    if not os.path.isdir(folder):
        hint = f"create the directory first: {os.path.dirname(path)}"
        raise Refused("cannot write: its directory does not exist", name="not-written", path=path, hint=hint)


def write_file(path: str, data: bytes) -> None:
    """Write a whole file, following links; anything but a regular file (/dev/stdout, a pipe) is written into.

    :raises Refused: if the system refuses, or another user may redirect a write of root; an existing file is then
        unchanged
    """
    real = os.path.realpath(path)
    try:
        mode = os.stat(path).st_mode if os.path.exists(path) else None
        if path.startswith(_STREAMS) or (mode is not None and not stat.S_ISREG(mode)):
            _stream(path, data)
            return
        require_writable(path)
        require_trusted(path, real)
        umask = os.umask(0)
        os.umask(umask)
        with place_of(real) as place:
            write_whole(place, data, mode=0o666 & ~umask if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        raise Refused(f"cannot write: {error.strerror or error}", name="not-written", path=path) from None


_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Streams that a shell may have redirected to a file that other processes write too; never replaced."""


def _stream(path: str, data: bytes) -> None:
    match = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]{1,9})", path)
    own = int(match[1]) if match else {"/dev/stdout": 1, "/dev/stderr": 2}.get(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND) if own is None else os.dup(own)
    try:
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def write_copies(files: Mapping[str, bytes], target: str, directory: bool) -> None:
    """Write copies of files, all or none.

    :param files: path of each original -> bytes of its copy
    :param directory: whether ``target`` is a new directory for all of them, or the one new file
    :raises Refused: if a file exists already or cannot be written; no file is left then
    """
    target = os.path.abspath(target)
    if directory:
        _make_folder(target)
    copies = {os.path.join(target, os.path.basename(path)) if directory else target: files[path] for path in files}
    folder = open_folder(os.path.realpath(target if directory else os.path.dirname(target)))
    written = []
    try:
        for path, data in copies.items():
            write_new(Place(path, folder), data)
            written.append(path)
    except BaseException:
        with suppress(OSError):
            for path in written:
                os.unlink(path)
            if directory:
                os.rmdir(target)
        raise
    finally:
        os.close(folder)


def make_in_folder(writer: Writer, files: Mapping[str, bytes], folder: str, kind: str) -> str:
    """Write files into a new or empty folder, as one change; undoing it keeps the folder.

    :returns: the change's id
    :raises Refused: if a file cannot be written; no file is left then
    """
    is_new = not os.path.lexists(folder)
    if is_new:
        _make_folder(folder)
    try:
        return writer.create(files, kind).id
    except BaseException:
        if is_new:
            with suppress(OSError):
                os.rmdir(folder)
        raise


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="not-written", path=folder) from None
