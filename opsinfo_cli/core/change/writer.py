"""The run that writes: lock the vault and the files, plan again, prove, record, replace, report.

A run that writes several files is one change. The next run on the same files ends the change of a killed one.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...errors import Locked, NotConfirmed, OpsinfoError, Refused, Stale
from ...opening import real_inside, unreadable
from ..cann.file_kind import is_library_name
from ..cann.install import root_above, version_at
from ..text.source import read_bytes
from .closed_folders import closed_to_owner, put_back, widened
from .container import HINT, LOST, is_lost_with_container
from .file_place import FilePlace, missing_folder, real_path
from .history import History
from .lock import DEFAULT_WAIT, places_locked
from .output_file import require_place
from .plan import FileResult, Job, Move, Result, planned
from .record import ChangedFile, Record, State, backup_name, moves_by_name, new_record, outcome, unfinished
from .replace_file import Original, put, read_original, remove_leftovers, require_replaceable, sha256_of
from .trust import require_trusted
from .vault import Vault, vault_in
from .vault_place import require_outside_vault
from .write_settings import WriteSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")


class Write(NamedTuple):
    """One file to write.

    :param original: None to create it
    :param data: None to remove it
    :param given: the path as given
    """

    place: FilePlace
    original: Original | None
    data: bytes | None
    given: str
    moved: Sequence[Move] = ()


class Writer:
    """:param say: called with messages for the user
    :param settings: all but the folder of the vault
    """

    def __init__(
        self, vault: Vault, say: Callable[[str], None] = lambda _: None, **settings: Unpack[WriteSettings]
    ) -> None:
        self.vault = vault
        self.say = say
        self.wait = settings.get("wait", DEFAULT_WAIT)
        self.in_place = settings.get("in_place", False)
        self.force = settings.get("force", False)
        self.is_dry = settings.get("dry_run", False)
        self.why = settings.get("reason")
        self.command = settings.get("command", ())

    def preview(self, jobs: Sequence[Job]) -> Result:
        """Return what :meth:`run` would do, without a lock and without opening a file for writing."""
        files, refused = _each(
            _distinct(jobs), lambda job: planned(job, job.start or job.source(read_bytes(job.path, job.tree)))
        )
        return Result(files, None, refused)

    def run(self, kind: str | None, jobs: Sequence[Job]) -> Result:
        """Change all files as one change. A file that is refused while it is planned does not stop the others.

        :param kind: the command, for the record; None: everything but the writing, before a command that takes long
        :raises OpsinfoError: if every file is refused, one cannot be replaced, or a new one exists already; then none
            is changed
        :raises NotConfirmed: if all files are written but the disk did not confirm them
        """
        jobs = _distinct(jobs)
        for job in jobs:
            if job.must_be_new and os.path.lexists(real_path(job.path)):
                raise Refused("the file exists already", name="exists", path=job.path)

        def reachable(job: Job) -> tuple[Job, str]:
            real = real_inside(job.tree, job.path)[1] if job.tree else real_path(job.path)
            if job.start and not os.path.isdir(os.path.dirname(real)):
                raise missing_folder(job.path)
            if not job.start:
                try:
                    os.close(os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
                except OSError as error:
                    raise unreadable(error, job.path) from None
            return job, real

        real, unread = _each(jobs, reachable)
        writes: dict[str, Write] = {}

        def plan(job: Job, place: FilePlace) -> FileResult:
            start = None if not job.must_be_new and os.path.lexists(place.path) else job.start
            original = None if start else read_original(place)
            file = planned(job, start or job.source(original.data if original else b""))
            if file.patch or job.must_be_new:
                write = Write(place, original, file.result.data, job.path, file.moved)
                self._require_allowed(job.path, place.path, original and original.stat)
                writes[job.path] = write
            return file

        with self.locked([path for _, path in real]) as (places, history):
            files, refused = _each(real, lambda each: plan(each[0], places[each[1]]))
            refused = (*unread, *refused)
            if not writes or kind is None:  # nothing to write, or a rehearsal
                return Result(files, None, refused)
            record = self.commit(kind, history, list(writes.values()))
        backups = {path: record.backup_id(index) for index, path in enumerate(writes) if writes[path].original}
        return Result([file._replace(backup=backups.get(file.path)) for file in files], record.id, refused)

    def require_writable(self, given: str) -> None:
        """Check, before long work, that a change of a file can be written and recorded; nothing is written.

        :raises Refused: if it cannot be, or should not
        """
        self.vault.require_usable()
        require_place(given, opens=True)
        real = real_path(given)
        self._require_allowed(given, real, os.stat(real) if os.path.exists(real) else None)

    def _require_allowed(self, given: str, real: str, here: os.stat_result | None) -> None:
        """:param here: of the file; None if it is new
        :raises Refused: if this user may not write it, or should not
        """
        if here:
            require_replaceable(real, here)
        require_outside_vault(given, real)
        if self.force:
            return
        require_trusted(given, real)
        if _is_read_only(real, here) and not is_library_name(real):
            hint = "--force writes it, and keeps its mode"
            raise Refused("the file is read-only", name="read-only", path=given, hint=hint)

    @contextmanager
    def locked(self, paths: Sequence[str], ends: bool = False) -> Iterator[tuple[dict[str, FilePlace], History]]:
        """Hold the vault and real paths, after ending changes that a kill interrupted there.

        :param ends: whether the caller ends changes that stopped between two files
        :raises Locked: if another run still works on one of them at the end of the wait
        """
        deadline = time.monotonic() + self.wait
        with self.vault.locked(deadline), places_locked(paths, deadline) as places:
            for descriptor in {place.folder for place in places.values()}:
                remove_leftovers(descriptor)  # one may be a second name of a file that a killed run created
            history = self.vault.history()
            for index, record in enumerate(history.records):
                if record.state != "pending":
                    continue
                # its process is gone: nobody else holds the vault's lock
                closed, left = put_back(record.folders)
                for folder in closed:
                    self.say(f"restored the mode of {folder}, left writable by change {record.id}")
                mine = [file.path for file in record.files if file.path in paths]
                state = outcome(record)
                if mine and state in ("half", "torn") and not ends:
                    raise unfinished(record, mine[0])
                if mine and (state == "done" or state == "abandoned"):
                    ended = "was complete" if state == "done" else "had changed nothing"
                    self.say(f"change {record.id} was interrupted; it {ended}")
                    record = replace(record, state="pending" if left else state)
                if mine or closed:
                    history.records[index] = replace(record, folders=left)
                    self.vault.save(history.records[index])
            yield places, history

    def commit(self, kind: str, history: History, writes: Sequence[Write], undoes: str | None = None) -> Record:
        """Record, then write. The caller holds the locks.

        :raises Refused: if a file cannot be written; the others have their old content again
        :raises NotConfirmed: if all files are written but the disk did not confirm them
        """
        for write in writes:
            self._require_allowed(write.given, write.place.path, write.original and write.original.stat)
        record = new_record(kind, history.next_number, self.command, undoes, self.in_place, self.why)
        files = []
        for index, write in enumerate(writes):
            path = write.place.path
            before = write.original and sha256_of(write.original.data)
            after = None if write.data is None else sha256_of(write.data)
            file = ChangedFile(
                path=path,
                given=os.path.abspath(write.given),
                before=before,
                after=after,
                lineage=history.lineage_of(path, str(before or after)) or record.backup_id(index),
                version=version_at(path),
                moves=moves_by_name(write.moved),
                backup=backup_name(index, path) if write.original else None,
                inode=write.original.stat.st_ino if write.original and self.in_place else None,
            )
            files.append(file)
        in_place = [write.place.path for write in writes if self.in_place and write.original and write.data is not None]
        folders = sorted(
            {  # in place, only those in which a file is created or removed
                os.path.dirname(write.place.path) for write in writes if write.place.path not in in_place
            }
        )
        for path in [
            *filter(_is_closed, folders),
            *(each.given for each in writes if each.original and _is_read_only(each.place.path, each.original.stat)),
        ]:
            self.say(f"{path} is read-only; it is written to nevertheless, and keeps its mode")
        record = replace(record, files=files, folders=closed_to_owner([*folders, *in_place]))
        with _signals_deferred():
            self.vault.add(record, [write.original and write.original.data for write in writes])
            confirmed = self._write_all(record, writes)
            unsaved = self._close(record, "done")
        if not confirmed:
            message = f"written as change {record.id}, but the disk did not confirm it: durability is not certain"
            hint = "check the disk; the backup is safe"
            raise NotConfirmed(message, path=writes[0].given, hint=hint)
        if unsaved:
            raise NotConfirmed(
                f"written as change {record.id}, but the vault could not record that it is complete, which the next "
                f"run finds out: {unsaved.message}",
                path=unsaved.path,
                hint=unsaved.hint,
            )
        if record.number == 1 and is_lost_with_container(self.vault.path, os.environ):
            self.say(f"the vault {self.vault.path} is {LOST}; {HINT}")
        return record

    def _write_all(self, record: Record, writes: Sequence[Write]) -> bool:
        """Write every file; if one fails, the others get their old content back."""
        written: list[Write] = []
        confirmed = True
        try:
            with widened(record.folders):
                for write in writes:
                    confirmed &= put(write.place, write.original, write.data, self.in_place)
                    written.append(write)
        except BaseException:
            try:
                with widened(record.folders if written else []):
                    for write in reversed(written):
                        current = None if write.data is None else read_original(write.place)
                        put(write.place, current, write.original and write.original.data, self.in_place)
            except OpsinfoError as error:
                message = f"change {record.id} stopped between its files, and could not be undone: {error.message}"
                hint = "`opsinfo restore` on the same target restores its files"
                raise Refused(message, name="unfinished-change", path=error.path, hint=hint) from None
            self._close(record, "abandoned")
            raise
        return confirmed

    def _close(self, record: Record, state: State) -> OpsinfoError | None:
        """Record the end of a change. If that fails, the next run determines it from the files.

        A change whose folder modes could not be put back stays pending, so that the next run tries again.

        :returns: why it could not be recorded
        """
        _, left = put_back(record.folders)
        try:
            self.vault.save(replace(record, folders=left, state="pending" if left else state))
        except OpsinfoError as error:
            return error
        return None


def writer_of(settings: WriteSettings, say: Callable[[str], None]) -> Writer:
    return Writer(vault_in(settings), say, **settings)


def write_files(kind: str, jobs: Sequence[Job], settings: WriteSettings, say: Callable[[str], None]) -> Result:
    """Change files as one change, or with ``dry_run`` return what would change.

    :param kind: the command, for the record
    :raises OpsinfoError: as :meth:`.Writer.run`
    """
    writer = writer_of(settings, say)
    result = Result([]) if not jobs else writer.preview(jobs) if writer.is_dry else writer.run(kind, jobs)
    return result._replace(kind=kind, dry_run=writer.is_dry)


def require_writes(jobs: Sequence[Job], settings: WriteSettings) -> None:
    """Check that files can be written, before a command that takes long.

    :raises OpsinfoError: as :func:`write_files`, as far as it is known now
    """
    for error in writer_of(settings, lambda _: None).run(None, jobs).refused:
        raise error


def shut_left_open(vault: Vault, history: History) -> list[tuple[Record, list[str]]]:
    """Put back the modes of folders that killed processes left writable, unless another run is at work.

    :param history: as read before
    :returns: the changes, and the folders
    """
    found = []
    if any(record.state == "pending" and record.folders for record in history.records):
        with suppress(Locked), vault.locked(time.monotonic()):
            for record in vault.history().records:
                closed, left = put_back(record.folders if record.state == "pending" else [])
                if closed:
                    found.append((record, closed))
                    with suppress(Refused):  # a full disk: the mode is right, and the next run finds it so
                        vault.save(replace(record, folders=left))
    return found


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Defer signals while a change is recorded and its files are put in place."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_read_only(real: str, here: os.stat_result | None) -> bool:
    """Return whether a file is one that its owner may not write, outside an install, whose files all are."""
    return bool(here and not here.st_mode & stat.S_IWUSR and not root_above(real))


def _is_closed(folder: str) -> bool:
    """Return whether a folder outside an install is read-only, and this user opens it for a moment."""
    here = os.stat(folder)
    return os.geteuid() in (0, here.st_uid) and _is_read_only(folder, here)


def _distinct(jobs: Iterable[Job]) -> list[Job]:
    """Return one job for each file: the first, if several paths lead to it, through a link for example."""
    distinct: dict[str, Job] = {}
    for job in jobs:
        distinct.setdefault(real_path(job.path), job)
    return list(distinct.values())


def _each(items: Iterable[_Item], work: Callable[[_Item], _Done]) -> tuple[list[_Done], tuple[OpsinfoError, ...]]:
    """Do some work for each item; a refused one does not stop the others.

    :raises Refused: if all are refused: the first reason
    """
    done: list[_Done] = []
    refused: list[OpsinfoError] = []
    for item in items:
        try:
            done.append(work(item))
        except (Locked, Stale):
            raise
        except Refused as error:
            refused.append(error)
    if refused and not done:
        raise refused[0]
    return done, tuple(refused)
