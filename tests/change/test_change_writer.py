"""The writer: old or new, never in between; mode, owner and links stay; nothing is touched where nothing changes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
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

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job, Result
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.mixlist_plan import MixlistPlan
from opsinfo_cli.change.replace import write_new
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Damaged, Locked, NotConfirmed, Refused, Stale
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy

TEXT = '{\n    "Add":{\n        "precision_reduce":{\n            "flag":"true"\n        }\n    },\n    "Log":{}\n}\n'
NEW = TEXT.replace("true", "false")
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


@pytest.fixture
def library(config: Path) -> Path:
    path = config / "aic-x-ops-info.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


def move(vault: Vault, *paths: Path, to: Policy = Policy.BLACK, op: str = "Add", **options: Any) -> Result:
    return Writer(vault, **options).run("move", [Job(str(path), LibraryPlan({op: to})) for path in paths])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_move_is_written_backed_up_and_noted(library: Path, config: Path, vault: Vault) -> None:
    result = move(vault, library)
    assert library.read_text() == NEW
    assert names(config) == [library.name]
    (file,) = result.files
    assert [tuple(map(str, each)) for each in file.moved] == [("Add", "white", "black")]
    assert file.source.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert file.result.sha256 == hashlib.sha256(NEW.encode()).hexdigest()
    (record,) = vault.records()
    assert record.id == result.change
    assert (record.kind, record.state, record.pid) == ("move", "done", os.getpid())
    (changed,) = record.files
    assert (changed.path, changed.before, changed.after) == (
        str(library.resolve()),
        file.source.sha256,
        file.result.sha256,
    )
    assert changed.moves == {"Add": ["white", "black"]}
    assert vault.content(file.source.sha256) == TEXT.encode()
    assert file.backup == record.backup_id(0)


def test_where_nothing_changes_nothing_is_touched(library: Path, vault: Vault, tmp_path: Path) -> None:
    before = library.stat()
    result = move(vault, library, to=Policy.WHITE)
    after = library.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert result.change is None
    assert [file.stayed for file in result.files] == [["Add"]]
    assert not (tmp_path / "vault").exists()


def test_of_several_files_only_those_that_change_are_written(config: Path, vault: Vault) -> None:
    paths = [config / f"{name}.json" for name in "abc"]
    for path, flag in zip(paths, ("true", "false", "true"), strict=True):
        path.write_text(TEXT.replace("true", flag))
    before = paths[1].stat()
    result = move(vault, *paths)
    assert [path.read_text() for path in paths] == [NEW] * 3
    assert paths[1].stat().st_mtime_ns == before.st_mtime_ns
    (record,) = vault.records()
    assert [Path(each.path).name for each in record.files] == ["a.json", "c.json"]
    assert [file.backup for file in result.files] == [record.backup_id(0), None, record.backup_id(1)]


def test_one_file_that_cannot_be_planned_stops_them_all(config: Path, vault: Vault) -> None:
    good, bad = config / "a.json", config / "b.json"
    good.write_text(TEXT)
    bad.write_text('{"Add":{},}')
    with pytest.raises(Damaged) as caught:
        move(vault, good, bad)
    assert caught.value.path == str(bad)
    assert good.read_text() == TEXT
    assert vault.records() == []


def test_the_preview_tells_the_same_and_opens_nothing_for_writing(library: Path, vault: Vault, tmp_path: Path) -> None:
    class ReadOnly(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            return super().open(path, flags, mode)

        def flock(self, descriptor: int, operation: int) -> None:
            raise AssertionError("a preview takes no lock")

    before = library.stat()
    jobs = [Job(str(library), LibraryPlan({"Add": Policy.BLACK}))]
    shown = Writer(vault, fs=ReadOnly()).preview(jobs)
    assert shown.would_change
    assert shown.change is None
    assert shown.files[0].result.data == NEW.encode()
    assert (library.stat().st_ino, library.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert names(tmp_path) == ["config"]
    assert Writer(vault).run("move", jobs).files[0].result.data == shown.files[0].result.data


# what stays as it was


@pytest.mark.parametrize("mode", [0o400, 0o444, 0o555, 0o600, 0o640, 0o644, 0o664, 0o755, 0o2755])
def test_the_mode_stays(library: Path, vault: Vault, mode: int) -> None:
    library.chmod(mode)
    move(vault, library)
    assert library.read_text() == NEW
    assert stat.S_IMODE(library.stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o027])
def test_the_umask_changes_nothing_for_a_file_that_is_there(library: Path, vault: Vault, umask: int) -> None:
    library.chmod(0o644)
    before = os.umask(umask)
    try:
        move(vault, library)
    finally:
        os.umask(before)
    assert stat.S_IMODE(library.stat().st_mode) == 0o644


@ROOT_ONLY
def test_the_owner_and_group_stay(library: Path, vault: Vault) -> None:
    os.chown(library, 1234, 2345)
    library.chmod(0o4755)
    move(vault, library)
    after = library.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1234, 2345, 0o4755)


def test_extended_attributes_stay(library: Path, vault: Vault) -> None:
    try:
        os.setxattr(library, "user.label", b"\0x")
    except OSError:
        pytest.skip("the file system has no user attributes")
    move(vault, library)
    assert library.read_text() == NEW
    assert os.getxattr(library, "user.label") == b"\0x"


def test_a_symlink_stays_and_the_real_file_changes(library: Path, tmp_path: Path, vault: Vault) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("config/again.json")
    (library.parent / "again.json").symlink_to(library.name)
    move(vault, link)
    assert link.is_symlink()
    assert (library.parent / "again.json").is_symlink()
    assert library.read_text() == NEW
    assert vault.records()[0].files[0].path == str(library.resolve())


@pytest.mark.parametrize("target", ["nowhere", "self"])
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, vault: Vault, target: str) -> None:
    (tmp_path / "self").symlink_to(target)
    with pytest.raises(Refused):
        move(vault, tmp_path / "self")


def test_a_hard_link_is_refused_with_a_hint(library: Path, tmp_path: Path, vault: Vault) -> None:
    os.link(library, tmp_path / "other.json")
    with pytest.raises(Refused) as caught:
        move(vault, library)
    assert caught.value.name == "hard-link"
    assert caught.value.hint
    assert library.read_text() == TEXT
    assert vault.records() == []


@pytest.mark.parametrize("name", ["a b.json", "a\nb.json", "-n.json", "\u4e2d.json", "x" * 250 + ".json", b"\xff.json"])
def test_a_name_of_any_shape_is_written(config: Path, vault: Vault, name: str | bytes) -> None:
    path = config / os.fsdecode(name)
    path.write_text(TEXT)
    move(vault, path)
    assert path.read_text() == NEW
    assert vault.records()[0].files[0].path == str(path.resolve())


def test_several_op_types_of_one_file_are_one_write(library: Path, vault: Vault) -> None:
    plan = LibraryPlan({"Add": Policy.GRAY, "Log": Policy.BLACK})
    Writer(vault).run("move", [Job(str(library), plan)])
    assert json.loads(library.read_text()) == {"Add": {}, "Log": {"precision_reduce": {"flag": "false"}}}
    assert vault.records()[0].files[0].moves == {"Add": ["white", "gray"], "Log": ["gray", "black"]}


# faults of the system


class Faulty(FileSystem):
    """Fails one call: ``when(name, arguments)`` tells which."""

    def __init__(self, when: Callable[[str, tuple[Any, ...]], int | None]) -> None:
        super().__init__()
        self.when = when

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in ("when", "__class__", "__dict__") or not callable(found):
            return found

        def call(*arguments: Any) -> Any:
            number = self.when(name, arguments)
            if number:
                raise OSError(number, os.strerror(number))
            return found(*arguments)

        return call


def nth(name: str, n: int, number: int, where: str = "") -> Faulty:
    seen = [0]

    def when(called: str, arguments: tuple[Any, ...]) -> int | None:
        if called == name and where in str(arguments[0] if arguments else ""):
            seen[0] += 1
        return number if called == name and seen[0] == n and where in str(arguments[0]) else None

    return Faulty(when)


def test_a_second_replace_that_fails_puts_the_first_file_back(config: Path, vault: Vault) -> None:
    paths = [config / "a.json", config / "b.json", config / "c.json"]
    for path in paths:
        path.write_text(TEXT)
    with pytest.raises(Refused) as caught:
        move(vault, *paths, fs=nth("replace", 2, errno.ENOSPC, ".tmp"))
    assert caught.value.path == str(paths[1].resolve())
    assert [path.read_text() for path in paths] == [TEXT] * 3
    assert names(config) == ["a.json", "b.json", "c.json"]
    assert [record.state for record in vault.records()] in ([], ["abandoned"])


@pytest.mark.parametrize(
    ("call", "number", "said"),
    [
        ("replace", errno.EBUSY, "--in-place"),
        ("replace", errno.EXDEV, "--in-place"),
        ("replace", errno.EPERM, "immutable"),
        ("fsync", errno.EIO, ""),
        ("write", errno.ENOSPC, "full"),
        ("write", errno.EDQUOT, "quota"),
        ("fchmod", errno.EPERM, ""),
    ],
)
def test_a_write_that_fails_leaves_the_old_file_and_no_temp(
    library: Path, config: Path, vault: Vault, call: str, number: int, said: str
) -> None:
    with pytest.raises(Refused) as caught:
        only_in_config(vault, library, call, number)
    assert library.read_text() == TEXT
    assert names(config) == [library.name]
    assert said in str(caught.value.hint)
    assert caught.value.path == str(library.resolve())


def only_in_config(vault: Vault, library: Path, call: str, number: int) -> None:
    """Fail a call on the library's own temp, not on the vault's files."""
    temps: set[Any] = set()

    class Watching(Faulty):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            descriptor = os.open(path, flags | os.O_CLOEXEC, mode)
            if os.path.basename(path).startswith(".opsinfo-"):
                temps.update((descriptor, path))
            return descriptor

    def when(called: str, arguments: tuple[Any, ...]) -> int | None:
        return number if called == call and arguments[0] in temps else None

    move(vault, library, fs=Watching(when))


def test_a_disk_that_does_not_confirm_the_folder_is_said_after_the_new_content_stands(
    library: Path, vault: Vault
) -> None:
    folders: set[int] = set()

    class Watching(Faulty):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            descriptor = os.open(path, flags | os.O_CLOEXEC, mode)
            (folders.add if path == str(library.parent.resolve()) else folders.discard)(descriptor)
            return descriptor

    fs = Watching(lambda called, arguments: errno.EIO if called == "fsync" and arguments[0] in folders else None)
    with pytest.raises(NotConfirmed) as caught:
        move(vault, library, fs=fs)
    assert caught.value.exit_code == 3
    assert library.read_text() == NEW
    (record,) = vault.records()
    assert record.state == "done"
    assert record.id in caught.value.message


def test_a_vault_that_cannot_be_written_stops_everything_before_the_file(library: Path, tmp_path: Path) -> None:
    vault = Vault(str(tmp_path / "vault"), nth("write", 1, errno.ENOSPC))
    with pytest.raises(Refused) as caught:
        move(vault, library)
    assert caught.value.name == "vault-unusable"
    assert "full" in str(caught.value.hint)
    assert library.read_text() == TEXT


def calls_of_a_move(library: Path, tmp_path: Path) -> int:
    seen = []

    def count(name: str, arguments: tuple[Any, ...]) -> None:
        seen.append(name)

    fs = Faulty(count)
    move(Vault(str(tmp_path / "count"), fs), library, fs=fs)
    library.write_text(TEXT)
    return len(seen)


@pytest.mark.parametrize("persistent", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES], ids=["EIO", "ENOSPC", "EACCES"])
def test_whichever_call_fails_the_file_is_old_or_new_and_the_answer_true(
    library: Path, config: Path, tmp_path: Path, number: int, persistent: bool
) -> None:
    wrong = []
    for failing in range(1, calls_of_a_move(library, tmp_path) + 1):
        library.write_text(TEXT)
        seen: list[str] = []

        def when(name: str, arguments: tuple[Any, ...], n: int = failing, seen: list[str] = seen) -> int | None:
            if name in ("close", "access"):  # these give no reason
                return None
            seen.append(name)
            return number if len(seen) == n or (persistent and len(seen) > n) else None

        fs = Faulty(when)
        try:
            move(Vault(str(tmp_path / f"vault-{failing}"), fs), library, fs=fs, wait=0)
            answer, expected = "written", NEW
        except NotConfirmed:
            answer, expected = "not confirmed", NEW
        except Refused:
            answer, expected = "refused", TEXT
        except OSError:
            answer, expected = "crashed", library.read_text()
        if answer == "crashed" or library.read_text() != expected:
            wrong.append((failing, seen[failing - 1], answer))
        if not persistent and names(config) != [library.name]:
            wrong.append((failing, seen[failing - 1], "left something behind"))
        for name in names(config):
            if name != library.name:
                (config / name).unlink()
    assert wrong == []


def test_a_kill_at_any_call_leaves_old_or_new_and_the_next_run_goes_on(
    library: Path, config: Path, tmp_path: Path
) -> None:
    states = set()
    for failing in range(1, calls_of_a_move(library, tmp_path) + 1):
        library.write_text(TEXT)
        place = str(tmp_path / f"vault-{failing}")
        child = os.fork()
        if child == 0:
            seen = [0]

            def die(name: str, arguments: tuple[Any, ...], n: int = failing, seen: list[int] = seen) -> None:
                seen[0] += 1
                if seen[0] == n:
                    os._exit(9)

            fs = Faulty(die)
            try:
                move(Vault(place, fs), library, fs=fs)
            finally:
                os._exit(8)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        assert library.read_text() in (TEXT, NEW), f"call {failing}"
        states.add(library.read_text() == NEW)
        vault = Vault(place)
        move(vault, library)
        assert library.read_text() == NEW
        assert not list(vault.pending()), f"call {failing}"
        move(vault, library, to=Policy.WHITE)
        assert names(config) == [library.name], f"call {failing}"
    assert states == {True, False}


def test_leftovers_of_dead_processes_are_removed_and_nothing_else(library: Path, config: Path, vault: Vault) -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    (config / f".opsinfo-{gone}-0123456789ab.tmp").write_text("x")
    kept = [f".opsinfo-{os.getppid()}-0123456789ab.tmp", ".opsinfo-x.tmp", ".other.tmp", ".opsinfo-1-zz.tmp.json"]
    for name in kept:
        (config / name).write_text("x")
    move(vault, library)
    assert names(config) == sorted([*kept, library.name])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_files_are_put_in_place_waits_until_all_are(config: Path, vault: Vault, number: int) -> None:
    paths = [config / "a.json", config / "b.json"]
    for path in paths:
        path.write_text(TEXT)
    heard: list[int] = []

    class Signalled(FileSystem):
        def replace(self, source: str, target: str) -> None:
            if ".opsinfo-" in source:
                os.kill(os.getpid(), number)
                assert heard == []
            super().replace(source, target)

    before = signal.signal(number, lambda signum, _: heard.append(signum))
    try:
        move(vault, *paths, fs=Signalled())
    finally:
        signal.signal(number, before)
    assert heard == [number]
    assert [path.read_text() for path in paths] == [NEW, NEW]
    assert vault.records()[0].state == "done"


# others at work


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
    library: Path, vault: Vault, lock_is_told: Callable[[Path], bool]
) -> None:
    with holding(library) as owner:
        with pytest.raises(Locked) as caught:
            move(vault, library, wait=0.05)
        assert library.read_text() == TEXT
        assert caught.value.exit_code == 3
        if lock_is_told(library):
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


def test_a_lock_is_waited_for(library: Path, vault: Vault) -> None:
    with holding(library, "time.sleep(0.3)"):
        move(vault, library, wait=30)
    assert library.read_text() == NEW


def test_a_file_replaced_while_its_lock_was_waited_for_is_locked_anew(library: Path, vault: Vault) -> None:
    other = TEXT.replace("Log", "Pow")
    fresh = library.with_suffix(".fresh")
    fresh.write_text(other)
    release = f"time.sleep(0.3); os.rename({str(fresh)!r}, {str(library)!r})"
    with holding(library, release):
        move(vault, library, wait=30)
    assert library.read_text() == other.replace("true", "false")


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


def test_the_plan_is_made_of_what_the_file_says_under_the_lock(library: Path, vault: Vault) -> None:
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
    os_before = library.stat().st_ino
    shorter = move(vault, library, to=Policy.GRAY, in_place=True)
    assert library.stat().st_ino == os_before
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
    """Move in a child process of an ordinary user; the name of the error, or nothing."""
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
    """A library as an ordinary user's own install leaves it: 0555 in a folder of 0550."""
    top = tmp_path_factory.mktemp("installed")
    for folder in (top, *top.parents[:2]):
        if folder.name.startswith(("pytest-", "installed")):
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
def test_the_owner_of_an_installed_file_writes_it_and_every_mode_is_put_back(installed: Path, tmp_path: Path) -> None:
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == ""
    assert installed.read_text() == NEW
    after = installed.stat()
    assert (after.st_uid, stat.S_IMODE(after.st_mode)) == (65534, 0o555)
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
    assert names(installed.parent) == [installed.name]


@ROOT_ONLY
def test_somebody_elses_file_is_refused_with_the_reason(installed: Path, tmp_path: Path) -> None:
    os.chown(installed, 1234, 65534)
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == "not-owner"
    assert installed.read_text() == TEXT
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
    assert not (state / "vault").exists()


@ROOT_ONLY
def test_a_file_of_ours_in_somebody_elses_closed_folder_is_refused(installed: Path, tmp_path: Path) -> None:
    os.chown(installed.parent, 0, 65534)
    state = installed.parent.parent / "state"
    assert as_nobody(state / "vault", installed, tmp_path / "x.json") == "not-written"
    assert installed.read_text() == TEXT
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
