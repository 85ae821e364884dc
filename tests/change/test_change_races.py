"""Events between two calls of a write: other programs, other runs of opsinfo, a replaced folder, a kill."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from races_support import NEW, TEXT, config, library, move, place, writer

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.held_folders import held
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault, sha256_of
from opsinfo_cli.change.vault_check import damage_in
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.check.vault import unfinished_change
from opsinfo_cli.errors import Locked, NotConfirmed, OpsinfoError, Refused, Stale
from opsinfo_cli.model.policy import Policy

OTHER = TEXT.replace("Log", "Sin")


def everywhere(_: str) -> bool:
    return True


def undo(which: Writer, force: bool = False) -> Any:
    return restore_last(which, everywhere, force, dry_run=False)


def in_a_child(action: Callable[[], Any], while_it_waits: Callable[[], Any], at: Path) -> int:
    """Run ``action`` in a child; at :func:`pause` it creates the file ``at`` and waits for its removal."""
    child = os.fork()
    if not child:
        try:
            action()
            os._exit(0)
        except BaseException:
            os._exit(3)
    try:
        deadline = time.monotonic() + 30
        while not at.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        while_it_waits()
    finally:
        at.unlink(missing_ok=True)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


def pause(at: Path) -> None:
    at.touch()
    while at.exists():
        time.sleep(0.01)


# sync before rename


class Tracking(FileSystem):
    """Records files renamed without a sync, and folders with a new name and no sync."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[int, str] = {}
        self.dirty: set[str] = set()
        self.unsynced: list[str] = []
        self.folders: set[str] = set()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        descriptor = super().open(path, flags, mode)
        self.names[descriptor] = path.rstrip("/")
        if flags & os.O_CREAT:
            self.dirty.add(path)
        return descriptor

    def fsync(self, descriptor: int) -> None:
        self.dirty.discard(self.names[descriptor])
        self.folders.discard(self.names[descriptor])
        super().fsync(descriptor)

    def replace(self, source: str, target: str) -> None:
        if source in self.dirty:
            self.unsynced.append(target)
        super().replace(source, target)
        self.folders.add(os.path.dirname(target))

    def mkdir(self, path: str, mode: int) -> None:
        super().mkdir(path, mode)
        self.folders.add(os.path.dirname(path.rstrip("/")))


def test_every_file_is_synced_before_a_rename_and_every_folder_after_it(tmp_path: Path, library: Path) -> None:
    fs = Tracking()
    which = writer(tmp_path / "state" / "opsinfo" / "vault", fs)
    for op in ("Add", "Log"):
        move(which, library, op=op)
    undo(which)
    which.create(str(tmp_path / "new.json"), b"{}\n", "move", [])
    for _ in range(4):
        move(which, library, op="Add", to=Policy.WHITE)
        move(which, library, op="Add", to=Policy.BLACK)
    assert prune(which.vault, everywhere, keep=1, dry_run=False)
    assert fs.unsynced == []
    assert {folder for folder in fs.folders if not folder.endswith("/.heads")} == set()


def test_an_unconfirmed_record_is_reported_and_the_change_is_kept(place: Path, library: Path) -> None:
    class Unconfirmed(FileSystem):
        done = False

        def replace(self, source: str, target: str) -> None:
            super().replace(source, target)
            self.done = self.done or target == str(library)

        def fsync(self, descriptor: int) -> None:
            if self.done and "changes" in os.readlink(f"/proc/self/fd/{descriptor}"):
                raise OSError(5, "EIO")
            super().fsync(descriptor)

    with pytest.raises(NotConfirmed):
        move(writer(place, Unconfirmed()), library)
    assert library.read_text() == NEW
    undo(writer(place))
    assert library.read_text() == TEXT


# a prune during a write


def test_a_prune_waits_for_a_writer_that_found_an_object_and_has_no_record_yet(
    place: Path, library: Path, tmp_path: Path
) -> None:
    for to in (Policy.BLACK, Policy.WHITE, Policy.BLACK):
        move(writer(place), library, to=to)
    move(writer(place), library, op="Log", to=Policy.BLACK)
    move(writer(place), library, op="Log", to=Policy.WHITE)
    undo(writer(place))
    now, at = sha256_of(library.read_bytes()), tmp_path / "paused"

    class Slow(Vault):
        def keep(self, data: bytes) -> str:
            digest = super().keep(data)
            pause(at)
            return digest

    def slow_move() -> None:
        move(Writer(Slow(str(place)), wait=0), library, op="Add", to=Policy.WHITE)

    def look() -> None:
        with pytest.raises(Locked):
            prune(Vault(str(place), wait=0), everywhere, keep=1, dry_run=False)

    assert in_a_child(slow_move, look, at) == 0
    prune(Vault(str(place)), everywhere, keep=1, dry_run=False)
    assert now in Vault(str(place)).objects()
    assert damage_in(Vault(str(place)), contents=True) == []


# a lost update


