"""The vault, outside every config directory: one folder a machine, in it one numbered folder a change.

::

    <vault>/<machine>/12/record.json              what the change did; it holds its own SHA-256
    <vault>/<machine>/12/1-aic-x-ops-info.json    the content of its first file before the change
    <vault>/<machine>/pruned.json                 the records of changes that were pruned

The number is the order; time is only shown. A change is written and synced under a temporary name, and gets its number
by a rename before the first file is replaced. One exclusive lock is held for a whole run that writes; so a change that
is still pending when the lock is taken was interrupted, and the hashes of its files say how far it came.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from ...errors import Locked, Refused, quoted
from ...opening import folders_above, system_failed, unreadable
from ..cann.file_kind import is_library_name
from .file_place import opened, place_of
from .history import Damage, History
from .lock import wait_for
from .record import BackupEntry, Record, sealed, unsealed, was_pruned
from .replace_file import TEMP, sha256_of, temp_name, write_all, write_whole
from .trust import require_trusted
from .vault_place import MACHINE, NUMBER, PRUNED, RECORD, machine_name, vault_path
from .write_settings import WriteSettings

Scope = Callable[[str], bool]
"""Returns whether a real path belongs to the target."""

_OLDER = ("objects", "changes", "heads", ".heads")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_FILE = "not a file of a vault"
_FAR = 1000
"""More changes in a row do not lose their records at once."""
_NO_RECORD = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What parsing a damaged file raises."""


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
        real = self._require_place()
        made: list[str] = []
        try:
            os.makedirs(os.path.dirname(real), 0o755, exist_ok=True)
            for folder in (real, os.path.join(real, self.machine)):
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700)
                    made.append(folder)
                _require_ours(folder, private=True, is_new=folder in made)  # before anything is made in it
            lock = os.open(self.folder, os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (OSError, Refused) as error:
            for folder in reversed(made):
                with suppress(OSError):
                    os.rmdir(folder)
            raise self._refusal(error) if isinstance(error, OSError) else error from None
        try:
            wait_for(lock, self.folder, deadline, "the vault")
            try:
                _remove_temps(self.folder)
            except OSError as error:
                raise self._refusal(error) from None
            yield
        except OSError as error:
            raise system_failed(error) from None
        finally:
            os.close(lock)

    def _require_place(self) -> str:
        """Return the real path of the vault.

        :raises Refused: if it is in a config directory, or another user may put something in its place
        """
        real = os.path.realpath(self.path)
        if any(is_library_name(os.path.join(folder, "x.json")) for folder in (real, *folders_above(real))):
            message = "a vault must not be in a config directory: the engine reads every JSON file there"
            hint = "choose another --backup-dir"
            raise Refused(message, name="vault-in-store", path=self.path, hint=hint)
        require_trusted(self.path, None, "choose another --backup-dir")
        return real

    def require_usable(self) -> None:
        """Check, before long work, that a change can be recorded; nothing is written.

        :raises Refused: as :meth:`locked`, as far as it can be known
        """
        real = self._require_place()
        there = [folder for folder in (real, os.path.join(real, self.machine)) if os.path.lexists(folder)]
        for folder in there:
            _require_ours(folder, private=True)
        place = there[-1] if there else next(filter(os.path.lexists, folders_above(real)))
        if not os.access(place, os.W_OK | os.X_OK):
            raise self._refusal(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def is_in_use(self) -> bool:
        """Return whether another run that writes holds the vault at the moment."""
        try:
            with opened(self.folder, os.O_DIRECTORY) as descriptor:
                wait_for(descriptor, self.folder, time.monotonic())
        except Locked:
            return True
        return False

    def require_owned(self) -> None:
        """:raises Refused: if the vault, or this machine's folder in it, belongs to another user or is a link"""
        real = os.path.realpath(self.path)
        for folder in (real, os.path.join(real, self.machine)):
            try:
                _require_ours(folder, private=False)
            except (FileNotFoundError, NotADirectoryError):
                return
            except OSError as error:
                raise self._refusal(error) from None

    # reading

    def history(self, machine: str | None = None) -> History:
        """Return the changes of this machine, or of another one.

        :raises Refused: if the vault belongs to another user, or it cannot be read
        """
        machine = machine or self.machine
        place = os.path.join(self.path, machine, PRUNED)
        data = self._known_bytes(place)
        while True:
            history = self._history(machine, place, data)
            now = self._known_bytes(place)
            if now == data:
                return history
            data = now  # another run pruned meanwhile: what looks like damage may be that

    def _known_bytes(self, place: str) -> bytes | None:
        """:raises Refused: if the vault belongs to another user, or the file is there and cannot be read"""
        self.require_owned()
        try:
            return _bytes(place)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno in (errno.EISDIR, errno.ELOOP):
                return b""  # damage
            raise unreadable(error, place) from None

    def _history(self, machine: str, place: str, data: bytes | None) -> History:
        folder = os.path.dirname(place)
        records: list[Record] = []
        damage: list[Damage] = []
        if data is not None:
            try:
                records += [Record.of(each, pruned=True) for each in unsealed(data)["records"]]
                if any(record.machine != machine for record in records):
                    raise ValueError("it is that of another machine")
            except _NO_RECORD:
                records = []
                damage.append(Damage(place, "what is known of pruned changes is damaged"))
        pruned = {record.number for record in records}
        numbers = set(pruned)
        without: dict[int, Damage] = {}
        for name in self._names(folder):
            if not NUMBER.fullmatch(name):
                if name != PRUNED and not TEMP.fullmatch(name):
                    damage.append(Damage(os.path.join(folder, name), _NO_FILE))
            elif int(name) not in pruned:  # else a prune was killed before it removed the folder
                record = self._read(os.path.join(folder, name), machine, int(name))
                if isinstance(record, Record):
                    records.append(record)
                    numbers.add(record.number)
                else:
                    without[int(name)] = record
        for number, fault in sorted(without.items()):  # a folder named as a date is no change
            if number > max(numbers, default=0) + _FAR:
                damage.append(Damage(os.path.join(folder, str(number)), _NO_FILE))
            else:
                numbers.add(number)
                damage.append(fault)
        known = sorted(numbers)
        missing = [range(a + 1, b) for a, b in itertools.pairwise([0, *known]) if b > a + 1]
        if damage and damage[0].path == place:
            damage[0] = replace(damage[0], numbers=range(1, missing[-1].stop if missing else 2))
            missing = []
        for run in missing:
            what = f"change {run[0]} is" if len(run) == 1 else f"changes {run[0]} to {run[-1]} are"
            damage.append(Damage(os.path.join(folder, str(run[0])), f"{what} missing", run))
        return History(machine, sorted(records, key=lambda record: record.number), damage)

    def _read(self, folder: str, machine: str, number: int) -> Record | Damage:
        """:raises Refused: if the disk fails, so that it is unknown whether the record is damaged"""
        place, numbers = os.path.join(folder, RECORD), range(number, number + 1)
        try:
            try:
                record = Record.of(unsealed(_bytes(place)))
            except FileNotFoundError:
                record = Record.of(unsealed(_bytes(os.path.join(folder, PRUNED))), pruned=True)
            if (record.machine, record.number) != (machine, number):
                raise ValueError("it is the record of another change")
        except (FileNotFoundError, NotADirectoryError):
            return Damage(place, f"the record of change {number} is missing", numbers)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise unreadable(error, place) from None
            return Damage(place, f"the record of change {number} is a link", numbers)
        except _NO_RECORD:
            return Damage(place, f"the record of change {number} is damaged", numbers)
        return record

    def histories(self) -> list[History]:
        """Return the changes of every machine, this one's last."""
        machines = [name for name in self._names(self.path) if MACHINE.fullmatch(name) and name != self.machine]
        return [self.history(machine) for machine in (*machines, self.machine)]

    def damage(self, contents: bool, histories: Sequence[History] | None = None) -> list[Damage]:
        """Return the faults of the whole vault.

        :param contents: whether to compare every backup with its hash; otherwise only whether it exists
        :param histories: as read before
        """
        found = []
        for history in self.histories() if histories is None else histories:
            found += history.damage
            for entry in history.entries:
                if entry.file.backup is None or entry.record.pruned:
                    continue
                path, backup = self.backup_path(entry), f"the backup of change {entry.record.id}"
                try:
                    if not contents:
                        os.lstat(path)
                    elif sha256_of(_bytes(path)) != entry.file.before:
                        found.append(Damage(path, f"{backup} is damaged: its checksum does not match"))
                except FileNotFoundError:
                    if not self._is_gone(entry.record):
                        found.append(Damage(path, f"{backup} is missing"))
                except OSError as error:
                    found.append(Damage(path, f"{backup} cannot be read: {error.strerror}"))
        for name in self._names(self.path):
            if not MACHINE.fullmatch(name) and name not in _OLDER:
                found.append(Damage(os.path.join(self.path, name), _NO_FILE))
        return found

    def older(self) -> str | None:
        """Return the folder of a vault of an earlier version in the same place, which is left alone."""
        return next((self.path for name in _OLDER if os.path.isdir(os.path.join(self.path, name))), None)

    def backup_path(self, entry: BackupEntry) -> str:
        return os.path.join(self.folder_of(entry.record), entry.file.backup or "")

    def has(self, entry: BackupEntry) -> bool:
        return entry.file.backup is not None and os.path.lexists(self.backup_path(entry))

    def _is_gone(self, record: Record) -> bool:
        """Return whether another run pruned a change since its record was read."""
        return not os.path.lexists(os.path.join(self.folder_of(record), RECORD))

    def content(self, entry: BackupEntry) -> bytes:
        """:raises Refused: if the backup was pruned, is missing, or does not match its hash"""
        path = self.backup_path(entry)
        if entry.record.pruned or self._is_gone(entry.record):
            raise was_pruned(entry.file.path)
        reason = "is damaged: its checksum does not match"
        try:
            data = _bytes(path)
            if sha256_of(data) == entry.file.before:
                return data
        except FileNotFoundError:
            reason = "is missing"
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        hint = "`opsinfo backups` lists the others"
        raise Refused(f"the backup {reason}", name="damaged-backup", path=path, hint=hint)

    def _names(self, folder: str) -> list[str]:
        """:raises Refused: if the vault belongs to another user, or the folder cannot be read"""
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
        temp = os.path.join(self.folder, temp_name())
        files = [(file.backup, data) for file, data in zip(record.files, contents, strict=True)]
        try:
            os.mkdir(temp, 0o700)
            for name, data in (*files, (RECORD, sealed(record.content))):
                if name is not None and data is not None:
                    with opened(os.path.join(temp, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
                        write_all(descriptor, data)
                        os.fsync(descriptor)
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
            self._write(os.path.join(self.folder_of(record), RECORD), sealed(record.content))
        except OSError as error:
            raise self._refusal(error) from None

    def _write(self, path: str, data: bytes) -> None:
        """:raises OSError: if it is not written, or the disk does not confirm it"""
        with place_of(os.path.realpath(path)) as place:
            if not write_whole(place, data, private=True):
                raise OSError(errno.EIO, "the disk does not confirm the record")

    def prune(self, scope: Scope, keep: int, dry_run: bool) -> list[str]:
        """Remove old changes with their backups; on a full disk too.

        What stays: the newest ``keep`` backups of each file, the first copy of each vendor version, the change with
        which a lineage begins, changes that hold one of these, files out of scope, changes that are not finished, and
        the newest change, so that no number is used twice. The records of the others stay without their backups.

        :returns: the ids of the removed backups
        :raises Refused: if a record is damaged, because what it needs is unknown
        """
        history = self.history()
        history.require_known()
        kept = history.pristine_ids()
        held: dict[str, list[BackupEntry]] = {}
        for entry in history.entries:
            if not entry.record.pruned and self.has(entry):
                held.setdefault(entry.file.path, []).append(entry)
        for path, entries in held.items():
            kept |= {entry.id for entry in (entries[-keep:] if scope(path) else entries)}
        gone = [
            record
            for record in history.records[:-1]
            if record.pruned
            or not (
                record.state == "pending"
                or not all(scope(file.path) for file in record.files)
                or any(entry.id in kept or entry.id == entry.file.lineage for entry in record.entries)
            )
        ]
        backups = [entry for record in gone for entry in record.entries if self.has(entry)]
        if not dry_run:
            try:
                self._remove(gone, backups)
            except OSError as error:
                raise self._refusal(error) from None
        return [entry.id for entry in backups]

    def _remove(self, gone: Sequence[Record], backups: Sequence[BackupEntry]) -> None:
        """Write down the records, then remove the folders; a kill between leaves folders of known numbers.

        :param gone: all pruned changes, those of earlier prunes too
        :raises OSError: if the disk refuses it
        """
        left = [folder for folder in map(self.folder_of, gone) if os.path.lexists(folder)]
        if not left:
            return
        place = os.path.join(self.folder, PRUNED)
        data = sealed({"records": [record.content for record in gone]}, indent=None)
        try:
            self._write(place, data)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            # mark them, which needs no space, because a missing backup is damage otherwise; then free space and repeat
            marked = [folder for folder in left if os.path.lexists(os.path.join(folder, RECORD))]
            for folder in marked:
                os.rename(os.path.join(folder, RECORD), os.path.join(folder, PRUNED))
            for folder in marked:
                _sync(folder)
            for entry in backups:
                os.unlink(self.backup_path(entry))
            self._write(place, data)
        for folder in left:
            shutil.rmtree(folder)
        _sync(self.folder)

    def _refusal(self, error: OSError) -> Refused:
        hint = "choose another folder with --backup-dir or OPSINFO_BACKUP_DIR"
        if error.errno in _FULL:
            hint = f"its disk is full: `opsinfo backups --prune N` frees space, or {hint}"
        return Refused(f"cannot use the vault: {error.strerror}", name="vault-unusable", path=self.path, hint=hint)


def vault_in(settings: WriteSettings) -> Vault:
    folder = settings.get("backup_dir")
    return Vault(vault_path(None if folder is None else os.fspath(folder), os.environ))


def _require_ours(folder: str, private: bool, is_new: bool = False) -> None:
    """:param private: whether other users may not enter it, either
    :param is_new: whether this run made it, with a mode that keeps them out
    :raises Refused: if it belongs to another user or is a link
    """
    here = os.lstat(folder)
    if not stat.S_ISDIR(here.st_mode) or here.st_uid != os.geteuid():
        raise Refused(
            f"the vault's folder belongs to user {here.st_uid}"
            if stat.S_ISDIR(here.st_mode)
            else "the vault's folder is not a directory",
            name="vault-not-ours",
            path=folder,
            hint="run the command as its owner, or choose another --backup-dir",
        )
    if private and here.st_mode & 0o077:
        hint = f"`chmod 700 {quoted(folder)}`, or choose a new folder with --backup-dir"
        if is_new:
            hint = "its file system does not keep modes: choose a folder elsewhere with --backup-dir"
        raise Refused("other users can enter the vault's folder", name="vault-open", path=folder, hint=hint)


def _remove_temps(folder: str) -> None:
    """Remove files and folders that killed runs left: whoever holds the vault's lock is alone."""
    for name in filter(TEMP.fullmatch, os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _bytes(path: str) -> bytes:
    with opened(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _sync(folder: str) -> None:
    """:raises OSError: if the disk does not confirm it"""
    with opened(folder, os.O_DIRECTORY) as descriptor:
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
