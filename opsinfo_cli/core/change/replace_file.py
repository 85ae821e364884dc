"""The one way to write a file: a temp file beside it, sync, a last check of the old file, rename, sync of the folder.

A reader sees the old file or the new one.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from contextlib import suppress
from typing import NamedTuple

from ...errors import Refused, Stale
from ...opening import unreadable
from .file_place import SAFE, FilePlace, opened, place_of

TEMP = re.compile(r"\.opsinfo-([0-9]+|output)-[0-9a-f]+\.tmp")


def temp_name(writer: int | str | None = None) -> str:
    """Return a name for a file or folder that is renamed when it is complete; the writer is this process by default."""
    return f".opsinfo-{writer or os.getpid()}-{os.urandom(6).hex()}.tmp"


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# reading


class Original(NamedTuple):
    """A file, as read under the lock."""

    data: bytes
    stat: os.stat_result


def read_original(place: FilePlace) -> Original:
    """:raises Refused: if the file cannot be read
    :raises Stale: if it changed during reading, or a link took its place
    """
    try:
        with opened(place.name, folder=place.folder) as descriptor:
            before = os.fstat(descriptor)
            parts = []
            while part := os.read(descriptor, before.st_size + 1):  # one read: joining parts needs twice the memory
                parts.append(part)
            after = os.fstat(descriptor)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _stale(place.path) from None
        raise unreadable(error, place.path) from None
    identity = [(here.st_dev, here.st_ino, here.st_size, here.st_mtime_ns) for here in (before, after)]
    if identity[0] != identity[1]:
        raise _stale(place.path)
    return Original(b"".join(parts), after)


def digest_at(path: str) -> str | None:
    """Return the SHA-256 of the file at a path; None if there is none.

    :raises Refused: if the file exists but cannot be read
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(error, path) from None
    with place_of(os.path.realpath(path)) as place:
        return sha256_of(read_original(place).data)


def _ownership(here: os.stat_result, widened: int = 0) -> tuple[int, ...]:
    """:param widened: the bits of the mode that this run may have added"""
    return here.st_dev, here.st_ino, here.st_mode | widened, here.st_uid, here.st_gid, here.st_nlink


def _require_unchanged(place: FilePlace, original: Original, widened: int = 0) -> None:
    """Read the file again right before it is replaced, because many programs do not lock.

    :raises Stale: if it is another file now, or has other content
    """
    now = read_original(place)
    if _ownership(now.stat, widened) != _ownership(original.stat, widened) or now.data != original.data:
        raise _stale(place.path)


def _stale(path: str) -> Stale:
    message = "a program that does not lock changed the file while opsinfo held the lock; nothing was written"
    hint = "run the command again"
    return Stale(message, path=path, hint=hint)


def require_replaceable(path: str, here: os.stat_result) -> None:
    """:raises Refused: if the file may not be replaced, or replacing it would separate it from its hard links"""
    if not stat.S_ISREG(here.st_mode):
        raise Refused("not a regular file", name="not-a-file", path=path)
    if here.st_nlink > 1:
        message = f"the file has {here.st_nlink} hard links; replacing it would separate them"
        hint = "make a separate copy first: cp --preserve=all FILE FILE.own && mv FILE.own FILE"
        raise Refused(message, name="hard-link", path=path, hint=hint)
    if os.geteuid() not in (0, here.st_uid):
        message = f"the file belongs to user {here.st_uid}; only its owner or root may change it"
        hint = "run the command as its owner; instead of a library, a mixlist of your own may be changed"
        raise Refused(message, name="not-owner", path=path, hint=hint)


# writing; each returns whether the disk confirmed it, and the file is written in both cases


def put(place: FilePlace, original: Original | None, data: bytes | None, in_place: bool = False) -> bool:
    """Replace a file, keeping owner, group, mode and extended attributes; create it, or remove it.

    :param original: None to create the file, with the access that the folder gives to new files
    :param data: None to remove it
    :raises Refused: if nothing was written, with the reason
    :raises Stale: if another file is there now
    """
    try:
        if original is None:
            return write_whole(place, data or b"", is_new=True)
        if data is None:
            _require_unchanged(place, original)
            os.unlink(place.name, dir_fd=place.folder)
            return sync_folder(place.folder)
        if in_place:
            return _write_in_place(place, original, data)
        return write_whole(place, data, original=original)
    except FileExistsError:
        raise Refused("the file exists already", name="exists", path=place.path) from None
    except OSError as error:
        if error.errno in (errno.EBUSY, errno.EXDEV):
            message = "the file cannot be replaced: it is a mount point, or on another file system"
            hint = "--in-place overwrites it after the backup, which is not atomic"
            raise Refused(message, name="not-replaceable", path=place.path, hint=hint) from None
        refused = not_written(error, place.path)
        if in_place and error.errno == errno.EACCES:
            refused.hint = f"no permission to write {place.path}"
        raise refused from None


def not_written(error: OSError, real: str, given: str | None = None) -> Refused:
    """Return the error for a file that the system does not let opsinfo write; nothing was written.

    :param given: the path as given
    """
    folder = os.path.dirname(real)
    hints = {
        errno.EROFS: f"the file system of {folder} is mounted read-only",
        errno.EPERM: f"{real} or its folder is immutable (lsattr), or an attribute cannot be kept",
        errno.EACCES: f"no permission to write in {folder}",
        errno.ENOSPC: f"the disk of {folder} is full",
        errno.EDQUOT: f"your quota on {folder} is used up",
    }
    reason, hint = error.strerror or str(error), hints.get(error.errno or 0)
    return Refused(f"cannot write: {reason}", name="not-written", path=given or real, hint=hint)