@pytest.mark.parametrize("act", ["move", "restore"])
@pytest.mark.parametrize("when", ["while it is read", "right before it is replaced"])
@pytest.mark.parametrize("how", ["in place", "replaced", "in place, same size and time"])
def test_a_file_that_another_program_writes_meanwhile_is_stale_and_keeps_its_text(
    place: Path, library: Path, act: str, when: str, how: str
) -> None:
    if act == "restore":
        move(writer(place), library)
    before = library.read_text()
    theirs = OTHER if act == "move" else NEW.replace("Log", "Sin")

    def meddle() -> None:
        stat = library.stat()
        if how == "replaced":
            (library.parent / "theirs").write_text(theirs)
            (library.parent / "theirs").rename(library)
        else:
            library.write_text(theirs)
        if how.endswith("time"):
            os.utime(library, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    class Meddled(FileSystem):
        left = 1

        def read(self, descriptor: int, size: int) -> bytes:
            data = super().read(descriptor, size)
            mine = os.readlink(f"/proc/self/fd/{descriptor}") == str(library) and data
            if when == "while it is read" and mine and self.left:
                self.left -= 1
                meddle()
            return data

        def fsync(self, descriptor: int) -> None:
            super().fsync(descriptor)
            name = os.readlink(f"/proc/self/fd/{descriptor}")
            if when != "while it is read" and name.startswith(f"{library.parent}/.opsinfo") and self.left:
                self.left -= 1
                meddle()

    which = writer(place, Meddled())
    with pytest.raises(Stale) as caught:
        move(which, library) if act == "move" else undo(which)
    assert caught.value.exit_code == 3
    assert library.read_text() == theirs != before
    assert os.listdir(library.parent) == [library.name]


# killed during an overwrite


def killed_half_way(place: Path, library: Path) -> None:
    """A run with --in-place, killed after half of the new text is written."""

    class Dying(FileSystem):
        def write(self, descriptor: int, data: memoryview) -> int:
            if os.readlink(f"/proc/self/fd/{descriptor}") == str(library):
                super().write(descriptor, memoryview(b"?" * 40))
                os._exit(9)
            return super().write(descriptor, data)

    child = os.fork()
    if not child:
        move(writer(place, Dying(), in_place=True), library)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_a_file_that_was_half_overwritten_is_named_kept_open_and_restored_without_force(
    place: Path, library: Path
) -> None:
    killed_half_way(place, library)
    torn = library.read_text()
    assert torn not in (TEXT, NEW)
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            move(writer(place, in_place=True), library, op="Log")
        assert caught.value.name == "half-written"
        assert "half written" in caught.value.message
        assert library.read_text() == torn
    (finding,) = unfinished_change(Vault(str(place)), everywhere)
    assert "half written" in finding.message
    undo(writer(place, in_place=True))
    assert library.read_text() == TEXT
    assert Vault(str(place)).pending() == []
    move(writer(place, in_place=True), library)
    assert library.read_text() == NEW


def test_a_file_replaced_after_a_half_overwrite_is_not_restored(place: Path, library: Path) -> None:
    killed_half_way(place, library)
    (library.parent / "theirs").write_text(OTHER)
    (library.parent / "theirs").rename(library)
    move(writer(place), library)
    assert library.read_text() == OTHER.replace("true", "false")


# a running change


class Pausing(FileSystem):
    """Pauses before it replaces ``file``; creates the file ``at`` when it does."""

    def __init__(self, file: Path, at: Path) -> None:
        super().__init__()
        self.file, self.at = file, at

    def replace(self, source: str, target: str) -> None:
        if target == str(self.file):
            pause(self.at)
        super().replace(source, target)


@pytest.mark.parametrize("act", ["move", "restore"])
def test_a_running_change_is_waited_for_then_named_and_never_called_interrupted(
    place: Path, config: Path, library: Path, tmp_path: Path, act: str
) -> None:
    other, at = config / "b.json", tmp_path / "paused"
    other.write_text(TEXT)

    messages: list[str] = []

    def look() -> None:
        which = writer(place, say=messages.append)
        with pytest.raises(Locked) as caught:
            move(which, library, op="Log") if act == "move" else undo(which)
        assert ("still being written" if act == "move" else "another process holds the file") in caught.value.message
        assert "--wait" in str(caught.value.hint)
        assert list(unfinished_change(Vault(str(place)), everywhere)) == []

    assert in_a_child(lambda: move(writer(place, Pausing(other, at)), library, other), look, at) == 0
    assert messages == []
    assert (library.read_text(), other.read_text()) == (NEW, NEW)


def test_a_change_that_ends_in_time_is_waited_for(place: Path, config: Path, library: Path, tmp_path: Path) -> None:
    other, at = config / "b.json", tmp_path / "paused"
    other.write_text(TEXT)

    waiting: list[int] = []

    def look() -> None:
        waiting.append(os.fork())
        if not waiting[0]:
            os._exit(0 if move(writer(place, wait=30), library, op="Log") else 4)

    assert in_a_child(lambda: move(writer(place, Pausing(other, at)), library, other), look, at) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(waiting[0], 0)[1]) == 0
    assert '"flag":"false"' in library.read_text()
    assert other.read_text() == NEW


def test_a_killed_writers_change_is_settled_even_if_its_process_id_was_reused(
    place: Path, config: Path, library: Path
) -> None:
    class Dying(FileSystem):
        def replace(self, source: str, target: str) -> None:
            super().replace(source, target)
            if target == str(library):
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        move(writer(place, Dying()), library)
    os.waitpid(child, 0)
    (record,) = Vault(str(place)).pending()
    record.pid = os.getppid()
    Vault(str(place)).save(record)
    move(writer(place), library, op="Log")
    assert [each.state for each in Vault(str(place)).records()] == ["done", "done"]
