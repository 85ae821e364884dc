"""The writer's system calls, in one object, so that a test can make any of them fail."""

from __future__ import annotations

import fcntl
import os

_O_PATH = getattr(os, "O_PATH", os.O_RDONLY)


class FileSystem:
    """The system's calls; each raises OSError.

    A path in a held folder (:mod:`.held_folders`) is reached through the folder's descriptor, even if the folder's
    path means something else by now. A link at the path itself is not followed.
    """

    def __init__(self) -> None:
        self.held: dict[str, int] = {}

    def _at(self, path: str) -> tuple[str, int | None]:
        """Return the name to use and the descriptor of its folder; None if the path is used unchanged."""
        if path in self.held:
            return ".", self.held[path]
        folder, name = os.path.split(path)
        at = self.held.get(folder)
        return (path, None) if at is None or name in ("", ".", "..") else (name, at)

    def enter(self, name: str, at: int | None) -> int:
        """Return a descriptor of a folder, by its name in another one. A link is refused."""
        return os.open(name, _O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        name, at = self._at(path)
        follow = 0 if at is None else os.O_NOFOLLOW
        return os.open(name, flags | os.O_CLOEXEC | follow, mode, dir_fd=at)

    def dup(self, descriptor: int) -> int:
        return os.dup(descriptor)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def read(self, descriptor: int, size: int) -> bytes:
        return os.read(descriptor, size)

    def write(self, descriptor: int, data: memoryview) -> int:
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def stat(self, path: str) -> os.stat_result:
        name, at = self._at(path)
        return os.stat(name, dir_fd=at, follow_symlinks=at is None)

    def lstat(self, path: str) -> os.stat_result:
        name, at = self._at(path)
        return os.lstat(name, dir_fd=at)

    def access(self, path: str, mode: int) -> bool:
        name, at = self._at(path)
        return os.access(name, mode, dir_fd=at)

    def fstat(self, descriptor: int) -> os.stat_result:
        return os.fstat(descriptor)

    def replace(self, source: str, target: str) -> None:
        (one, here), (other, there) = self._at(source), self._at(target)
        os.replace(one, other, src_dir_fd=here, dst_dir_fd=there)

    def link(self, source: str, target: str) -> None:
        (one, here), (other, there) = self._at(source), self._at(target)
        os.link(one, other, src_dir_fd=here, dst_dir_fd=there)

    def unlink(self, path: str) -> None:
        name, at = self._at(path)
        os.unlink(name, dir_fd=at)

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(path, mode)

    def makedirs(self, path: str, mode: int) -> None:
        os.makedirs(path, mode, exist_ok=True)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def listdir(self, path: str) -> list[str]:
        name, at = self._at(path)
        if at is None:
            return os.listdir(path)
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)

    def chmod(self, path: str, mode: int) -> None:
        name, at = self._at(path)
        os.chmod(name, mode, dir_fd=at)

    def fchmod(self, descriptor: int, mode: int) -> None:
        os.fchmod(descriptor, mode)

    def fchown(self, descriptor: int, user: int, group: int) -> None:
        os.fchown(descriptor, user, group)

    def listxattr(self, target: str | int) -> list[str]:
        return os.listxattr(target)

    def getxattr(self, target: str | int, name: str) -> bytes:
        return os.getxattr(target, name)

    def setxattr(self, target: str | int, name: str, value: bytes) -> None:
        os.setxattr(target, name, value)

    def removexattr(self, target: str | int, name: str) -> None:
        os.removexattr(target, name)

    def flock(self, descriptor: int, operation: int) -> None:
        fcntl.flock(descriptor, operation)
