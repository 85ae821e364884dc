"""The writer, which alone changes files: plan under the lock, prove, back up, journal, replace, confirm.

A run that writes several files is one change. The next run on the same files ends the change of
a killed run; :mod:`.restore` can end it, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ..errors import Locked, OpsinfoError, Refused
from ..model.install import root_above, version_of
from ..text.source import read_bytes
from .chain import Key, Lineage
from .filesystem import FileSystem
from .folders import shut, widen
from .guards import real_path, require_absent, require_confirmed, require_replaceable, signals_deferred
from .held_folders import held
from .interrupted import settle
from .job import Job, Result, planned
from .journal import Journal
from .lock import FIRST_PAUSE, locked, paused
from .moves import Move
from .record import Changed, Record, now
from .replace import Original, read_original, remove_file, replace_file, write_new
from .vault import Vault, sha256_of
from .whole_file import remove_leftovers


class Write(NamedTuple):
    """One file as read, its new bytes, None to remove it, and the path as given."""

    original: Original
    data: bytes | None
    given: str
    moved: Sequence[Move] = ()


class Writer:
    """:param wait: seconds to wait for locks
    :param trust_folder: whether root writes files that another user may replace
    :param say: called with messages for the user
    """

    def __init__(
        self,
        vault: Vault,
        wait: float = 30.0,
        in_place: bool = False,
        fs: FileSystem | None = None,
        say: Callable[[str], None] = lambda _: None,
        trust_folder: bool = False,
    ) -> None:
        self.vault = vault
        self.wait = wait
        self.in_place = in_place
        self.fs = fs or FileSystem()
        self.say = say
        self.trust_folder = trust_folder

    def preview(self, jobs: list[Job]) -> Result:
        """Return what :meth:`run` would do, without a lock and without opening a file for writing."""
        return Result([planned(job, job.source(read_bytes(job.path))) for job in jobs])

    def run(self, kind: str, jobs: list[Job]) -> Result:
        """Change every file, or none.

        :raises Refused: if a file cannot be changed; then none is
        :raises NotConfirmed: if all files are written but the disk did not confirm them
        """
        real = {job.path: real_path(job.path) for job in jobs}
        with self.locked(list(real.values())):
            originals = {path: read_original(self.fs, real[path]) for path in real}
            result = Result([planned(job, job.source(originals[job.path].data)) for job in jobs])
            touched = [file for file in result.files if file.patch]
            if not touched:
                return result
            writes = [Write(originals[file.path], file.result.data, file.path, file.moved) for file in touched]
            record = self.commit(Record.begin(kind), writes)
            backups = {file.path: record.backup_id(index) for index, file in enumerate(touched)}
            return Result([file._replace(backup=backups.get(file.path)) for file in result.files], record.id)

    @contextmanager
    def locked(self, paths: list[str], ends: str | None = None) -> Iterator[None]:
        """Hold the folders and the locks of real paths, after ending changes that a kill interrupted there.

        :param ends: the change that the caller ends
        :raises Locked: if another run still works on one of them at the end of the wait
        """
        deadline, pause = time.monotonic() + self.wait, FIRST_PAUSE
        with held(self.fs, paths, self.trust_folder):
            while True:
                with locked(self.fs, paths, max(0.0, deadline - time.monotonic())):
                    journal = self.vault.journal()
                    at_work = self._at_work(journal, paths)
                    if at_work is None:
                        for folder in {os.path.dirname(path) for path in paths}:
                            # one may be a second name of a file that a killed run created
                            remove_leftovers(self.fs, folder)
                        self._settle(journal, paths, ends)
                        yield
                        return
                if time.monotonic() >= deadline:
                    raise at_work
                pause = paused(pause, deadline)

    def _settle(self, journal: Journal, paths: Sequence[str], ends: str | None = None) -> None:
        for note in settle(self.vault, journal, paths, ends):
            self.say(note)

    def _at_work(self, journal: Journal, paths: Sequence[str]) -> Locked | None:
        """Return the error about a run that has begun to replace these files and is not done."""
        for record in journal.pending():
            mine = [changed.path for changed in record.files if changed.path in paths]
            if mine and self.vault.has_writer(record):
                return Locked(
                    f"change {record.id} of {record.user} is still being written (process {record.pid})",
                    path=mine[0],
                    hint="wait for it, or set a longer time with --wait SECONDS",
                )
        return None

    def create(self, path: str, data: bytes, kind: str, moved: list[Move]) -> str:
        """Create a new file, as a change that can be undone, and return the change's id."""
        return self.create_all({path: data}, kind, moved)

    def create_all(self, files: Mapping[str, bytes], kind: str, moved: Sequence[Move] = ()) -> str:
        """Create new files, all or none, as one change.

        :returns: the change's id
        """
        real = {real_path(path): path for path in files}
        folders = {os.path.dirname(path) for path in real}
        # a file that does not exist cannot be locked: lock its folder
        with held(self.fs, real, self.trust_folder), locked(self.fs, folders, self.wait):
            for path in real:
                require_absent(self.fs, path)
            self._settle(self.vault.journal(), list(real))
            self.vault.prepare()
            for folder in folders:
                remove_leftovers(self.fs, folder)
            record = Record.begin(kind)

            def made(journal: Journal) -> list[Changed]:
                named = ((path, sha256_of(files[given]), given) for path, given in real.items())
                return [self._changed(journal, record, path, None, after, given, moved) for path, after, given in named]

            with self.vault.writing(record):
                self._begin(record, made)
                confirmed = self._make_all(record, {path: files[given] for path, given in real.items()})
        require_confirmed(confirmed, record, next(iter(files)))
        return record.id

    def _make_all(self, record: Record, files: Mapping[str, bytes]) -> bool:
        made: list[str] = []
        confirmed = True
        try:
            for path, data in files.items():
                confirmed &= write_new(self.fs, path, data)
                made.append(path)
        except BaseException:
            for path in made:
                with suppress(OSError):
                    self.fs.unlink(path)
            self._close(record, "abandoned")
            raise
        return self._close(record, "done") and confirmed

    def commit(self, record: Record, writes: list[Write]) -> Record:
        """Back up, journal, replace. The caller holds the locks.

        :raises NotConfirmed: if all files are written but the disk did not confirm them
        """
        for write in writes:
            require_replaceable(write.original)
        self.vault.prepare()
        record.in_place = self.in_place
        folders = [os.path.dirname(write.original.path) for write in writes]
        with self.vault.writing(record):
            self._begin(record, lambda journal: [self._backed_up(journal, record, write) for write in writes])
            # one process per folder, so that its mode is not restored while another one works in it
            with locked(self.fs, folders, self.wait), signals_deferred():
                confirmed = self._replace_all(record, writes)
                confirmed &= self._close(record, "done")
        require_confirmed(confirmed, record, writes[0].original.path)
        return record

    def _begin(self, record: Record, changed: Callable[[Journal], list[Changed]]) -> None:
        """Write contents, record and heads, each synced before the next; a prune runs before or after."""
        with self.vault.shared(), self.vault.linking():
            journal = self.vault.journal()
            record.order = journal.next_order()
            record.files = changed(journal)
            self.vault.save(record)
            try:
                self.vault.save_heads(record)
            except BaseException:
                self._close(record, "abandoned")
                raise

    def _replace_all(self, record: Record, writes: list[Write]) -> bool:
        """Replace every file; if one fails, restore the others."""
        replaced: list[Write] = []
        confirmed = True
        try:
            with self._open_folders(record, [write.original.path for write in writes]):
                for write in writes:
                    remove_leftovers(self.fs, os.path.dirname(write.original.path))
                    confirmed &= self._replace(write)
                    replaced.append(write)
        except BaseException:
            try:
                self._put_back(record, replaced)
            except OpsinfoError as second:
                raise Refused(
                    f"change {record.id} stopped between its files, and could not be undone: {second.message}",
                    name="unfinished-change",
                    path=second.path,
                    hint="`opsinfo restore` on the same target restores its files",
                ) from None
            raise
        return confirmed

    def _replace(self, write: Write) -> bool:
        if write.data is not None:
            return replace_file(self.fs, write.original, write.data, self.in_place)
        return remove_file(self.fs, write.original)

    @contextmanager
    def _open_folders(self, record: Record, paths: list[str]) -> Iterator[None]:
        try:
            if not self.in_place:
                widen(self.fs, self.vault, record, sorted({os.path.dirname(path) for path in paths}))
            yield
        finally:
            shut(self.fs, record)

    def _put_back(self, record: Record, replaced: list[Write]) -> None:
        """Restore the old content of files that were already replaced, after a failure."""
        with self._open_folders(record, [write.original.path for write in replaced]):
            for write in replaced:
                if write.data is None:
                    write_new(self.fs, write.original.path, write.original.data)
                else:
                    current = read_original(self.fs, write.original.path)
                    replace_file(self.fs, current, write.original.data, self.in_place)
        self._close(record, "abandoned")

    def _close(self, record: Record, state: str) -> bool:
        """Record the end of a change. If that fails, the next run determines it from the files.

        A change whose folder modes could not be restored stays pending, so that the next run tries again.

        :returns: whether the disk confirmed it
        """
        record.state = "pending" if record.folders else state
        try:
            self.vault.save(record)
        except OpsinfoError:
            return False
        return True

    def _backed_up(self, journal: Journal, record: Record, write: Write) -> Changed:
        before = self.vault.keep(write.original.data)
        after = None if write.data is None else sha256_of(write.data)
        path = write.original.path
        changed = self._changed(journal, record, path, before, after, write.given, write.moved)
        changed.inode = write.original.stat.st_ino if record.in_place else None
        return changed

    def _changed(
        self,
        journal: Journal,
        record: Record,
        path: str,
        before: str | None,
        after: str | None,
        given: str,
        moved: Sequence[Move],
    ) -> Changed:
        """One file of a record, as the next of its chain."""
        previous, is_headed = journal.last(Key(record.machine, path))
        if not is_headed:
            self.say(f"the vault's head for {path} was damaged; it was written again from the records")
        digest = str(before or after)
        lineage = journal.current_lineage(path, digest) or _new_lineage(path, digest, record)
        moves = {move.name: [each and str(each) for each in (move.before, move.after)] for move in moved}
        return Changed(path, before, after, lineage.id, lineage.version, moves, os.path.abspath(given), previous)


def _new_lineage(path: str, digest: str, record: Record) -> Lineage:
    """Return a lineage that begins with a record, whose id is part of its name."""
    root = root_above(path)
    name = f"{sha256_of(os.fsencode(path))[:8]}-{record.id}"
    return Lineage(name, digest, now(), version_of(root) if root else None, [digest])
