"""The writer with concurrent changes: files that change during a run, locks, --in-place, new files."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from writer_faults_support import Faulty
from writer_support import NEW, ROOT_ONLY, TEXT, config, library, move, names, vault

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job, Result
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.lock import locked, paused
from opsinfo_cli.change.mixlist_plan import MixlistPlan
from opsinfo_cli.change.replace import write_new
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Damaged, Locked, NotConfirmed, Refused, Stale
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy

# concurrent programs


def test_a_file_that_changes_under_the_lock_is_stale(library: Path, config: Path, vault: Vault) -> None:
    class Meddled(FileSystem):
        def fchmod(self, descriptor: int, mode: int) -> None:
            library.write_text(TEXT + " ")
            super().fchmod(descriptor, mode)

    with pytest.raises(Stale):
        move(vault, library, fs=Meddled())
    assert library.read_text() == TEXT + " "
    assert names(config) == [library.name]
    assert [record.state for record in vault.records()] in ([], ["abandoned"])


def test_a_file_that_is_replaced_under_the_lock_is_stale(library: Path, config: Path, vault: Vault) -> None:
    class Meddled(FileSystem):
        def fchmod(self, descriptor: int, mode: int) -> None:
            other = config / "other"
            other.write_text(TEXT)
            os.utime(other, ns=(1, 1))
            other.rename(library)
            super().fchmod(descriptor, mode)

    with pytest.raises(Stale):
        move(vault, library, fs=Meddled())
    assert library.read_text() == TEXT


def test_a_file_that_is_only_touched_is_not_stale(library: Path, vault: Vault) -> None:
    class Touched(FileSystem):
        def fchmod(self, descriptor: int, mode: int) -> None:
            os.utime(library, ns=(1, 1))
            super().fchmod(descriptor, mode)

    move(vault, library, fs=Touched())
    assert library.read_text() == NEW


def test_a_lock_held_by_another_names_its_owner(
    library: Path, vault: Vault, lock_owner_is_shown: Callable[[Path], bool]
) -> None:
    with holding(library) as owner:
        with pytest.raises(Locked) as caught:
            move(vault, library, wait=0.05)
        assert library.read_text() == TEXT
        assert caught.value.exit_code == 3
        if lock_owner_is_shown(library):
            assert str(owner.pid) in caught.value.message
    assert not (Path(vault.path) / "changes").exists()


class holding:  # noqa: N801
    """Another process that holds the lock of a file."""

    def __init__(self, path: Path, release: str = "sys.stdin.read()") -> None:
        hold = f"f = open({str(path)!r}); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)"
        self.code = f"import fcntl, os, sys, time; {hold}; {release}"

    def __enter__(self) -> subprocess.Popen[bytes]:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


class RefusedOnce(FileSystem):
    """Calls ``act`` and kills the other process when a lock is refused."""

    def __init__(self, other: subprocess.Popen[bytes], act: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.other, self.act, self.times = other, act, 0

    def flock(self, descriptor: int, operation: int) -> None:
        try:
            super().flock(descriptor, operation)
        except BlockingIOError:
            self.times += 1
            self.act()
            self.other.kill()
            self.other.wait()
            raise


def test_a_lock_is_waited_for(library: Path, vault: Vault) -> None:
    with holding(library) as other:
        fs = RefusedOnce(other)
        move(vault, library, fs=fs, wait=30)
    assert fs.times == 1
    assert library.read_text() == NEW


def test_a_file_replaced_during_the_wait_for_its_lock_is_locked_again(library: Path, vault: Vault) -> None:
    text = TEXT.replace("Log", "Pow")
    fresh = library.with_suffix(".fresh")
    fresh.write_text(text)
    with holding(library) as other:
        fs = RefusedOnce(other, lambda: fresh.rename(library))
        move(vault, library, fs=fs, wait=30)
    assert fs.times == 1
    assert library.read_text() == text.replace("true", "false")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list open files")
@pytest.mark.parametrize("end", ["held", "held by another", "replaced", "no locks", "gone"])
def test_every_end_of_a_lock_closes_what_it_opened(library: Path, end: str) -> None:
    class Ending(FileSystem):
        calls = 0

        def flock(self, descriptor: int, operation: int) -> None:
            self.calls += 1
            if end == "no locks":
                raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
            if end == "replaced" and self.calls == 1:
                library.with_suffix(".fresh").write_text(TEXT)
                library.with_suffix(".fresh").rename(library)
            if end == "gone":
                library.unlink()
            super().flock(descriptor, operation)

    other = os.open(library, os.O_RDONLY)
    if end == "held by another":
        fcntl.flock(other, fcntl.LOCK_EX)
    before, fs, names = os.listdir("/proc/self/fd"), Ending(), set[str]()
    try:
        with locked(fs, [str(library)], 0):
            assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    except Refused as refused:
        names.add(refused.name)
    assert os.listdir("/proc/self/fd") == before
    os.close(other)
    wanted = {"held by another": {"locked"}, "no locks": {"no-lock"}, "gone": {"unreadable"}}
    assert names == wanted.get(end, set())
    assert fs.calls == (2 if end == "replaced" else 1)


@pytest.mark.parametrize(
    ("operation", "holds"), [(fcntl.LOCK_EX, "the file"), (fcntl.LOCK_SH, "the vault")], ids=["file", "vault"]
)
@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "not listed"])
def test_a_held_lock_is_named_with_its_owner_if_the_system_lists_it(
    library: Path, monkeypatch: pytest.MonkeyPatch, operation: int, holds: str, is_listed: bool
) -> None:
    here = library.stat()
    mine = f"{os.major(here.st_dev):02x}:{os.minor(here.st_dev):02x}:{here.st_ino}"
    listed = ["1: POSIX ADVISORY WRITE 1 00:00:1 0 EOF", "2: FLOCK ADVISORY WRITE 1"]
    listed += [f"3: FLOCK ADVISORY WRITE {os.getpid()} {mine}"] * is_listed
    files = {"/proc/locks": "\n".join(listed), f"/proc/{os.getpid()}/comm": "python\n"}
    monkeypatch.setattr("builtins.open", lambda path, **_: io.StringIO(files[path]))
    other = os.open(library, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(Locked) as caught, locked(FileSystem(), [str(library)], 0, operation):
        pass
    os.close(other)
    owner = f": process {os.getpid()} (python)" if is_listed else ""
    assert caught.value.message == f"another process holds {holds}{owner}"


@pytest.mark.parametrize("call", ["open", "flock"])
def test_a_file_that_is_gone_when_it_is_locked_is_unreadable(library: Path, call: str) -> None:
    fs = Faulty(lambda name, _: errno.ENOENT if name == call else None)
    with pytest.raises(Refused) as caught, locked(fs, [str(library)], 0):
        pass
    assert (caught.value.name, caught.value.message) == ("unreadable", "No such file or directory")


def test_pauses_double_up_to_a_fifth_of_a_second_and_end_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    monkeypatch.setattr("time.sleep", slept.append)
    assert [paused(pause, 110.0) for pause in (0.005, 0.1, 0.15, 0.2)] == [0.01, 0.2, 0.2, 0.2]
    assert paused(0.2, 100.125) == paused(0.2, 99.0) == 0.2
    assert slept == [0.005, 0.1, 0.15, 0.2, 0.125, 0.0]


def test_many_writers_at_once_lose_nothing(config: Path, vault: Vault) -> None:
    path = config / "a.json"
    ops = [f"Op{number}" for number in range(6)]
    path.write_text(json.dumps({op: {} for op in ops}, indent=4))
    children = []
    for op in ops:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                move(Vault(vault.path), path, op=op)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(ops)
    assert {str(entry.policy) for entry in Library.read(str(path)).entries.values()} == {"black"}
    assert len(vault.records()) == len(ops)


def test_the_plan_is_computed_from_the_content_under_the_lock(library: Path, vault: Vault) -> None:
    class Late(FileSystem):
        def flock(self, descriptor: int, operation: int) -> None:
            library.write_text(TEXT.replace("Log", "Pow"))
            super().flock(descriptor, operation)

    move(vault, library, fs=Late())
    assert library.read_text() == NEW.replace("Log", "Pow")


def test_a_file_system_without_locks_is_refused(library: Path, vault: Vault) -> None:
    with pytest.raises(Refused) as caught:
        move(vault, library, fs=Faulty(lambda name, _: errno.ENOTSUP if name == "flock" else None))
    assert caught.value.name == "no-lock"
    assert library.read_text() == TEXT


def test_a_lock_leaves_nothing_behind(library: Path, vault: Vault) -> None:
    move(vault, library)
    with open(library) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert names(library.parent) == [library.name]


# in place, and new files


def test_in_place_keeps_the_inode(library: Path, vault: Vault) -> None:
    inode = library.stat().st_ino
    shorter = move(vault, library, to=Policy.GRAY, in_place=True)
    assert library.stat().st_ino == inode
    assert json.loads(library.read_text())["Add"] == {}
    assert vault.content(shorter.files[0].source.sha256) == TEXT.encode()


def test_a_new_file_is_a_change_that_can_be_undone(tmp_path: Path, vault: Vault) -> None:
    path = tmp_path / "m.json"
    change = Writer(vault).create(str(path), b"{}\n", "move", [])
    assert path.read_bytes() == b"{}\n"
    (record,) = vault.records()
    assert (record.id, record.state, record.files[0].before) == (change, "done", None)


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_new(FileSystem(), str(tmp_path / "m.json"), b"{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.json").stat().st_mode) == 0o640
    assert names(tmp_path) == ["m.json"]


def test_a_file_that_is_there_already_is_not_overwritten(library: Path, vault: Vault) -> None:
    with pytest.raises(Refused) as caught:
        Writer(vault).create(str(library), b"{}", "move", [])
    assert caught.value.name == "exists"
    assert library.read_text() == TEXT
    assert names(library.parent) == [library.name]
    assert [record.state for record in vault.records()] in ([], ["abandoned"])


def test_a_mixlist_is_written_by_the_same_writer(tmp_path: Path, vault: Vault) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"black-list": {"to-add": ["Log", "Add"]}}')
    Writer(vault).run("move", [Job(str(path), MixlistPlan(("Add",), Policy.GRAY))])
    assert path.read_text() == '{"black-list": {"to-add": ["Log"]}}'


# as an ordinary user


def as_nobody(vault: Path, path: Path, scratch: Path) -> str:
    """Move in a child process of an ordinary user, and return the name of the error, or nothing."""
    scratch.write_text(TEXT)
    move(Vault(str(scratch) + ".vault"), scratch)  # an interpreter in root's home could not import later on
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            move(Vault(str(vault)), path)
        except Refused as error:
            os.write(writing, error.name.encode())
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading) as answer:
        return answer.read()


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of an ordinary user's install: mode 0555 in a folder of 0550."""
    top = tmp_path_factory.mktemp("installed")
    for folder in (top, *top.parents[:3]):
        if folder.name.startswith(("pytest-", "popen-", "installed")):
            folder.chmod(0o755)
    config = top / "config"
    config.mkdir()
    path = config / "aic-x-ops-info.json"
    path.write_text(TEXT)
    path.chmod(0o555)
    (top / "state").mkdir()
    for each in (path, config, top / "state"):
        os.chown(each, 65534, 65534)
    config.chmod(0o550)
    return path


@ROOT_ONLY
def test_the_owner_of_an_installed_file_writes_it_and_every_mode_is_restored(installed: Path, tmp_path: Path) -> None:
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == ""
    assert installed.read_text() == NEW
    after = installed.stat()
    assert (after.st_uid, stat.S_IMODE(after.st_mode)) == (65534, 0o555)
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
    assert names(installed.parent) == [installed.name]


@ROOT_ONLY
def test_another_users_file_is_refused_with_the_reason(installed: Path, tmp_path: Path) -> None:
    os.chown(installed, 1234, 65534)
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == "not-owner"
    assert installed.read_text() == TEXT
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
    assert not (state / "vault").exists()


@ROOT_ONLY
def test_an_own_file_in_another_users_read_only_folder_is_refused(installed: Path, tmp_path: Path) -> None:
    os.chown(installed.parent, 0, 65534)
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == "not-written"
    assert installed.read_text() == TEXT
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
