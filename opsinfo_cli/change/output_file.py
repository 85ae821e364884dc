"""opsinfo's own output files, such as reports and baselines: replaced as a whole, or left unchanged."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from ..errors import Refused
from .filesystem import FileSystem
from .held_folders import held
from .replace import read_plain
from .whole_file import Durability, write_all, write_whole


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

    :raises Refused: if the system refuses; an existing file is then unchanged
    """
    real = os.path.realpath(path)
    try:
        mode = _mode(path)
        if path.startswith(_STREAMS) or (mode is not None and not stat.S_ISREG(mode)):
            _stream(path, data)
        else:
            _replace(real, data, mode)
    except OSError as error:
        raise Refused(f"cannot write: {error.strerror or error}", name="not-written", path=path) from None


def write_file_if(path: str, data: bytes, allow: Callable[[bytes | None], None], fs: FileSystem | None = None) -> None:
    """Write a whole file if what is there may be replaced. Its folder is held, and no link is followed.

    :param path: a real path
    :param allow: called with the content that is there, None for no regular file, once at the beginning and again right
        before the file is replaced; not called if there is nothing. What it raises stops the write
    :raises Refused: if the system refuses, or a folder was swapped for a link; an existing file is then unchanged
    """
    fs = fs or FileSystem()
    with held(fs, [path], trusts=True):
        try:
            _ask(fs, path, allow)
            mode = _mode_of(fs, path)
            finish = None if mode is None else (lambda descriptor: fs.fchmod(descriptor, stat.S_IMODE(mode)))
            write_whole(
                fs,
                path,
                data,
                Durability.CONTENT,
                mode=0o666,
                finish=finish,
                check=lambda: _ask(fs, path, allow),
            )
        except OSError as error:
            raise Refused(f"cannot write: {error.strerror or error}", name="not-written", path=path) from None


def _ask(fs: FileSystem, path: str, allow: Callable[[bytes | None], None]) -> None:
    mode = _mode_of(fs, path)
    if mode is not None:
        allow(read_plain(fs, path)[0] if stat.S_ISREG(mode) else None)


def _mode_of(fs: FileSystem, path: str) -> int | None:
    try:
        return fs.lstat(path).st_mode
    except FileNotFoundError:
        return None


def make_private_folder(folder: str) -> None:
    """Create a folder and those above it, accessible to the owner only.

    :raises OSError: if the system refuses
    """
    FileSystem().makedirs(folder, 0o700)


def write_cache(path: str, data: bytes) -> None:
    """Write a file that can be regenerated: replaced as a whole, but not synced.

    :raises OSError: if it is not written
    """
    write_whole(FileSystem(), path, data, Durability.NONE)


_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Streams that a shell may have redirected to a file that other processes write too; never replaced."""


def _descriptor(path: str) -> int | None:
    """Return the descriptor of this process that a path names; None if it names none."""
    match = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]{1,9})", path)
    return int(match[1]) if match else {"/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _stream(path: str, data: bytes) -> None:
    shared = _descriptor(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND) if shared is None else os.dup(shared)
    try:
        write_all(FileSystem(), descriptor, data)
    finally:
        os.close(descriptor)


def _replace(real: str, data: bytes, mode: int | None) -> None:
    fs = FileSystem()
    finish = None if mode is None else (lambda descriptor: fs.fchmod(descriptor, stat.S_IMODE(mode)))
    write_whole(fs, real, data, Durability.CONTENT, mode=0o666, finish=finish)
