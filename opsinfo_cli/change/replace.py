"""Replace one file as a whole: temp file beside it, fsync, rename, fsync of the folder.

A reader sees the old file or the new one.
"""

from __future__ import annotations

import errno
import hashlib
import os
from typing import NamedTuple

from ..errors import Refused, Stale
from .attributes import dress
from .filesystem import FileSystem
from .whole_file import Durability, sync_folder, write_all, write_whole

_ATOMIC_NO = (errno.EBUSY, errno.EXDEV)


class Original(NamedTuple):
    """A file, as read under the lock."""

    path: str
    data: bytes
    stat: os.stat_result


def read_original(fs: FileSystem, path: str) -> Original:
    """:raises Refused: if the file cannot be read
    :raises Stale: if it changed during reading
    """
    try:
        data, before, after = read_plain(fs, path)
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):
            raise _stale(path) from None
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    if _identity(before) != _identity(after):
        raise _stale(path)
    return Original(path, data, after)


def read_plain(fs: FileSystem, path: str, flags: int = 0) -> tuple[bytes, os.stat_result, os.stat_result]:
    """Return the content of a file, and its status before and after reading.

    :raises OSError: if it cannot be read
    """
    descriptor = fs.open(path, os.O_RDONLY | os.O_NONBLOCK | flags)
    try:
        before = fs.fstat(descriptor)
        parts = []
        # one read, because joining parts needs twice the memory
        while part := fs.read(descriptor, before.st_size + 1):
            parts.append(part)
        return b"".join(parts), before, fs.fstat(descriptor)
    finally:
        fs.close(descriptor)


def replace_file(fs: FileSystem, original: Original, data: bytes, in_place: bool) -> bool:
    """Replace ``original`` by ``data``, keeping owner, group, mode and extended attributes.

    :returns: whether the disk confirmed it; the file is written in both cases
    :raises Refused: if nothing was written, with the reason
    :raises Stale: if it is another file now
    """
    if in_place:
        return _write_in_place(fs, original, data)
    try:
        return write_whole(
            fs,
            original.path,
            data,
            Durability.FULL,
            finish=lambda descriptor: dress(fs, descriptor, original.path, original.stat),
            check=lambda: _require_unchanged(fs, original),
        )
    except OSError as error:
        raise _refusal(error, original.path) from None


def write_new(fs: FileSystem, path: str, data: bytes) -> bool:
    """Create a file that must not exist yet, whole or not at all; its mode follows the umask.

    :returns: whether the disk confirmed it
    :raises Refused: if it exists, or the system refuses
    """
    umask = os.umask(0)
    os.umask(umask)
    try:
        return write_whole(
            fs,
            path,
            data,
            Durability.FULL,
            is_new=True,
            finish=lambda descriptor: fs.fchmod(descriptor, 0o666 & ~umask),
        )
    except FileExistsError:
        raise Refused("the file exists already", name="exists", path=path) from None
    except OSError as error:
        raise _refusal(error, path) from None


def digest_at(fs: FileSystem, path: str) -> str | None:
    """Return the SHA-256 of the file at a path; None if there is none.

    :raises Refused: if the file exists but cannot be read
    """
    try:
        fs.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
    return hashlib.sha256(read_original(fs, path).data).hexdigest()


def remove_file(fs: FileSystem, original: Original) -> bool:
    """Remove a file.

    :returns: whether the disk confirmed it
    :raises Refused: if it cannot be removed
    :raises Stale: if it is another file now
    """
    _require_unchanged(fs, original)
    try:
        fs.unlink(original.path)
    except OSError as error:
        raise _refusal(error, original.path) from None
    return sync_folder(fs, os.path.dirname(original.path))


def _identity(here: os.stat_result) -> tuple[int, ...]:
    return here.st_dev, here.st_ino, here.st_size, here.st_mtime_ns


def _ownership(here: os.stat_result) -> tuple[int, ...]:
    return here.st_dev, here.st_ino, here.st_mode, here.st_uid, here.st_gid, here.st_nlink


def _require_unchanged(fs: FileSystem, original: Original) -> None:
    """Read the file again right before it is replaced, because many programs do not lock.

    :raises Stale: if it is another file now, or has other content
    :raises Refused: if the file cannot be read
    """
    now = read_original(fs, original.path)
    if _ownership(now.stat) != _ownership(original.stat) or now.data != original.data:
        raise _stale(original.path)


def _stale(path: str) -> Stale:
    return Stale(
        "a program that does not lock changed the file while opsinfo held the lock; nothing was written",
        path=path,
        hint="run the command again",
    )


def _write_in_place(fs: FileSystem, original: Original, data: bytes) -> bool:
    """Overwrite the file itself, for bind mounts, which cannot be renamed over. Not atomic; there is a backup."""
    _require_unchanged(fs, original)
    try:
        _overwrite(fs, original, data)
    except OSError as error:
        try:
            _overwrite(fs, original, original.data)
        except OSError:
            raise Refused(
                f"overwriting failed half way ({error.strerror}), and restoring the old content failed too",
                name="half-written",
                path=original.path,
                hint="`opsinfo restore TARGET --to ID --in-place` restores the backup; `opsinfo backups` shows its ID",
            ) from None
        raise _refusal(error, original.path) from None
    return True


def _overwrite(fs: FileSystem, original: Original, data: bytes) -> None:
    """:raises OSError: if it is not written completely
    :raises Stale: if another file is there, which is not changed
    """
    descriptor = fs.open(original.path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        if _ownership(fs.fstat(descriptor)) != _ownership(original.stat):
            raise _stale(original.path)
        write_all(fs, descriptor, data)
        fs.truncate(descriptor, len(data))
        fs.fsync(descriptor)
    finally:
        fs.close(descriptor)


def _refusal(error: OSError, path: str) -> Refused:
    folder = os.path.dirname(path)
    if error.errno in _ATOMIC_NO:
        return Refused(
            "the file cannot be replaced: it is a mount point, or on another file system",
            name="not-replaceable",
            path=path,
            hint="--in-place overwrites it after the backup, which is not atomic",
        )
    said = error.strerror or str(error)
    hints = {
        errno.EROFS: f"the file system of {folder} is mounted read-only",
        errno.EPERM: f"{path} or its folder is immutable (lsattr), or an attribute cannot be kept",
        errno.EACCES: f"no permission to write in {folder}",
        errno.ENOSPC: f"the disk of {folder} is full",
        errno.EDQUOT: f"your quota on {folder} is used up",
    }
    return Refused(f"cannot write: {said}", name="not-written", path=path, hint=hints.get(error.errno or 0))
