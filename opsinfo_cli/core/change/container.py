"""Whether the vault is lost when a container is removed.

Source: systemd, src/basic/virt.c, ``detect_container``: the files of Podman and Docker, and ``container`` in the
environment of the first process; proc(5), /proc/pid/mountinfo.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...errors import Refused
from ..text.source import read_bytes
from .vault_place import default_vault

MARKS = ("/run/.containerenv", "/.dockerenv")
FIRST_PROCESS = "/proc/1/environ"
MOUNTS = "/proc/self/mountinfo"

LOST = "in this container and on no mount, so the backups are lost when the container is removed"
HINT = "mount a folder there, or name one that is mounted in OPSINFO_BACKUP_DIR"


def is_lost_with_container(vault: str, environ: Mapping[str, str]) -> bool:
    """Return whether a vault is in its usual place, and that is part of a container's own file system.

    A folder that the user named is a decision: in the build of an image the backups become part of the image.
    """
    named = any(word.startswith(b"container=") and word != b"container=" for word in _bytes(FIRST_PROCESS).split(b"\0"))
    in_container = named or any(map(os.path.exists, MARKS))
    return vault == default_vault(environ) and in_container and _mount_of(os.path.realpath(vault)) == "/"


def _mount_of(path: str) -> str:
    """Return the mount point that a real path is below; ``/`` if the system does not say."""
    points = [line.split(b" ")[4] for line in _bytes(MOUNTS).splitlines() if line.count(b" ") > 4]
    above = [point for point in map(_unescaped, points) if path == point or path.startswith(point.rstrip("/") + "/")]
    return max(above, key=len, default="/")


def _unescaped(point: bytes) -> str:
    """:param point: as the kernel writes it, with blanks and backslashes as octal numbers"""
    first, *rest = point.split(b"\\")
    return os.fsdecode(first + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in rest))


def _bytes(path: str) -> bytes:
    try:
        return read_bytes(path)
    except Refused:  # the environment of the first process is for root only
        return b""
