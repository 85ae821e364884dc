"""Further checks of a dry run: every reason for which the real run would refuse to write."""

from __future__ import annotations

import os

from ..errors import Refused
from .guards import real_path, require_replaceable
from .held_folders import held
from .job import Job, Result
from .replace import Original
from .writer import Writer


def rehearsed(writer: Writer, jobs: list[Job]) -> Result:
    """As :meth:`Writer.preview`, after the checks that the real run makes. Nothing is opened for writing.

    :raises Refused: if the real run would refuse to write one of the files
    """
    result = writer.preview(jobs)
    real = [real_path(file.path) for file in result.files if file.patch]
    writer.vault.require_owned()
    with held(writer.fs, real, writer.trust_folder):
        for path in real:
            original = Original(path, b"", os.stat(path))
            require_replaceable(original)
            _require_mounted_for_writing(path)
            if not writer.in_place:
                _require_owner_kept(original)
    return result


def _require_mounted_for_writing(path: str) -> None:
    folder = os.path.dirname(path)
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        said = "cannot write: Read-only file system"
        raise Refused(said, name="not-written", path=path, hint=f"the file system of {folder} is mounted read-only")


def _require_owner_kept(original: Original) -> None:
    """Only root may give a file to another user, and others only to a group of their own."""
    here = original.stat
    if os.geteuid() == 0 or (here.st_uid == os.geteuid() and here.st_gid in {os.getegid(), *os.getgroups()}):
        return
    raise Refused(
        f"the file's owner and group ({here.st_uid}:{here.st_gid}) could not be kept",
        name="owner-not-kept",
        path=original.path,
        hint="run the command as root, or as a user who is in that group",
    )
