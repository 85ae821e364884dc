"""Every system call of the writer goes through one small object, so that a test can fail any of them."""

from __future__ import annotations

import fcntl
import os


class FileSystem:
    """The calls as the system has them; each raises OSError."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

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
        return os.stat(path)

    def lstat(self, path: str) -> os.stat_result:
        return os.lstat(path)

    def access(self, path: str, mode: int) -> bool:
        return os.access(path, mode)

    def fstat(self, descriptor: int) -> os.stat_result:
        return os.fstat(descriptor)

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        os.link(source, target)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(path, mode)

    def makedirs(self, path: str, mode: int) -> None:
        os.makedirs(path, mode, exist_ok=True)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def listdir(self, path: str) -> list[str]:
        return os.listdir(path)

    def chmod(self, path: str, mode: int) -> None:
        os.chmod(path, mode)

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
