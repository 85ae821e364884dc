"""What is remembered of a change: the journal of every run that wrote."""

from __future__ import annotations

import os
import pwd
import secrets
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Changed", "Record", "Widened", "now"]


def now() -> str:
    """The time as everywhere in opsinfo: UTC, ISO 8601, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass
class Changed:
    """One file of a change. Hashes are SHA-256; ``before`` is None for a file that the change made, ``after`` for one
    that it took away.

    :param path: the real path
    :param moves: op type -> [policy before, policy after], null where only a library could tell
    """

    path: str
    before: str | None
    after: str | None
    lineage: str
    version: str | None = None
    moves: dict[str, list[str | None]] = field(default_factory=dict)


@dataclass
class Widened:
    """A folder whose mode was widened for the moment, and the mode it must have again."""

    path: str
    mode: int


@dataclass
class Record:
    """One run that wrote.

    :param kind: move, apply, fmt, restore, reapply
    :param state: pending until the last file is in place; then done, undone, or abandoned
    :param undoes: the change that a restore took back
    """

    id: str
    kind: str
    command: list[str]
    time: str
    user: str
    pid: int
    state: str = "pending"
    files: list[Changed] = field(default_factory=list)
    folders: list[Widened] = field(default_factory=list)
    undoes: str | None = None

    @classmethod
    def begin(cls, kind: str) -> Record:
        return cls(_new_id(), kind, ["opsinfo", *sys.argv[1:]], now(), _user(), os.getpid())

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        record = cls(**data)
        record.files = [Changed(**{**each, "path": _here(each["path"])}) for each in data["files"]]
        record.folders = [Widened(_here(each["path"]), each["mode"]) for each in data["folders"]]
        record.command = list(map(_here, data["command"]))
        return record

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        for each in (*data["files"], *data["folders"]):
            each["path"] = _everywhere(each["path"])
        data["command"] = list(map(_everywhere, self.command))
        return data

    def backup_id(self, index: int) -> str:
        return f"{self.id}.{index + 1}"

    @property
    def can_be_undone(self) -> bool:
        return self.state == "done" and self.undoes is None


def _everywhere(text: str) -> str:
    """A path or word in the form that does not depend on the locale of the process."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def _here(text: str) -> str:
    """A path or word as this process would spell it."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def _new_id() -> str:
    """Ids sort in the order of the changes: time to the microsecond, and four digits against chance."""
    nanoseconds = time.time_ns()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(nanoseconds // 10**9))
    return f"{stamp}-{nanoseconds // 1000 % 10**6:06d}-{secrets.token_hex(2)}"


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
