"""What happens between two calls of a write: other programs, other runs of opsinfo, a swapped folder, a kill."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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

TEXT = """{
    "Add":{
        "precision_reduce":{
            "flag":"true"
        }
    },
    "Log":{
    }
}
"""
NEW = TEXT.replace("true", "false")
OTHER = TEXT.replace("Log", "Sin")
NO_PROCESS = 2**22 + 7

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.mkdir()
    return path


@pytest.fixture
def library(config: Path) -> Path:
    path = config / "aic-x-ops-info.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def everywhere(_: str) -> bool:
    return True


def writer(place: Path, fs: FileSystem | None = None, **options: Any) -> Writer:
    fs = fs or FileSystem()
    return Writer(Vault(str(place), fs, wait=0), **{"wait": 0, "fs": fs, **options})


def move(which: Writer, *paths: Path, op: str = "Add", to: Policy = Policy.BLACK) -> str | None:
    return which.run("move", [Job(str(path), LibraryPlan({op: to})) for path in paths]).change


def undo(which: Writer, force: bool = False) -> Any:
    return restore_last(which, everywhere, force, dry_run=False)


def in_a_child(action: Callable[[], Any], while_it_waits: Callable[[], Any], at: Path) -> int:
    """Run ``action`` in a child that makes the file ``at`` and waits for its removal where it calls :func:`pause`."""
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


# synced before it is renamed


class Tracking(FileSystem):
    """Notes what is renamed unsynced, and folders that got a name and were not synced."""

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


def test_nothing_is_renamed_unsynced_and_every_folder_is_synced_after(tmp_path: Path, library: Path) -> None:
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


def test_a_record_whose_end_is_not_confirmed_is_said_and_the_change_stands(place: Path, library: Path) -> None:
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


# a prune beside a writer


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


# killed while it overwrote


def killed_half_way(place: Path, library: Path) -> None:
    """A run with --in-place, killed when half of the new text is written."""

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


def test_a_file_that_was_replaced_after_a_half_overwrite_is_not_taken_for_it(place: Path, library: Path) -> None:
    killed_half_way(place, library)
    (library.parent / "theirs").write_text(OTHER)
    (library.parent / "theirs").rename(library)
    move(writer(place), library)
    assert library.read_text() == OTHER.replace("true", "false")


# a run that is still at work


@pytest.mark.parametrize("act", ["move", "restore"])
def test_a_change_that_is_still_being_made_is_waited_for_then_named_and_never_called_interrupted(
    place: Path, config: Path, library: Path, tmp_path: Path, act: str
) -> None:
    other, at = config / "b.json", tmp_path / "paused"
    other.write_text(TEXT)

    class Slow(FileSystem):
        def replace(self, source: str, target: str) -> None:
            if target == str(other):
                pause(at)
            super().replace(source, target)

    said: list[str] = []

    def look() -> None:
        which = writer(place, say=said.append)
        with pytest.raises(Locked) as caught:
            move(which, library, op="Log") if act == "move" else undo(which)
        assert ("still being written" if act == "move" else "another process holds the file") in caught.value.message
        assert "--wait" in str(caught.value.hint)
        assert list(unfinished_change(Vault(str(place)), everywhere)) == []

    assert in_a_child(lambda: move(writer(place, Slow()), library, other), look, at) == 0
    assert said == []
    assert (library.read_text(), other.read_text()) == (NEW, NEW)


def test_a_change_that_ends_in_time_is_waited_for(place: Path, config: Path, library: Path, tmp_path: Path) -> None:
    other, at = config / "b.json", tmp_path / "paused"
    other.write_text(TEXT)

    class Slow(FileSystem):
        def replace(self, source: str, target: str) -> None:
            if target == str(other):
                pause(at)
            super().replace(source, target)

    waiting: list[int] = []

    def look() -> None:
        waiting.append(os.fork())
        if not waiting[0]:
            os._exit(0 if move(writer(place, wait=30), library, op="Log") else 4)

    assert in_a_child(lambda: move(writer(place, Slow()), library, other), look, at) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(waiting[0], 0)[1]) == 0
    assert '"flag":"false"' in library.read_text()
    assert other.read_text() == NEW


def test_a_change_whose_writer_was_killed_is_settled_whatever_process_has_its_id_now(
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


# a folder that is swapped


@pytest.mark.parametrize("in_place", [False, True], ids=["replaced", "in place"])
@pytest.mark.parametrize("moment", ["open", "flock", "fsync"])
def test_a_folder_swapped_for_a_link_while_we_write_has_no_effect(
    place: Path, config: Path, library: Path, tmp_path: Path, in_place: bool, moment: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / library.name).write_text(TEXT)
    aside = tmp_path / "aside"

    def swap() -> None:
        if not aside.exists():
            config.rename(aside)
            config.symlink_to(victim)

    class Swapping(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            descriptor = super().open(path, flags, mode)
            if moment == "open" and path == str(library):
                swap()
            return descriptor

        def flock(self, descriptor: int, operation: int) -> None:
            super().flock(descriptor, operation)
            if moment == "flock":
                swap()

        def fsync(self, descriptor: int) -> None:
            super().fsync(descriptor)
            if moment == "fsync":
                swap()

    move(writer(place, Swapping(), in_place=in_place), library)
    assert os.listdir(victim) == [library.name]
    assert (victim / library.name).read_text() == TEXT
    assert (aside / library.name).read_text() == NEW


def test_a_folder_that_is_a_link_by_the_time_it_is_held_is_refused(place: Path, config: Path, library: Path) -> None:
    real = str(library)
    config.rename(config.with_name("aside"))
    config.symlink_to(config.with_name("aside"))
    with pytest.raises(Refused), held(FileSystem(), [real], trusts=True):
        pass


def trusted(config: Path, file: Path, trust_folder: bool = False) -> str:
    """What root says of a folder: an error's name, or nothing."""
    try:
        with held(FileSystem(), [str(file)], trust_folder):
            return ""
    except Refused as refused:
        return refused.name if refused.path == str(file) else "another path"


