"""The vault, outside every config directory: contents by hash, records of changes, heads of chains."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from ..errors import Refused
from .chain import Head, Key
from .filesystem import FileSystem
from .journal import Journal
from .journal_reading import read_journal, read_record
from .liveness import is_held
from .lock import locked
from .migration import link
from .record import Record
from .replace import read_original
from .sealed import sealed
from .vault_folders import make_folders, require_owned
from .whole_file import Durability, sync_folder, write_whole

_NOT_CONFIRMED = "the disk does not confirm the backup"


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def vault_path(chosen: str | None, environ: Mapping[str, str]) -> str:
    """Return ``--backup-dir``, else ``OPSINFO_BACKUP_DIR``, else root's place or the user's state folder."""
    if chosen or environ.get("OPSINFO_BACKUP_DIR"):
        return os.path.abspath(chosen or environ["OPSINFO_BACKUP_DIR"])
    if os.geteuid() == 0:
        return "/var/lib/opsinfo"
    state = environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME", "/"), ".local", "state")
    return os.path.join(state, "opsinfo")


class Vault:
    """A vault. Reading never writes; :meth:`prepare` creates the folders (0700; files in them 0600).

    :param wait: seconds to wait for a lock of the vault
    """

    def __init__(self, path: str, fs: FileSystem | None = None, wait: float = 30.0) -> None:
        self.path = path
        self.fs = fs or FileSystem()
        self.wait = wait
        self._locks = 0
        self._held: dict[str, int | None] = {}

    def place(self, folder: str, name: str) -> str:
        return os.path.join(self.path, folder, name)

    def prepare(self) -> None:
        """Create the vault, and link the records of an older one.

        :raises Refused: if the place is in a config directory, belongs to another user, or cannot be written
        """
        try:
            make_folders(self.fs, self.path)
        except OSError as error:
            raise self._refusal(error) from None
        if not self._is_migrated():
            with self.exclusive():
                self._migrate()

    def _is_migrated(self) -> bool:
        return os.path.isdir(self.place("heads", ""))

    def _migrate(self) -> None:
        """Write the records first, then all heads at once: the folder of heads marks the migration as done."""
        if self._is_migrated():
            return
        journal = self.journal()
        heads = link(journal.records) if journal.records else {}
        making = self.place(".heads", "")
        try:
            for record in journal.records:
                self._write(self.place("changes", record.id), sealed(record.to_json()))
            with suppress(FileExistsError):
                self.fs.mkdir(making, 0o700)
            for key, head in heads.items():
                self._write(os.path.join(making, key.name), sealed(_head_json(key, head)))
            self.fs.replace(making.rstrip("/"), self.place("heads", "").rstrip("/"))
        except OSError as error:
            raise self._refusal(error) from None
        if not sync_folder(self.fs, self.path):
            raise self._refusal(OSError(errno.EIO, _NOT_CONFIRMED))

    # locks

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the vault's shared lock, so that nothing is removed from it.

        :raises Locked: if a prune does not end in time
        """
        with self._locked(fcntl.LOCK_SH):
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the vault's exclusive lock, to remove contents.

        :raises Locked: if writers do not end in time
        """
        with self._locked(fcntl.LOCK_EX):
            yield

    @contextmanager
    def linking(self) -> Iterator[None]:
        """Hold the heads while a record becomes the last of its chains. The locks of its files do not do: another hand
        may put a new file there, whose lock is another one.

        :raises Locked: if another writer does not end in time
        """
        with locked(self.fs, [os.path.realpath(self.place("heads", ""))], self.wait):
            yield

    @contextmanager
    def _locked(self, operation: int) -> Iterator[None]:
        if self._locks:  # already held by this run
            yield
            return
        with locked(self.fs, [os.path.realpath(self.path)], self.wait, operation):
            self._locks += 1
            try:
                yield
            finally:
                self._locks -= 1

    # contents

    def keep(self, data: bytes) -> str:
        """Store a content once, and sync it. The caller holds the shared lock.

        :returns: its SHA-256
        """
        digest = sha256_of(data)
        path = self.place("objects", digest)
        if self.find(digest) != data:
            self._write(path, data)
        elif not sync_folder(self.fs, os.path.dirname(path)):  # a killed run may have put it there unconfirmed
            raise self._refusal(OSError(errno.EIO, _NOT_CONFIRMED))
        return digest

    def content(self, digest: str) -> bytes:
        """:raises Refused: if the backup is missing or does not match its name"""
        data = self.find(digest)
        if data is None:
            raise Refused(
                "the backup is missing or damaged: its checksum does not match",
                name="damaged-backup",
                path=self.place("objects", digest),
                hint="`opsinfo backups` lists the others",
            )
        return data

    def find(self, digest: str) -> bytes | None:
        """Return a content by its SHA-256; None if it is missing or damaged."""
        self.require_owned()
        try:
            data = read_original(self.fs, self.place("objects", digest)).data
        except Refused:
            return None
        return data if sha256_of(data) == digest else None

    def objects(self) -> list[str]:
        return self.names("objects")

    def forget(self, digest: str) -> None:
        """Remove a content that no record needs. The caller holds the exclusive lock."""
        try:
            with suppress(FileNotFoundError):
                self.fs.unlink(self.place("objects", digest))
        except OSError as error:
            raise self._refusal(error) from None

    # records and heads

    def journal(self) -> Journal:
        """Return the present journal.

        :raises Refused: if the vault belongs to another user, or a file in it cannot be read
        """
        return read_journal(self)

    def records(self) -> list[Record]:
        """Return all undamaged records, in order."""
        return self.journal().records

    def record(self, change: str) -> Record | None:
        return self.journal().by_id.get(change)

    def pending(self) -> list[Record]:
        return self.journal().pending()

    @contextmanager
    def writing(self, record: Record) -> Iterator[None]:
        """Lock the record of a change while it is open, so that others can see whether its writer runs."""
        self._held[record.id] = None
        try:
            yield
        finally:
            self._release(self._held.pop(record.id))

    def _release(self, descriptor: int | None) -> None:
        if descriptor is not None:
            with suppress(OSError):
                self.fs.close(descriptor)

    def has_writer(self, record: Record) -> bool:
        """Return whether the process that makes a change still runs."""
        return record.state == "pending" and is_held(self.fs, self.place("changes", record.id))

    def save(self, record: Record) -> None:
        """Write and sync the state of a change.

        :raises Refused: if it cannot be written, or the disk does not confirm it
        """
        mine = record.id in self._held and record.state == "pending"
        taken: list[int] = []
        with self.shared():
            if record.state != "pending":
                self._keep_marks(record)
            try:
                # a copy of the temp's descriptor keeps the lock of the temp, which becomes the record
                hold = (lambda descriptor: taken.append(self.fs.dup(descriptor))) if mine else None
                self._write(self.place("changes", record.id), sealed(record.to_json()), hold)
            finally:
                if taken:
                    self._release(self._held[record.id])
                    self._held[record.id] = taken[0]

    def _keep_marks(self, record: Record) -> None:
        """Keep marks that a prune has set in the record since it was read."""
        now = read_record(self, record.id)
        if now is None:
            return
        for mine, there in zip(record.files, now.files, strict=False):
            mine.pruned = mine.pruned or there.pruned

    def save_heads(self, record: Record) -> None:
        """Make a record the head of its chains. The caller holds the locks of its paths."""
        for changed in record.files:
            key = Key(record.machine, changed.path)
            self._write(self.place("heads", key.name), sealed(_head_json(key, Head(record.id, record.order))))

    def _write(self, path: str, data: bytes, finish: Callable[[int], None] | None = None) -> None:
        """Write a file, synced, or leave it unchanged; a planted link is replaced, never followed."""
        try:
            confirmed = write_whole(self.fs, path, data, Durability.FULL, finish=finish)
        except OSError as error:
            raise self._refusal(error) from None
        if not confirmed:
            raise self._refusal(OSError(errno.EIO, _NOT_CONFIRMED))

    # files

    def names(self, folder: str) -> list[str]:
        """Return the names in one of the vault's folders; empty if it does not exist."""
        self.require_owned()
        try:
            return [name for name in self.fs.listdir(self.place(folder, "")) if not name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._refusal(error) from None

    def require_owned(self) -> None:
        """:raises Refused: if the vault belongs to another user; called before any of it is read"""
        require_owned(self.fs, self.path)

    def _refusal(self, error: OSError) -> Refused:
        hint = "choose another folder with --backup-dir or OPSINFO_BACKUP_DIR"
        if error.errno == errno.ENOSPC:
            hint = "the disk is full; " + hint
        return Refused(f"cannot use the vault: {error.strerror}", name="vault-unusable", path=self.path, hint=hint)


def _head_json(key: Key, head: Head) -> dict[str, object]:
    path = os.fsencode(key.path).decode("utf-8", "surrogateescape")
    return {"machine": key.machine, "path": path, "last": head.last, "order": head.order}
