"""What is remembered of a change: the journal of every run that wrote."""

from __future__ import annotations

import os
import pwd
import re
import sys
import time

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


def now() -> str:
    """The time as everywhere in opsinfo: UTC, ISO 8601, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Changed:
    """One file of a change. Hashes are SHA-256; ``before`` is None for a file that the change made, ``after`` for one
    that it took away.

    :param path: the real path
    :param given: the path as it was given, absolute; a link in it may lead elsewhere by now
    :param moves: op type -> [policy before, policy after], null where only a library could tell
    """

    def __init__(
        self,
        path: str,
        before: str | None,
        after: str | None,
        lineage: str,
        version: str | None = None,
        moves: dict[str, list[str | None]] | None = None,
        given: str = "",
    ) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.lineage = lineage
        self.version = version
        self.moves = {} if moves is None else moves
        self.given = given

    def is_sound(self) -> bool:
        hashes = (self.before, self.after)
        return (
            os.path.isabs(self.path)
            and "\0" not in self.path + self.given
            and all(digest is None or re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)
            and isinstance(self.lineage, str)
            and isinstance(self.version, str | None)
            and all(_is_move(move) for move in self.moves.values())
        )


def _is_move(move: list[str | None]) -> bool:
    return len(move) == 2 and all(policy in (None, "white", "black", "gray") for policy in move)


class Widened(NamedTuple):
    """A folder whose mode was widened for the moment, and the mode it must have again."""

    path: str
    mode: int


class Record:
    """One run that wrote.

    :param kind: move, apply, fmt, validate, restore, reapply
    :param state: pending until the last file is in place; then done, undone, or abandoned
    :param undoes: the change that a restore took back
    """

    def __init__(
        self,
        id: str,
        kind: str,
        command: list[str],
        time: str,
        user: str,
        pid: int,
        state: str = "pending",
        files: list[Changed] | None = None,
        folders: list[Widened] | None = None,
        undoes: str | None = None,
    ) -> None:
        self.id = id
        self.kind = kind
        self.command = command
        self.time = time
        self.user = user
        self.pid = pid
        self.state = state
        self.files = files or []
        self.folders = folders or []
        self.undoes = undoes

    @classmethod
    def begin(cls, kind: str) -> Record:
        return cls(_new_id(), kind, ["opsinfo", *sys.argv[1:]], now(), _user(), os.getpid())

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """:raises ValueError: where the data is not what :meth:`to_json` writes"""
        record = cls(**_known(cls, data))
        record.files = [
            Changed(**{**_known(Changed, each), "path": _here(each["path"]), "given": _here(each.get("given", ""))})
            for each in data["files"]
        ]
        record.folders = [Widened(_here(each["path"]), each["mode"]) for each in data["folders"]]
        record.command = list(map(_here, data["command"]))
        record.check()
        return record

    def check(self) -> None:
        """:raises ValueError: where something is of another kind than it says, or reaches beyond its own files"""
        texts = [self.id, self.kind, self.time, self.user, self.state]
        own = {os.path.dirname(changed.path) for changed in self.files}
        sound = [
            all(isinstance(text, str) for text in texts),
            isinstance(self.pid, int),
            self.undoes is None or isinstance(self.undoes, str),
            all(each.path in own and isinstance(each.mode, int) and 0 <= each.mode <= 0o7777 for each in self.folders),
            all(changed.is_sound() for changed in self.files),
        ]
        if not all(sound):
            raise ValueError("not a record of a change")

    def to_json(self) -> dict[str, Any]:
        files, folders = [dict(vars(each)) for each in self.files], [each._asdict() for each in self.folders]
        data = {**vars(self), "files": files, "folders": folders}
        for each in (*data["files"], *data["folders"]):
            each["path"] = _everywhere(each["path"])
        for each in data["files"]:
            each["given"] = _everywhere(each["given"])
        data["command"] = list(map(_everywhere, self.command))
        return data

    def backup_id(self, index: int) -> str:
        return f"{self.id}.{index + 1}"

    @property
    def can_be_undone(self) -> bool:
        return self.state == "done" and self.undoes is None


def _known(kind: type[Record] | type[Changed], data: dict[str, Any]) -> dict[str, Any]:
    """What this version knows of a record; a later one may have written more."""
    names = kind.__init__.__annotations__.keys() - {"return"}
    return {key: value for key, value in data.items() if key in names}


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
    return f"{stamp}-{nanoseconds // 1000 % 10**6:06d}-{os.urandom(2).hex()}"


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
