"""The record of a change: the files that it wrote, with the hashes that say after a kill how far it came."""

from __future__ import annotations

import json
import os
import pwd
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from ...errors import Refused
from .closed_folders import Widened
from .plan import Move
from .replace_file import digest_at, sha256_of
from .vault_place import machine_name

State = Literal["pending", "done", "abandoned"]
FileState = Literal["before", "after", "torn", "other"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a change. Hashes are SHA-256; ``before`` is None for a file that the change created, ``after`` for
    one that it removed.

    :param path: the real path
    :param given: the path as given, absolute; a link in it may lead elsewhere now
    :param lineage: the backup id at which the backups of this vendor state of the path begin
    :param version: the CANN version of its install
    :param moves: op type -> [policy before, policy after], null if it depends on a library
    :param backup: the name of the old content beside the record
    :param inode: of a file that is overwritten in place
    """

    path: str
    given: str
    before: str | None
    after: str | None
    lineage: str
    version: str | None = None
    moves: dict[str, list[str | None]] = field(default_factory=dict)
    backup: str | None = None
    inode: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One run that wrote files.

    :param kind: move, apply, fmt, validate, merge, restore, reapply ...
    :param state: pending until the last file is in place and every folder has its mode back
    :param folders: folders that are widened while files in them are written
    :param undoes: what a restore undid: the id of a change of this machine, or with commas the ids of some of its files
    :param why: the reason that the user gave
    :param pruned: whether its backups are gone, or a prune began to remove them; its place says so, not its content
    """

    machine: str
    number: int
    kind: str
    command: list[str]
    time: str
    user: str
    state: State
    files: list[ChangedFile]
    folders: list[Widened] = field(default_factory=list)
    undoes: str | None = None
    in_place: bool = False
    pruned: bool = False
    why: str | None = None

    @property
    def id(self) -> str:
        return f"{self.machine}-{self.number}"

    def backup_id(self, index: int) -> str:
        return f"{self.id}.{index + 1}"

    @property
    def undone(self) -> list[str]:
        """The ids of ``undoes``: one of a change, or those of files of one change."""
        return self.undoes.split(",") if self.undoes else []

    @property
    def entries(self) -> list[BackupEntry]:
        return [BackupEntry(self, index) for index in range(len(self.files))]

    @property
    def content(self) -> dict[str, Any]:
        """The content of ``record.json``."""
        content = {**asdict(self), "folders": [folder._asdict() for folder in self.folders]}
        del content["pruned"]
        return content

    @classmethod
    def of(cls, content: dict[str, Any], pruned: bool = False) -> Record:
        """:raises TypeError: if it is not that of a record; may raise others, too"""
        files = [ChangedFile(**file) for file in content["files"]]
        folders = [Widened(**folder) for folder in content["folders"]]
        return cls(**{**content, "files": files, "folders": folders}, pruned=pruned)


class BackupEntry(NamedTuple):
    """One file of a change."""

    record: Record
    nth: int

    @property
    def file(self) -> ChangedFile:
        return self.record.files[self.nth]

    @property
    def id(self) -> str:
        return self.record.backup_id(self.nth)


def sealed(content: dict[str, Any], indent: int | None = 1) -> bytes:
    """Return a JSON object whose first member is the SHA-256 of the others; names that are not UTF-8 keep their bytes.

    :param content: with one member at least
    """
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    data = f"{text}\n".encode("utf-8", "surrogateescape")
    return b'{\n "sha256": "%s",%s' % (sha256_of(data).encode(), data[1:])


def unsealed(data: bytes) -> Any:
    """Return the other members.

    :raises ValueError: if their checksum does not match
    """
    head, rest = data[:80], b"{" + data[80:]
    if head != b'{\n "sha256": "%s",' % sha256_of(rest).encode():
        raise ValueError("its checksum does not match")
    return json.loads(rest.decode("utf-8", "surrogateescape"))


def new_record(
    kind: str, number: int, command: Sequence[str], undoes: str | None, in_place: bool, why: str | None
) -> Record:
    """:param why: the reason that the user gave"""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Record(
        *(machine_name(), number, kind, [*command], now, user, "pending", []),
        undoes=undoes,
        in_place=in_place,
        why=why,
    )


def moves_by_name(moved: Sequence[Move]) -> dict[str, list[str | None]]:
    return {move.name: [each and str(each) for each in (move.before, move.after)] for move in moved}


def backup_name(index: int, path: str) -> str:
    """Return the name of a file's old content in the folder of a change."""
    return os.fsdecode(os.fsencode(f"{index + 1}-") + os.fsencode(os.path.basename(path))[-200:])


# what happened, by the hashes of the files


def file_state(record: Record, file: ChangedFile, digest: str | None) -> FileState:
    """Return which content of a change a file has now.

    ``torn``: the change was killed while it overwrote the file in place. ``other``: something else wrote it.

    :param digest: the SHA-256 of the file now; None if there is none
    """
    if digest == file.after:
        return "after"
    if digest == file.before:
        return "before"
    if record.state == "pending" and record.in_place and digest is not None:
        with suppress(OSError):
            if os.stat(file.path).st_ino == file.inode:
                return "torn"
    return "other"


def outcome(record: Record) -> Literal["done", "abandoned", "half", "torn"]:
    """Return how a change ended. Files that something else changed since are ignored."""
    if record.state != "pending":
        return record.state
    states = {file_state(record, file, digest_at(file.path)) for file in record.files} - {"other"}
    if "torn" in states:
        return "torn"
    if len(states) == 2:
        return "half"
    return "done" if states == {"after"} else "abandoned"


def unfinished(record: Record, path: str) -> Refused:
    """Return the error for a change that only ``restore`` can end."""
    if outcome(record) == "torn":
        message = f"change {record.id} of {record.time} was killed while it overwrote the file: it is half written"
        hint = "`opsinfo restore --in-place` on the same target restores the backup"
        return Refused(message, name="half-written", path=path, hint=hint)
    message = f"change {record.id} of {record.time} was interrupted between its files"
    hint = "`opsinfo restore` on the same target restores its files"
    return Refused(message, name="unfinished-change", path=path, hint=hint)


def was_pruned(path: str) -> Refused:
    """Return the error for a backup that is wanted and was pruned."""
    message = "this backup was removed by `opsinfo backups --prune`"
    hint = "`opsinfo backups` lists the others; `--to pristine` restores the first one"
    return Refused(message, name="pruned", path=path, hint=hint)
