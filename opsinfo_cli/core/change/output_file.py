"""opsinfo's own output files, such as reports, plots and copies: written as a whole, without a backup."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import Refused
from ..text.source import read_bytes
from .file_place import FilePlace, missing_folder, place_of, real_path
from .replace_file import not_written, put, write_all, write_whole
from .trust import require_trusted
from .vault_place import require_outside_vault

_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Streams that a shell may have redirected to a file that other processes write too; never replaced."""


def require_writable(path: str) -> None:
    """Check that a file can be written without a backup, before long work begins.

    :raises Refused: if it cannot be written, or may not be
    """
    require_place(path)
    if not path.startswith(_STREAMS):
        real = real_path(path)
        require_outside_vault(path, real)
        require_trusted(path, real, "write to a folder that only you may change, or run the command as its owner")


def require_place(path: str, opens: bool = False) -> None:
    """Check that the system lets this user write a file.

    :param opens: whether the write opens a folder of one's own that is closed, as that of a change does
    :raises Refused: if it does not
    """
    if os.path.isdir(path):
        raise Refused("this is a directory; give the name of a file", name="not-written", path=path)
    if path.startswith(_STREAMS):
        return
    real = real_path(path)
    folder = os.path.dirname(real)
    if not os.path.isdir(folder):
        raise missing_folder(path)
    is_stream = os.path.exists(real) and not os.path.isfile(real)
    is_read_only = not is_stream and os.statvfs(folder).f_flag & os.ST_RDONLY
    may_open = opens and not is_stream and os.stat(folder).st_uid == os.geteuid()
    if is_read_only or not (may_open or os.access(real if is_stream else folder, os.W_OK)):
        code = errno.EROFS if is_read_only else errno.EACCES
        raise not_written(OSError(code, os.strerror(code)), real, path)


def write_file(path: str, data: bytes) -> None:
    """Write a whole file, following links; anything but a regular file (/dev/stdout, a pipe) is written into.

    :raises Refused: as :func:`require_writable`, or if the system refuses; an existing file is then unchanged
    """
    require_writable(path)
    real = real_path(path)
    try:
        before = os.stat(path) if os.path.exists(path) else None
        if path.startswith(_STREAMS) or (before and not stat.S_ISREG(before.st_mode)):
            match = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]{1,9})", path)
            own = int(match[1]) if match else {"/dev/stdout": 1, "/dev/stderr": 2}.get(path)
            place = path if path.startswith(_STREAMS) else real  # no link that was put there meanwhile
            descriptor = os.open(place, os.O_WRONLY | os.O_APPEND) if own is None else os.dup(own)
            try:
                return write_all(descriptor, data)
            finally:
                os.close(descriptor)
        with place_of(real) as target:
            write_whole(target, data, like=before)
    except OSError as error:
        raise not_written(error, real, path) from None


def write_copies(files: Mapping[str, bytes], target: str, directory: bool) -> None:
    """Write copies of files, all or none.

    :param files: path of each original -> bytes of its copy
    :param directory: whether ``target`` is a new directory for all of them, or the one new file
    :raises Refused: if a file exists already or cannot be written; no file is left then
    """
    target = os.path.abspath(target)
    copies = {os.path.join(target, os.path.basename(path)) if directory else target: files[path] for path in files}
    require_outside_vault(target, os.path.join(os.path.realpath(target), "") if directory else os.path.realpath(target))
    require_writable(target)
    written = []
    with new_folder(target) if directory else nullcontext(), place_of(os.path.realpath(next(iter(copies)))) as place:
        try:
            for path, data in copies.items():
                put(FilePlace(path, place.folder), None, data)
                written.append(path)
        except BaseException:
            with suppress(OSError):
                for path in written:
                    os.unlink(path)
            raise


@contextmanager
def new_folder(path: str) -> Iterator[None]:
    """Create a folder, unless it exists; it is removed again if the work fails.

    :raises Refused: if it cannot be created
    """
    is_new = not os.path.lexists(path)
    try:
        if is_new:
            os.mkdir(path)
    except OSError as error:
        raise Refused(error.strerror or str(error), name="not-written", path=path) from None
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                os.rmdir(path)
        raise


class EditedFile:
    """A new file, readable by its owner only.

    :raises Refused: if it cannot be written
    """

    def __init__(self, text: str) -> None:
        self._first = text
        try:
            with tempfile.NamedTemporaryFile(prefix="opsinfo-edit-", suffix=".txt", delete=False) as file:
                self.path = file.name
        except OSError as error:
            raise Refused(f"cannot write a temporary file: {error.strerror}", name="not-written") from None
        self.write(text)

    def write(self, text: str) -> None:
        """:raises Refused: if it cannot be written"""
        write_file(self.path, text.encode("utf-8"))

    def read(self) -> str:
        """Return the text, without a byte order mark; any line end of an editor, CR alone too, ends a line.

        :raises Refused: if the file is gone or is not UTF-8
        """
        try:
            return read_bytes(self.path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            raise Refused("the edited text is not UTF-8", name="unreadable", path=self.path) from None

    @property
    def is_edited(self) -> bool:
        """Whether it exists with another text than at first."""
        try:
            return self.read() != self._first
        except Refused:
            return Path(self.path).exists()

    def remove(self) -> None:
        with suppress(OSError):
            Path(self.path).unlink()


@contextmanager
def temporary_folder() -> Iterator[str]:
    with TemporaryDirectory(prefix="opsinfo-base-") as folder:
        yield os.path.realpath(folder)


def unpack_files(folder: str, files: Mapping[str, bytes], links: Mapping[str, bytes]) -> None:
    """Write files into a folder; a link last, so that nothing is written through one.

    :param files: relative path -> content; a path that leads out, as only a forged tree has it, is left out
    :param links: relative path -> what it leads to, which whoever reads it checks
    """
    for path, content in (*files.items(), *links.items()):
        place = os.path.join(folder, path)
        if (
            {"", ".", "..", ".git"} & {*path.split("/")}
            or os.path.lexists(place)
            or (path in links and b"\0" in content)
        ):
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if path in links:
            os.symlink(os.fsdecode(content), place)
        else:
            with open(place, "xb") as file:
                file.write(content)