def write_whole(
    place: FilePlace,
    data: bytes,
    *,
    original: Original | None = None,
    like: os.stat_result | None = None,
    private: bool = False,
    is_new: bool = False,
) -> bool:
    """Write a file as a whole. A link at its place is replaced, not followed.

    Without ``original``, ``like`` and ``private`` its access is that of any new file: by the umask, or by the access
    list that the folder gives.

    :param original: the file to replace; the new one gets its metadata, and it is compared once more before the rename
    :param like: the file to replace; the new one gets as much of its metadata as this user may set
    :param private: whether only its owner may read it
    :param is_new: whether to fail if the file exists
    :raises OSError: if it is not written; FileExistsError if ``is_new`` and it exists
    :raises Refused: if the metadata cannot be kept
    :raises Stale: if ``original`` is no longer there
    """
    temp = temp_name(None if original or is_new else "output")  # outputs are written without the lock of their folder
    descriptor = None
    try:
        mode = 0o600 if original or like or private else 0o666
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE, mode, dir_fd=place.folder)
        write_all(descriptor, data)
        if original:
            _copy_owner(place, original.stat, descriptor)
            _copy_attributes(place, descriptor)
            os.fchmod(descriptor, original.stat.st_mode & 0o7777)
        elif like:
            with suppress(Refused):
                _copy_owner(place, like, descriptor)
            with suppress(OSError):
                _copy_attributes(place, descriptor)
            os.fchmod(descriptor, like.st_mode & 0o7777)
        elif private:
            os.fchmod(descriptor, mode)  # the umask may leave less
        os.fsync(descriptor)
        if original:
            _require_unchanged(place, original)
        linked = False
        if is_new:  # by a link: a rename would replace what another process has put there
            try:
                os.link(temp, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
                linked = True
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                    raise
                # no hard links here, so look and rename; a change of another run waits for the folder's lock
                with suppress(FileNotFoundError):
                    os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place.path) from None
        if linked:
            with suppress(OSError):
                os.unlink(temp, dir_fd=place.folder)
        else:
            os.replace(temp, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temp, dir_fd=place.folder)
        raise
    finally:
        if descriptor is not None:
            with suppress(OSError):  # after the sync, closing cannot fail
                os.close(descriptor)
    return sync_folder(place.folder)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, with as many calls as needed.

    :raises OSError: if the system writes none
    """
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def sync_folder(folder: int) -> bool:
    """Return whether the disk confirmed it. A failed fsync is never repeated."""
    try:
        os.fsync(folder)
    except OSError:
        return False
    return True


def _write_in_place(place: FilePlace, original: Original, data: bytes) -> bool:
    """Overwrite the file itself, for bind mounts, which cannot be renamed over. Not atomic; there is a backup.

    :raises OSError: if it cannot be opened, or the old content is there again
    :raises Stale: if another file is there, which is not changed
    """
    widened = stat.S_IWUSR  # of one's own file that is read-only
    _require_unchanged(place, original, widened)
    with opened(place.name, os.O_WRONLY, place.folder) as descriptor:
        if _ownership(os.fstat(descriptor), widened) != _ownership(original.stat, widened):
            raise _stale(place.path)
        try:
            _overwrite(descriptor, data)
        except OSError as error:
            try:
                _overwrite(descriptor, original.data)
            except OSError:
                message = f"overwriting failed half way ({error.strerror}), and restoring the old content failed too"
                hint = "`opsinfo restore TARGET --in-place` restores the backup"
                raise Refused(message, name="half-written", path=place.path, hint=hint) from None
            raise
    return True


def _overwrite(descriptor: int, data: bytes) -> None:
    """:raises OSError: if it is not written completely"""
    os.lseek(descriptor, 0, os.SEEK_SET)
    write_all(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


# metadata


def _copy_owner(place: FilePlace, before: os.stat_result, descriptor: int) -> None:
    """:raises Refused: if this user may not give the new file the owner and group of the old one"""
    user, group = before.st_uid, before.st_gid
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (user, group):
        try:
            os.fchown(descriptor, user, group)
        except PermissionError:
            message = f"the file's owner and group ({user}:{group}) could not be kept"
            hint = "run the command as root, or as a user who is in that group; --in-place keeps both"
            raise Refused(message, name="owner-not-kept", path=place.path, hint=hint) from None


def _copy_attributes(place: FilePlace, descriptor: int) -> None:
    """Copy extended attributes, such as access lists and labels, from the old file to the new one."""
    with opened(place.name, folder=place.folder) as old:
        try:
            wanted = {name: os.getxattr(old, name) for name in os.listxattr(old)}
            present = {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
        except OSError as error:
            if error.errno != errno.ENOTSUP:
                raise
            wanted = present = {}
        for name in present.keys() - wanted.keys():  # an access list that the folder gives to new files
            os.removexattr(descriptor, name)
        for name, value in wanted.items():
            if present.get(name) != value:
                os.setxattr(descriptor, name, value)


# leftovers


def remove_leftovers(folder: int) -> None:
    """Remove temp files of killed runs: whoever holds the folder's lock is the only one who replaces files there."""
    with suppress(OSError):
        for name in os.listdir(folder):
            match = TEMP.fullmatch(name)
            if match and match[1] != "output":
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
