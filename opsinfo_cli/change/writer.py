"""The one place that changes files: plan under the lock, prove, back up, journal, replace, confirm.

A run that writes several files is one change. What a kill leaves behind, the next run on the same files settles, and
:mod:`.restore` ends either way.
"""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from ..errors import NotConfirmed, OpsinfoError, Refused
from ..text.patch import Patch
from ..text.source import Source, read_bytes
from ..typed import NamedTuple
from .filesystem import FileSystem
from .folders import shut, widen
from .interrupted import settle
from .lock import locked
from .moves import Move, Plan
from .record import Changed, Record
from .replace import Original, read_original, remove_file, replace_file, write_new
from .vault import Vault, sha256_of
from .whole_file import remove_leftovers


class Job(NamedTuple):
    """One file to change: the path as given, and how.

    :param seen: the text as the command read it, which need not be parsed again where the file still says so
    """

    path: str
    plan: Plan
    seen: Source | None = None

    def source(self, data: bytes) -> Source:
        return self.seen if self.seen and self.seen.says(data) else Source(data, self.path)


class FileResult(NamedTuple):
    """What happened to one file, or would."""

    path: str
    source: Source
    patch: Patch
    result: Source
    moved: list[Move]
    stayed: list[str]
    backup: str | None = None
    is_new: bool = False


class Result(NamedTuple):
    """What happened to all of them. ``change`` is None where nothing was written."""

    files: list[FileResult]
    change: str | None = None

    @property
    def would_change(self) -> bool:
        return any(file.patch for file in self.files)


class Write(NamedTuple):
    """One file as it was read, the bytes it is to have, None to take it away, and the path as given."""

    original: Original
    data: bytes | None
    given: str
    moved: Sequence[Move] = ()


