"""The vault, outside every config directory: one folder a machine, in it one numbered folder a change.

::

    <vault>/<machine>/12/record.json              what the change did; it holds its own SHA-256
    <vault>/<machine>/12/1-aic-x-ops-info.json    the content of its first file before the change

The number is the order; time is only shown. A change is written and synced under a temporary name, and gets its number
by a rename before the first file is replaced. One exclusive lock is held for a whole run that writes; so a change that
is still pending when the lock is taken was interrupted, and the hashes of its files say how far it came.
"""

from __future__ import annotations

import errno
import json
import os
import pwd
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ...errors import Locked, Refused, quoted
from ...opening import folders_above, system_failed, unreadable
from ..cann.file_kind import is_library_name
from .lock import wait_for
from .plan import Move
from .vault_place import MACHINE, NUMBER, RECORD, machine_name
from .whole_file import Widened, digest_at, opened, place_of, sha256_of, write_all, write_whole

Scope = Callable[[str], bool]
"""Returns whether a real path belongs to the target."""
State = Literal["pending", "done", "abandoned"]
FileState = Literal["before", "after", "torn", "other"]

_TEMP = re.compile(r"\.opsinfo-[a-z0-9]+-[0-9a-f]+\.tmp")
_OLDER = ("objects", "changes", "heads", ".heads")


