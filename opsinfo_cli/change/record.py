"""The record of a change, which every writing run stores in the journal."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


STATES = ("pending", "done", "undone", "abandoned")
MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")


def machine_name() -> str:
    """Return an id of this machine among those that share a vault: a hash of the confidential machine-id.

    Empty without a machine-id, as in many containers. Source: machine-id(5), "should be considered confidential".
    """
    for path in MACHINE_IDS:
        with suppress(OSError), open(path, "rb") as file:
            if text := file.read(256).strip():
                return hashlib.sha256(b"opsinfo:" + text).hexdigest()[:16]
    return ""


def now() -> str:
    """Return the present time: UTC, ISO 8601, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Changed:
    """One file of a change. Hashes are SHA-256; ``before`` is None for a file that the change made, ``after`` for one
    that it took away.

    :param path: the real path
    :param given: the path as given, absolute; a link in it may lead elsewhere now
    :param moves: op type -> [policy before, policy after], null if it depends on a library
    :param previous: id of the record before this one in the chain of the path; None for the first
    :param pruned: whether the content before was removed from the vault by ``backups --prune``
    :param inode: the inode of a file that is overwritten in place
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
        previous: str | None = None,
        pruned: bool = False,
        inode: int | None = None,
    ) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.lineage = lineage
        self.version = version
        self.moves = {} if moves is None else moves
        self.given = given
        self.previous = previous
        self.pruned = pruned
        self.inode = inode

    def is_sound(self) -> bool:
        hashes = (self.before, self.after)
        return (
            os.path.isabs(self.path)
            and "\0" not in self.path + self.given
            and all(digest is None or re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)
            and isinstance(self.lineage, str)
            and isinstance(self.version, str | None)
            and isinstance(self.previous, str | None)
            and isinstance(self.pruned, bool)
            and isinstance(self.inode, int | None)
            and all(_is_move(move) for move in self.moves.values())
        )


def _is_move(move: list[str | None]) -> bool:
    return len(move) == 2 and all(policy in (None, "white", "black", "gray") for policy in move)


class Widened(NamedTuple):
    """A folder whose mode is widened, and the mode to restore."""

    path: str
    mode: int


class Record:
    """One run that wrote files.

    :param kind: move, apply, fmt, validate, restore, reapply
    :param state: pending until the last file is in place; then done, undone, or abandoned
    :param undoes: the change that a restore undid
    :param order: greater than that of every record in the vault when this one began
    :param machine: the machine of the files, see :func:`machine_name`
    :param migrated: whether it comes from an older vault without chains
    :param in_place: whether the files are overwritten, not replaced
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
        order: int = 0,
        machine: str = "",
        migrated: bool = False,
        in_place: bool = False,
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
        self.order = order
        self.machine = machine
        self.migrated = migrated
        self.in_place = in_place

    @classmethod
    def begin(cls, kind: str, undoes: str | None = None) -> Record:
        command = ["opsinfo", *sys.argv[1:]]
        return cls(_new_id(), kind, command, now(), _user(), os.getpid(), undoes=undoes, machine=machine_name())

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """:raises ValueError: if :meth:`to_json` did not write the data; may raise TypeError and others, too"""
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
        """:raises ValueError: if a value has the wrong type, or names files of other changes"""
        texts = [self.id, self.kind, self.time, self.user, self.state, self.machine]
        own = {os.path.dirname(changed.path) for changed in self.files}
        sound = [
            all(isinstance(text, str) for text in texts),
            isinstance(self.pid, int) and isinstance(self.order, int),
            isinstance(self.migrated, bool) and isinstance(self.in_place, bool),
            self.state in STATES,
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

    @property
    def is_open(self) -> bool:
        """Whether it may not have changed anything permanently."""
        return self.state in ("pending", "abandoned")

    def backup_id(self, index: int) -> str:
        return f"{self.id}.{index + 1}"

    @property
    def can_be_undone(self) -> bool:
        return self.state == "done" and self.undoes is None


def _known(kind: type[Record] | type[Changed], data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that this version knows; a later version may have written more."""
    names = kind.__init__.__annotations__.keys() - {"return"}
    return {key: value for key, value in data.items() if key in names}


def _everywhere(text: str) -> str:
    """Return a path or word in a form that does not depend on the locale."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def _here(text: str) -> str:
    """Return a path or word in the encoding of this process."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def _new_id() -> str:
    """Return the time to the microsecond and four random digits. Chains give the order, not ids."""
    nanoseconds = time.time_ns()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(nanoseconds // 10**9))
    return f"{stamp}-{nanoseconds // 1000 % 10**6:06d}-{os.urandom(2).hex()}"


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