class Writer:
    """:param wait: seconds to wait for locks; ``say`` hears what a person should know"""

    def __init__(
        self,
        vault: Vault,
        wait: float = 30.0,
        in_place: bool = False,
        fs: FileSystem | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.vault = vault
        self.wait = wait
        self.in_place = in_place
        self.fs = fs or FileSystem()
        self.say = say

    def preview(self, jobs: list[Job]) -> Result:
        """What :meth:`run` would do now. Opens nothing for writing, takes no lock."""
        return Result([planned(job, job.source(read_bytes(job.path))) for job in jobs])

    def run(self, kind: str, jobs: list[Job]) -> Result:
        """Change every file, or none.

        :raises Refused: with nothing changed, where anything stands in the way; :raises NotConfirmed: where all is
            written but the disk did not confirm it
        """
        real = {job.path: os.path.realpath(job.path) for job in jobs}
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
    def locked(self, paths: list[str]) -> Iterator[None]:
        """Hold the locks of real paths; changes that a kill interrupted there are settled first."""
        with locked(self.fs, paths, self.wait):
            for folder in {os.path.dirname(path) for path in paths}:
                remove_leftovers(self.fs, folder)  # one may be a second name of a file that a killed run just made
            for note in settle(self.vault, paths):
                self.say(note)
            yield

    def create(self, path: str, data: bytes, kind: str, moved: list[Move]) -> str:
        """Make a file that does not exist yet, as a change that can be undone.

        :returns: the change's id
        """
        return self.create_all({path: data}, kind, moved)

    def create_all(self, files: Mapping[str, bytes], kind: str, moved: Sequence[Move] = ()) -> str:
        """Make files that do not exist yet, all or none, as one change; what :meth:`create` returns."""
        self.vault.prepare()
        record = Record.begin(kind)
        record.files = [self._made(path, data, moved) for path, data in files.items()]
        self.vault.save(record)
        made: list[str] = []
        confirmed = True
        try:
            for changed, data in zip(record.files, files.values(), strict=True):
                confirmed &= write_new(self.fs, changed.path, data)
                made.append(changed.path)
        except BaseException:
            for path in made:
                with suppress(OSError):
                    self.fs.unlink(path)
            self._close(record, "abandoned")
            raise
        self._close(record, "done")
        _require_confirmed(confirmed, record, next(iter(files)))
        return record.id

    def _made(self, path: str, data: bytes, moved: Sequence[Move]) -> Changed:
        real, digest = os.path.realpath(path), sha256_of(data)
        lineage = self.vault.lineage_for(real, digest)
        return Changed(real, None, digest, lineage.id, lineage.version, _told(moved), os.path.abspath(path))

    def commit(self, record: Record, writes: list[Write]) -> Record:
        """Back up, journal, replace. The locks are held by the caller.

        :raises NotConfirmed: where all is written but the disk did not confirm it
        """
        for write in writes:
            _require_replaceable(write.original)
        self.vault.prepare()
        record.files = [self._backed_up(write) for write in writes]
        self.vault.save(record)
        folders = [os.path.dirname(write.original.path) for write in writes]
        # one at a time in a folder: nobody shuts it while another is at work
        with locked(self.fs, folders, self.wait), signals_deferred():
            confirmed = self._replace_all(record, writes)
            self._close(record, "done")
        _require_confirmed(confirmed, record, writes[0].original.path)
        return record

    def _replace_all(self, record: Record, writes: list[Write]) -> bool:
        """Replace every file; if one cannot be, put the others back."""
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
                    f"change {record.id} stopped between its files, and could not be taken back: {second.message}",
                    name="unfinished-change",
                    path=second.path,
                    hint="`opsinfo restore` on the same target puts its files back",
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
        """After a failure: give the files that were replaced already their old content again."""
        with self._open_folders(record, [write.original.path for write in replaced]):
            for write in replaced:
                if write.data is None:
                    write_new(self.fs, write.original.path, write.original.data)
                else:
                    current = read_original(self.fs, write.original.path)
                    replace_file(self.fs, current, write.original.data, self.in_place)
        self._close(record, "abandoned")

    def _close(self, record: Record, state: str) -> None:
        """Note how a change ended. If that cannot be noted, the next run finds out by the files.

        A change whose folders could not be shut stays pending, so that the next run tries again.
        """
        record.state = "pending" if record.folders else state
        with suppress(OpsinfoError):
            self.vault.save(record)

    def _backed_up(self, write: Write) -> Changed:
        before = self.vault.keep(write.original.data)
        after = None if write.data is None else sha256_of(write.data)
        lineage = self.vault.lineage_for(write.original.path, before)
        given = os.path.abspath(write.given)
        return Changed(write.original.path, before, after, lineage.id, lineage.version, _told(write.moved), given)


def _told(moves: Sequence[Move]) -> dict[str, list[str | None]]:
    return {move.name: [each and str(each) for each in (move.before, move.after)] for move in moves}


def planned(job: Job, source: Source) -> FileResult:
    """Make the plan on a text and prove it."""
    moves = job.plan.moves(source)
    patch = job.plan.patch(source)
    result = Source(patch.apply(source), source.path) if patch else source
    if patch:
        job.plan.prove(source, result)
    moved = [move for move in moves if patch and (move.before is None or move.before is not move.after)]
    names = {move.name for move in moved}
    return FileResult(job.path, source, patch, result, moved, [move.name for move in moves if move.name not in names])


def _require_confirmed(confirmed: bool, record: Record, path: str) -> None:
    if not confirmed:
        raise NotConfirmed(
            f"written as change {record.id}, but the disk did not confirm it: durability is not certain",
            path=path,
            hint="check the disk; the backup is safe",
        )


def _require_replaceable(original: Original) -> None:
    """:raises Refused: where the file is not ours to replace, or a replace would part it from its other names"""
    if not stat.S_ISREG(original.stat.st_mode):
        raise Refused("not a regular file", name="not-a-file", path=original.path)
    if original.stat.st_nlink > 1:
        raise Refused(
            f"the file has {original.stat.st_nlink} names (hard links); replacing one would separate them",
            name="hard-link",
            path=original.path,
            hint="give it a name of its own first: cp --preserve=all FILE FILE.own && mv FILE.own FILE",
        )
    if os.geteuid() not in (0, original.stat.st_uid):
        raise Refused(
            f"the file belongs to user {original.stat.st_uid}; only its owner or root may change it",
            name="not-owner",
            path=original.path,
            hint="run the command as its owner, or use a mixlist: that needs no right to the library",
        )


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Hold signals back while files are put in place: a matter of milliseconds, never half done."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
