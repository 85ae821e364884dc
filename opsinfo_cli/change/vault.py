"""Where backups live, outside every config directory: contents by their hash, and the journal of changes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..errors import Refused
from ..model.file_kind import is_library_name
from ..model.opp import root_above, version_of
from ..typed import TYPE_CHECKING, NamedTuple
from .filesystem import FileSystem
from .record import Record, now
from .replace import digest_at, read_original
from .whole_file import Durability, remove_leftovers, sync_folder, write_whole

if TYPE_CHECKING:
    from typing import Any


_NOT_CONFIRMED = "the disk does not confirm the backup"


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def vault_path(chosen: str | None, environ: Mapping[str, str]) -> str:
    """``--backup-dir``, ``OPSINFO_BACKUP_DIR``, root's place, or the user's state folder."""
    if chosen or environ.get("OPSINFO_BACKUP_DIR"):
        return os.path.abspath(chosen or environ["OPSINFO_BACKUP_DIR"])
    if os.geteuid() == 0:
        return "/var/lib/opsinfo"
    state = environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME", "/"), ".local", "state")
    return os.path.join(state, "opsinfo")


class Lineage(NamedTuple):
    """The backups of one path from one vendor state on.

    :param pristine: SHA-256 of the content first seen
    :param known: every content of this lineage that we saw or wrote
    """

    id: str
    pristine: str
    since: str
    version: str | None
    known: list[str]


def lineages_in(records: list[Record]) -> dict[str, list[Lineage]]:
    """Path -> its lineages, the oldest first, as the changes tell them."""
    found: dict[str, dict[str, Lineage]] = {}
    for record in records:
        for changed in record.files:
            first = changed.before or changed.after or ""
            lineage = found.setdefault(changed.path, {}).setdefault(
                changed.lineage, Lineage(changed.lineage, first, record.time, changed.version, [])
            )
            written = None if record.state == "abandoned" else changed.after
            lineage.known.extend(filter(None, (changed.before, written)))
    return {path: list(each.values()) for path, each in found.items()}


class Vault:
    """Reading never writes; :meth:`prepare` makes the folders (0700; files in them 0600)."""

    def __init__(self, path: str, fs: FileSystem | None = None) -> None:
        self.path = path
        self.fs = fs or FileSystem()

    def prepare(self) -> None:
        """:raises Refused: where the place is in a config directory, not ours, or cannot be written"""
        real = os.path.realpath(self.path)
        if _in_config_directory(real):
            raise Refused(
                "a vault must not lie in a config directory: the engine reads every JSON there",
                name="vault-in-store",
                path=self.path,
                hint="choose another --backup-dir",
            )
        try:
            parent = os.path.dirname(real)
            self.fs.makedirs(parent, 0o755)
            for folder in (real, *(os.path.join(real, name) for name in ("objects", "changes"))):
                with suppress(FileExistsError):
                    self.fs.mkdir(folder, 0o700)
                here = self.fs.lstat(folder)
                if not stat.S_ISDIR(here.st_mode) or here.st_uid != os.geteuid():
                    raise Refused("the vault's folder is not a directory of yours", name="vault-not-ours", path=folder)
                if stat.S_IMODE(here.st_mode) & 0o077:
                    hint = f"chmod 700 {folder}, or name a folder that is not there yet with --backup-dir"
                    raise Refused("others can enter the vault's folder", name="vault-open", path=folder, hint=hint)
                remove_leftovers(self.fs, folder)
        except OSError as error:
            raise self._refusal(error) from None

    # contents

    def keep(self, data: bytes) -> str:
        """Store a content, once; fsynced before anything else happens.

        :returns: its SHA-256
        """
        digest = sha256_of(data)
        path = self._object(digest)
        if self._content(digest) != data:
            self._write(path, data)
        elif not sync_folder(self.fs, os.path.dirname(path)):  # a killed run may have put it there unconfirmed
            raise self._refusal(OSError(errno.EIO, _NOT_CONFIRMED))
        return digest

    def content(self, digest: str) -> bytes:
        """:raises Refused: where the backup is gone or is not what its name says"""
        data = self._content(digest)
        if data is None:
            raise Refused(
                "the backup is missing or damaged: its checksum does not hold",
                name="damaged-backup",
                path=self._object(digest),
                hint="`opsinfo backups` lists the others",
            )
        return data

    def _content(self, digest: str) -> bytes | None:
        try:
            data = read_original(self.fs, self._object(digest)).data
        except Refused:
            return None
        return data if sha256_of(data) == digest else None

    def _object(self, digest: str) -> str:
        return os.path.join(self.path, "objects", digest)

    def objects(self) -> list[str]:
        return self._names("objects")

    def forget(self, digest: str) -> None:
        with suppress(FileNotFoundError):
            self.fs.unlink(self._object(digest))

    # changes

    def save(self, record: Record) -> None:
        """Note the state of a change. Only the first state must survive a power cut: the files tell the others."""
        data = json.dumps(record.to_json(), indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape")
        self._write(os.path.join(self.path, "changes", record.id), data, durable=record.state == "pending")

    def records(self) -> list[Record]:
        """Every change, the oldest first."""
        return [record for name in sorted(self._names("changes")) if (record := self._record(name))]

    def record(self, change: str) -> Record | None:
        return self._record(change) if change in self._names("changes") else None

    def pending(self) -> Iterator[Record]:
        return (record for record in self.records() if record.state == "pending")

    def _record(self, name: str) -> Record | None:
        data = self._json(os.path.join(self.path, "changes", name))
        try:
            record = Record.from_json(data) if data else None
        except (TypeError, KeyError, ValueError, AttributeError):
            return None  # nothing that we wrote
        return record if record and record.id == name else None

    # lineages

    def lineages(self, path: str) -> list[Lineage]:
        """The lineages of a real path, the oldest first."""
        return lineages_in(self.records()).get(path, [])

    def current_lineage(self, path: str, digest: str) -> Lineage | None:
        """The newest lineage, where the file as it is now belongs to it."""
        lineages = self.lineages(path)
        return lineages[-1] if lineages and digest in lineages[-1].known else None

    def lineage_for(self, path: str, digest: str) -> Lineage:
        """The lineage a content belongs to; one that we neither saw nor wrote begins a new one."""
        lineage = self.current_lineage(path, digest)
        if lineage:
            return lineage
        name = f"{sha256_of(os.fsencode(path))[:8]}-{len(self.lineages(path)) + 1}"
        return Lineage(name, digest, now(), _version(path), [digest])

    # files

    def _names(self, folder: str) -> list[str]:
        try:
            return [name for name in self.fs.listdir(os.path.join(self.path, folder)) if not name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._refusal(error) from None

    def _json(self, path: str) -> dict[str, Any] | None:
        """What a file of ours holds; None where it is gone by now or no JSON.

        :raises Refused: where it cannot be read: an unreadable journal is not an empty one
        """
        if digest_at(self.fs, path) is None:
            return None
        try:
            data = json.loads(read_original(self.fs, path).data.decode("utf-8", "surrogateescape"))
        except ValueError:
            return None
        return data if isinstance(data, dict) else None

    def _write(self, path: str, data: bytes, durable: bool = True) -> None:
        """Whole or not at all; a planted link is replaced, never followed."""
        try:
            confirmed = write_whole(self.fs, path, data, Durability.FULL if durable else Durability.NONE)
        except OSError as error:
            raise self._refusal(error) from None
        if not confirmed:
            raise self._refusal(OSError(errno.EIO, _NOT_CONFIRMED))

    def _refusal(self, error: OSError) -> Refused:
        hint = "choose another place with --backup-dir or OPSINFO_BACKUP_DIR"
        if error.errno == errno.ENOSPC:
            hint = "the disk is full; " + hint
        return Refused(f"cannot use the vault: {error.strerror}", name="vault-unusable", path=self.path, hint=hint)


def _in_config_directory(real: str) -> bool:
    folder = real
    while folder != os.path.dirname(folder):
        if is_library_name(os.path.join(folder, "x.json")):
            return True
        folder = os.path.dirname(folder)
    return False


def _version(path: str) -> str | None:
    root = root_above(path)
    return version_of(root) if root else None
