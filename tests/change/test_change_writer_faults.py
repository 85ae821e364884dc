"""The writer with failing calls, interference by other programs, and held locks."""

# ruff: noqa: F401, F811 - fixtures are imported by name

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
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from writer_faults_support import Faulty
from writer_support import NEW, ROOT_ONLY, TEXT, config, library, move, names, vault

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


def nth(name: str, n: int, number: int, where: str = "") -> Faulty:
    seen = [0]

    def when(called: str, arguments: tuple[Any, ...]) -> int | None:
        if called == name and where in str(arguments[0] if arguments else ""):
            seen[0] += 1
        return number if called == name and seen[0] == n and where in str(arguments[0]) else None

    return Faulty(when)


def test_a_failing_second_replace_restores_the_first_file(config: Path, vault: Vault) -> None:
    paths = [config / "a.json", config / "b.json", config / "c.json"]
    for path in paths:
        path.write_text(TEXT)
    with pytest.raises(Refused) as caught:
        move(vault, *paths, fs=nth("replace", 2, errno.ENOSPC, str(config)))
    assert caught.value.path == str(paths[1].resolve())
    assert [path.read_text() for path in paths] == [TEXT] * 3
    assert names(config) == ["a.json", "b.json", "c.json"]
    assert [record.state for record in vault.records()] == ["abandoned"]


@pytest.mark.parametrize(
    ("call", "number", "message"),
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
    library: Path, config: Path, vault: Vault, call: str, number: int, message: str
) -> None:
    with pytest.raises(Refused) as caught:
        only_in_config(vault, library, call, number)
    assert library.read_text() == TEXT
    assert names(config) == [library.name]
    assert message in str(caught.value.hint)
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


def test_an_unconfirmed_folder_is_reported_after_the_new_content_is_written(library: Path, vault: Vault) -> None:
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


@pytest.mark.heavy
@pytest.mark.parametrize("persistent", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES], ids=["EIO", "ENOSPC", "EACCES"])
def test_if_any_call_fails_the_file_is_old_or_new_and_the_answer_is_correct(
    library: Path, config: Path, tmp_path: Path, number: int, persistent: bool
) -> None:
    wrong = []
    for failing in range(1, calls_of_a_move(library, tmp_path) + 1):
        library.write_text(TEXT)
        seen: list[str] = []

        def when(name: str, arguments: tuple[Any, ...], n: int = failing, seen: list[str] = seen) -> int | None:
            if name in ("close", "access"):  # these have no reason
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


@pytest.mark.heavy
@pytest.mark.process
def test_a_kill_at_any_call_leaves_old_or_new_and_the_next_run_succeeds(
    library: Path, config: Path, tmp_path: Path
) -> None:
    states = set()
    # every third call; tests/long kills a move at every call (test_faults_calls.py)
    for failing in range(1, calls_of_a_move(library, tmp_path) + 1, 3):
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


def create(vault: Vault, path: Path) -> None:
    Writer(vault, fs=vault.fs).create(str(path), b"{}", "move", [])


@pytest.mark.parametrize("act", [move, create], ids=["move", "create"])
def test_leftovers_of_dead_processes_are_removed_and_nothing_else(
    library: Path, config: Path, vault: Vault, act: Callable[[Vault, Path], object]
) -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    (config / f".opsinfo-{gone}-0123456789ab.tmp").write_text("x")
    kept = [f".opsinfo-{os.getppid()}-0123456789ab.tmp", ".opsinfo-x.tmp", ".other.tmp", ".opsinfo-1-zz.tmp.json"]
    for name in kept:
        (config / name).write_text("x")
    if act is create:
        library.unlink()
    act(vault, library)
    assert names(config) == sorted([*kept, library.name])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_files_are_put_in_place_waits_until_all_are(config: Path, vault: Vault, number: int) -> None:
    paths = [config / "a.json", config / "b.json"]
    for path in paths:
        path.write_text(TEXT)
    received: list[int] = []

    class Signalled(FileSystem):
        def replace(self, source: str, target: str) -> None:
            if ".opsinfo-" in source:
                signal.pthread_kill(threading.get_ident(), number)  # other threads of a test runner do not block it
                assert received == []
            super().replace(source, target)

    before = signal.signal(number, lambda signum, _: received.append(signum))
    try:
        move(vault, *paths, fs=Signalled())
    finally:
        signal.signal(number, before)
    assert received == [number]
    assert [path.read_text() for path in paths] == [NEW, NEW]
    assert vault.records()[0].state == "done"
