"""opsinfo's own output files, reports and baselines: there whole, or as they were."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from ..change.filesystem import FileSystem
from ..change.replace import temp_beside, write_all
from ..errors import Refused

__all__ = ["require_writable", "write_file"]


def require_writable(path: str) -> None:
    """:raises Refused: where a file cannot come to stand there; to be asked before the work"""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise Refused("this is a directory; a report needs the name of a file", name="not-written", path=path)
    if not os.path.isdir(folder):
        hint = f"make the directory first: {os.path.dirname(path)}"
        raise Refused("cannot write: its directory is not there", name="not-written", path=path, hint=hint)


def write_file(path: str, data: bytes) -> None:
    """Write a file as a whole; through links, and into what is no regular file (/dev/stdout, a pipe) as it is.

    :raises Refused: where the system says no; a file that was there is as it was
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


_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""What a shell may have led into a file, which others write too: it is not ours to replace."""


def _descriptor(path: str) -> int | None:
    """That of this process which a path stands for."""
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
    temp = temp_beside(real)
    try:
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        try:
            write_all(FileSystem(), descriptor, data)
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temp, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(temp)
        raise