# records


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Record:
    """One run that wrote files.

    :param kind: move, apply, fmt, validate, merge, restore, reapply ...
    :param state: pending until the last file is in place and every folder has its mode back
    :param folders: folders that are widened while files in them are written
    :param undoes: the id of the change that a restore undid
    :param pruned: whether its backups were removed by ``backups --prune``
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

    @property
    def id(self) -> str:
        return f"{self.machine}-{self.number}"

    def backup_id(self, index: int) -> str:
        return f"{self.id}.{index + 1}"

    @property
    def entries(self) -> list[Entry]:
        return [Entry(self, index) for index in range(len(self.files))]

    def render(self) -> bytes:
        """Return the bytes of ``record.json``, with their own SHA-256."""
        content = {**asdict(self), "folders": [folder._asdict() for folder in self.folders]}
        digest = sha256_of(_dumped(content))
        return _dumped({"sha256": digest, **content})

    @classmethod
    def parse(cls, data: bytes) -> Record:
        """:raises ValueError: if the bytes are not those of :meth:`render`; may raise TypeError and others, too"""
        content = json.loads(data.decode("utf-8", "surrogateescape"))
        del content["sha256"]
        content["files"] = [ChangedFile(**file) for file in content["files"]]
        content["folders"] = [Widened(**folder) for folder in content["folders"]]
        record = cls(**content)
        if record.render() != data:
            raise ValueError("its checksum does not match")
        return record


def _dumped(content: dict[str, Any]) -> bytes:
    """Return indented JSON; the bytes of names that are not UTF-8 stay as they are."""
    return f"{json.dumps(content, indent=1, ensure_ascii=False)}\n".encode("utf-8", "surrogateescape")


def new_record(kind: str, number: int, files: list[ChangedFile], undoes: str | None, in_place: bool) -> Record:
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    command = ["opsinfo", *sys.argv[1:]]
    return Record(machine_name(), number, kind, command, now, user, "pending", files, undoes=undoes, in_place=in_place)


# what happened, by the hashes of the files


def file_state(record: Record, file: ChangedFile) -> FileState:
    """Return which content of a change a file has now.

    ``torn``: the change was killed while it overwrote the file in place. ``other``: something else wrote it.
    """
    digest = digest_at(file.path)
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
    states = {file_state(record, file) for file in record.files} - {"other"}
    if "torn" in states:
        return "torn"
    if len(states) == 2:
        return "half"
    return "done" if states == {"after"} else "abandoned"


def unfinished(record: Record, path: str) -> Refused:
    """Return the error for a change that only ``restore`` can end."""
    if outcome(record) == "torn":
        return Refused(
            f"change {record.id} of {record.time} was killed while it overwrote the file: it is half written",
            name="half-written",
            path=path,
            hint="`opsinfo restore --in-place` on the same target restores the backup",
        )
    return Refused(
        f"change {record.id} of {record.time} was interrupted between its files",
        name="unfinished-change",
        path=path,
        hint="`opsinfo restore` on the same target restores its files",
    )


class Damage(NamedTuple):
    """A fault of the vault.

    :param path: the file or folder in the vault
    :param number: of a change that cannot be read
    """

    path: str
    message: str
    number: int | None = None


class Entry(NamedTuple):
    """One file of a change."""

    record: Record
    nth: int

    @property
    def file(self) -> ChangedFile:
        return self.record.files[self.nth]

    @property
    def id(self) -> str:
        return self.record.backup_id(self.nth)


@dataclass(frozen=True)
class History:
    """The changes of one machine, in order, and the damage found while reading them."""

    machine: str
    records: list[Record]
    damage: list[Damage]

    @property
    def next_number(self) -> int:
        known = [record.number for record in self.records] + [damage.number or 0 for damage in self.damage]
        return max(known, default=0) + 1

    @cached_property
    def entries(self) -> list[Entry]:
        return [entry for record in self.records for entry in record.entries]

    @cached_property
    def undone(self) -> set[str]:
        """The ids of the changes that a restore undid."""
        return {record.undoes for record in self.records if record.undoes and outcome(record) == "done"}

    def lineage_of(self, path: str, digest: str) -> str | None:
        """Return the newest lineage of a path that knows a content; None if opsinfo neither read nor wrote it."""
        for entry in reversed(self.entries):
            written = None if entry.record.state == "abandoned" else entry.file.after
            if entry.file.path == path and digest in (entry.file.before, written):
                return entry.file.lineage
        return None

    def pristine(self, path: str, lineage: str) -> Entry | None:
        """Return the backup of the content with which a lineage begins; None if there is none yet.

        :raises Refused: if the change with which it begins cannot be read
        """
        entries = [entry for entry in self.entries if entry.file.path == path and entry.file.lineage == lineage]
        first = next((entry for entry in entries if entry.id == lineage), None)
        if first is None:
            number = lineage.rpartition("-")[2].partition(".")[0]
            raise self._refusal([each for each in self.damage if str(each.number) == number])
        content = first.file.before or first.file.after
        return next((entry for entry in entries if entry.file.backup and entry.file.before == content), None)

    def pristine_ids(self) -> set[str]:
        found = set()
        for path, lineage in {(entry.file.path, entry.file.lineage) for entry in self.entries}:
            with suppress(Refused):
                entry = self.pristine(path, lineage)
                found |= {entry.id} if entry else set()
        return found

    def require_known(self, since: int = 0) -> None:
        """:raises Refused: if a change after number ``since`` cannot be read, because it may be about any file"""
        unknown = [damage for damage in self.damage if damage.number is not None and damage.number > since]
        if unknown:
            raise self._refusal(unknown)

    def _refusal(self, damage: Sequence[Damage]) -> Refused:
        path = damage[0].path if damage else None
        message = damage[0].message if damage else "the change with which these backups begin is missing"
        return Refused(
            f"the vault is damaged, so what happened to this file is uncertain: {message}",
            name="damaged-backup",
            path=path,
            hint="`opsinfo backups` lists what is known, and --to ID restores one of them; the backups are plain files "
            "beside their record.json, which can be copied by hand",
        )


# the folders


class Vault:
    """A vault. Reading never writes; :meth:`locked` creates the folders (0700; files in them 0600)."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.machine = machine_name()
        self.folder = os.path.join(path, self.machine)

    def folder_of(self, record: Record) -> str:
        return os.path.join(self.path, record.machine, str(record.number))

    @contextmanager
    def locked(self, deadline: float) -> Iterator[None]:
        """Hold this machine's lock of the vault, which is created if it does not exist.

        :raises Locked: if another run holds it at the end of the wait
        :raises Refused: if the vault is in a config directory, belongs to another user, or cannot be written, or if the
            system fails in any call of the work done under the lock: a disk may fail in each of them
        """
        self._prepare()
        with ExitStack() as held:
            try:
                descriptor = held.enter_context(opened(self.folder, os.O_DIRECTORY))
            except OSError as error:
                raise self._refusal(error) from None
            wait_for(descriptor, self.folder, deadline, "the vault")
            try:
                _remove_temps(self.folder)
            except OSError as error:
                raise self._refusal(error) from None
            try:
                yield
            except OSError as error:
                raise system_failed(error) from None

    def is_in_use(self) -> bool:
        """Return whether another run that writes holds the vault at the moment."""
        try:
            with self.locked(time.monotonic()):
                return False
        except Locked:
            return True

    def _prepare(self) -> None:
        real = os.path.realpath(self.path)
        if any(is_library_name(os.path.join(folder, "x.json")) for folder in (real, *folders_above(real))):
            raise Refused(
                "a vault must not be in a config directory: the engine reads every JSON file there",
                name="vault-in-store",
                path=self.path,
                hint="choose another --backup-dir",
            )
        try:
            os.makedirs(os.path.dirname(real), 0o755, exist_ok=True)
            for folder in (real, os.path.join(real, self.machine)):
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700)
            self.require_owned(private=True)
        except OSError as error:
            raise self._refusal(error) from None

    def require_owned(self, private: bool = False) -> None:
        """:param private: whether to refuse a vault that others can enter, too
        :raises Refused: if the vault belongs to another user; called before any of it is read
        """
        real = os.path.realpath(self.path)
        for folder in (real, os.path.join(real, self.machine)):
            try:
                here = os.lstat(folder)
            except (FileNotFoundError, NotADirectoryError):
                return
            except OSError as error:
                raise self._refusal(error) from None
            if not stat.S_ISDIR(here.st_mode) or here.st_uid != os.geteuid():
                raise Refused(
                    "the vault's folder is not a directory that belongs to you",
                    name="vault-not-ours",
                    path=folder,
                    hint="run the command as its owner, or choose another --backup-dir",
                )
            if private and here.st_mode & 0o077:
                hint = f"`chmod 700 {quoted(folder)}`, or choose a new folder with --backup-dir"
                raise Refused("other users can enter the vault's folder", name="vault-open", path=folder, hint=hint)

    # reading

    def history(self, machine: str | None = None) -> History:
        """Return the changes of this machine, or of another one.

        :raises Refused: if the vault belongs to another user, or its folder cannot be read
        """
        self.require_owned()
        machine = machine or self.machine
        folder = os.path.join(self.path, machine)
        records, damage = [], []
        numbers = []
        for name in self._names(folder):
            path = os.path.join(folder, name)
            if not NUMBER.fullmatch(name):
                damage += [] if _TEMP.fullmatch(name) else [Damage(path, "not a file of a vault")]
                continue
            numbers.append(int(name))
            record = self._read(path, machine, int(name))
            if isinstance(record, Record):
                records.append(record)
            else:
                damage.append(record)
        for number in sorted(set(range(1, max(numbers, default=0))) - set(numbers)):
            damage.append(Damage(os.path.join(folder, str(number)), f"change {number} is missing", number))
        return History(machine, sorted(records, key=lambda record: record.number), damage)

    def _read(self, path: str, machine: str, number: int) -> Record | Damage:
        """:raises Refused: if the disk fails, so that it is unknown whether the record is damaged"""
        place = os.path.join(path, RECORD)
        try:
            data = _bytes(place)
            record = Record.parse(data)
            if (record.machine, record.number) != (machine, number):
                raise ValueError("it is the record of another change")
        except (FileNotFoundError, NotADirectoryError):
            return Damage(place, f"the record of change {number} is missing", number)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise unreadable(error, place) from None
            return Damage(place, f"the record of change {number} is a link", number)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return Damage(place, f"the record of change {number} is damaged", number)
        return record

    def histories(self) -> list[History]:
        """Return the changes of every machine, this one's last."""
        machines = [name for name in self._names(self.path) if MACHINE.fullmatch(name) and name != self.machine]
        return [self.history(machine) for machine in (*machines, self.machine)]

    def damage(self, contents: bool) -> list[Damage]:
        """Return the faults of the whole vault.

        :param contents: whether to compare every backup with its hash; otherwise only whether it exists
        """
        found = []
        for history in self.histories():
            found += history.damage
            for entry in history.entries:
                if entry.file.backup is not None and not entry.record.pruned:
                    found += self._backup_damage(entry, contents)
        for name in self._names(self.path):
            if not MACHINE.fullmatch(name) and name not in _OLDER:
                found.append(Damage(os.path.join(self.path, name), "not a file of a vault"))
        return found

    def _backup_damage(self, entry: Entry, contents: bool) -> list[Damage]:
        path = self.backup_path(entry)
        try:
            if not contents:
                os.lstat(path)
            elif sha256_of(_bytes(path)) != entry.file.before:
                return [Damage(path, f"the backup of change {entry.record.id} is damaged: its checksum does not match")]
        except FileNotFoundError:
            return [Damage(path, f"the backup of change {entry.record.id} is missing")]
        except OSError as error:
            return [Damage(path, f"the backup of change {entry.record.id} cannot be read: {error.strerror}")]
        return []

    def older(self) -> str | None:
        """Return the folder of a vault of an earlier version in the same place, which is left alone."""
        return next((self.path for name in _OLDER if os.path.isdir(os.path.join(self.path, name))), None)

    def backup_path(self, entry: Entry) -> str:
        return os.path.join(self.folder_of(entry.record), entry.file.backup or "")

    def has(self, entry: Entry) -> bool:
        return entry.file.backup is not None and os.path.lexists(self.backup_path(entry))

    def content(self, entry: Entry) -> bytes:
        """:raises Refused: if the backup was pruned, is missing, or does not match its hash"""
        path = self.backup_path(entry)
        if entry.record.pruned:
            raise Refused(
                "this backup was removed by `opsinfo backups --prune`; only its record is left",
                name="pruned",
                path=entry.file.path,
                hint="`opsinfo backups` lists the others; `--to pristine` restores the first one",
            )
        with suppress(OSError):
            data = _bytes(path)
            if sha256_of(data) == entry.file.before:
                return data
        raise Refused(
            "the backup is missing or damaged: its checksum does not match",
            name="damaged-backup",
            path=path,
            hint="`opsinfo backups` lists the others",
        )

    def _names(self, folder: str) -> list[str]:
        self.require_owned()
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._refusal(error) from None

    # writing; the caller holds the lock

    def add(self, record: Record, contents: Iterable[bytes | None]) -> None:
        """Write a change with its backups, synced, before its first file is replaced.

        :param contents: the old content of each file
        :raises Refused: if it cannot be written, or the disk does not confirm it; nothing is left of it then
        """
        temp = os.path.join(self.folder, f".opsinfo-{os.getpid()}-{os.urandom(6).hex()}.tmp")
        try:
            os.mkdir(temp, 0o700)
            for file, content in zip(record.files, contents, strict=True):
                if file.backup is not None and content is not None:
                    _write_new(os.path.join(temp, file.backup), content)
            _write_new(os.path.join(temp, RECORD), record.render())
            _sync(temp)
            os.rename(temp, self.folder_of(record))
        except BaseException as error:
            shutil.rmtree(temp, ignore_errors=True)
            if isinstance(error, OSError):
                raise self._refusal(error) from None
            raise
        try:
            _sync(self.folder)
            if record.number == 1:  # the folders above may be new
                _sync_those_above(os.path.realpath(self.folder))
        except OSError as error:
            self.save(replace(record, state="abandoned"))
            raise self._refusal(error) from None

    def save(self, record: Record) -> None:
        """Write the record of a change again.

        :raises Refused: if it cannot be written, or the disk does not confirm it
        """
        try:
            _remove_temps(self.folder_of(record))
            with place_of(os.path.realpath(os.path.join(self.folder_of(record), RECORD))) as place:
                if not write_whole(place, record.render()):
                    raise OSError(errno.EIO, "the disk does not confirm the record")
        except OSError as error:
            raise self._refusal(error) from None

    def prune(self, scope: Scope, keep: int, dry_run: bool) -> list[str]:
        """Remove the backups of old changes; their records stay, so that numbers and moves stay known.

        Kept are the newest ``keep`` of each file, the first copy of each vendor version, changes that hold one of
        these, files out of scope, and changes that are not finished.

        :returns: the ids of the removed backups
        :raises Refused: if a record is damaged, because what it needs is unknown
        """
        history = self.history()
        history.require_known()
        kept = history.pristine_ids()
        by_path: dict[str, list[Entry]] = {}
        for entry in history.entries:
            if self.has(entry):
                by_path.setdefault(entry.file.path, []).append(entry)
        for path, entries in by_path.items():
            kept |= {entry.id for entry in (entries[-keep:] if scope(path) else entries)}
        dropped = []
        for record in history.records:
            held = [entry for entry in record.entries if self.has(entry)]
            if not held or record.state == "pending" or kept & {entry.id for entry in held}:
                continue
            dropped += [entry.id for entry in held]
            if not dry_run:
                self._drop(record, held)
        return dropped

    def _drop(self, record: Record, entries: Iterable[Entry]) -> None:
        """Say that the backups are gone before they go: a missing backup is damage otherwise."""
        try:
            self.save(replace(record, pruned=True))
            for entry in entries:
                os.unlink(self.backup_path(entry))
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> Refused:
        hint = "choose another folder with --backup-dir or OPSINFO_BACKUP_DIR"
        if error.errno == errno.ENOSPC:
            hint = "the disk is full; " + hint
        return Refused(f"cannot use the vault: {error.strerror}", name="vault-unusable", path=self.path, hint=hint)


def backup_name(index: int, path: str) -> str:
    """Return the name of a file's old content in the folder of a change."""
    return os.fsdecode(os.fsencode(f"{index + 1}-") + os.fsencode(os.path.basename(path))[-200:])


def moves_of(moved: Sequence[Move]) -> dict[str, list[str | None]]:
    return {move.name: [each and str(each) for each in (move.before, move.after)] for move in moved}


def _remove_temps(folder: str) -> None:
    """Remove files and folders that killed runs left: whoever holds the vault's lock is alone."""
    for name in filter(_TEMP.fullmatch, os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _bytes(path: str) -> bytes:
    with opened(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _write_new(path: str, data: bytes) -> None:
    with opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
        write_all(descriptor, data)
        os.fsync(descriptor)


def _sync_those_above(folder: str) -> None:
    """Sync the folders above, as far as this user may have made folders in them."""
    while folder != os.path.dirname(folder) and os.lstat(folder).st_uid == os.geteuid():
        folder = os.path.dirname(folder)
        try:
            _sync(folder)
        except OSError:
            if os.lstat(folder).st_uid == os.geteuid():
                raise


def _sync(folder: str) -> None:
    """:raises OSError: if the disk does not confirm it"""
    with opened(folder, os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)