@needs_root
@pytest.mark.parametrize(
    ("folder", "mode", "file", "said"),
    [
        (0, 0o755, 0, ""),
        (1234, 0o755, 1234, ""),  # an install of one service user
        (1234, 0o755, 0, "folder-not-trusted"),
        (1234, 0o1777, 0, "folder-not-trusted"),
        (0, 0o777, 0, "folder-not-trusted"),
        (0, 0o1777, 0, ""),
        (0, 0o775, 0, ""),
    ],
)
def test_root_works_only_where_no_other_user_may_replace_the_file(
    config: Path, library: Path, folder: int, mode: int, file: int, said: str
) -> None:
    os.chown(library, file, file)
    os.chown(config, folder, 0)
    config.chmod(mode)
    assert trusted(config, library) == said
    assert trusted(config, library, trust_folder=True) == ""
    below = config / "below"
    below.mkdir()
    (below / "x.json").touch()
    os.chown(below / "x.json", file, file)
    assert trusted(config, below / "x.json") == said, "an ancestor counts as the folder does"


@needs_root
def test_a_folder_of_a_group_that_nobody_is_known_of_is_not_trusted(config: Path, library: Path) -> None:
    os.chown(config, 0, 54321)
    config.chmod(0o775)
    assert trusted(config, library) == "folder-not-trusted"


# the vault's owner, and other small things


@needs_root
def test_a_vault_of_another_owner_is_refused_before_a_byte_of_it_is_read(place: Path, library: Path) -> None:
    move(writer(place), library)
    for path in (place, *place.rglob("*")):
        os.chown(path, 1234, 1234)

    class Reading(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            assert not path.startswith(str(place)), "read before it was known whose it is"
            return super().open(path, flags, mode)

    vault = Vault(str(place), Reading())
    for look in (vault.journal, vault.objects, lambda: vault.content("0" * 64)):
        with pytest.raises(Refused) as caught:
            look()
        assert caught.value.name == "vault-not-ours"


def test_a_lock_whose_closing_fails_is_no_fault(place: Path, library: Path) -> None:
    class Failing(FileSystem):
        locks: set[int] = set()  # noqa: RUF012

        def flock(self, descriptor: int, operation: int) -> None:
            super().flock(descriptor, operation)
            self.locks.add(descriptor)

        def close(self, descriptor: int) -> None:
            super().close(descriptor)
            if descriptor in self.locks:
                self.locks.discard(descriptor)
                raise OSError(5, "EIO")

    move(writer(place, Failing()), library)
    assert library.read_text() == NEW


def test_a_removed_working_folder_is_an_answer_and_no_fault(place: Path, tmp_path: Path, library: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    here = os.getcwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        move(writer(place), library)
        assert library.read_text() == NEW
        with pytest.raises(OpsinfoError):
            move(writer(place), Path("x.json"))
    finally:
        os.chdir(here)
