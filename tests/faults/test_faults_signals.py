"""Signals at random moments: modes restored, no lock, no temp, every file old or new, and the right exit status."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract import SIGNAL_STATUSES
from faults_counts import Counts
from faults_folders import fresh
from faults_support import (
    ROOT,
    USER,
    Scene,
    as_user,
    ended,
    everywhere,
    fork,
    give,
    import_all,
    is_over,
    jobs,
    lay,
    run_main,
)
from folder_for_everybody import folder_for_everybody

from opsinfo_cli.core.change.restore import restore_last

pytestmark = pytest.mark.process  # a signal that meets the code of coverage leaves its lock held


class Install:
    """Three libraries of an ordinary user, 0555 in a folder of 0550, and one command that changes them all."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.config, self.state = top / "config", top / "state"
        self.out = top / "out"
        self.mixlist = top / "mixlist.json"
        self.mixlist.write_text('{"black-list": {"to-add": ["Mul0", "Mul1", "Mul2"]}}\n')
        self.mixlist.chmod(0o644)
        self.state.mkdir()
        give(USER, self.state)

    def again(self, number: int) -> Scene:
        if self.config.exists():
            self.config.chmod(0o755)
        paths = lay(fresh(self.config), 3)
        for path in paths:
            path.chmod(0o555)
        give(USER, self.config, *paths)
        self.config.chmod(0o550)
        before = [path.read_bytes() for path in paths]
        new = [b"false".join(each.rsplit(b"true", 1)) for each in before]
        return Scene(paths, self.state / f"vault-{number}", [*before], [*new], lambda writer: writer)

    def run(self, scene: Scene, left: float | None = None) -> int:
        """Start the whole program in a child process of the ordinary user, and return its pid when it begins.

        :param left: seconds after its first file is replaced, when it ends
        """
        reading, writing = os.pipe()

        def act() -> int:
            out = os.open(self.out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
            os.environ["OPSINFO_BACKUP_DIR"] = str(scene.place)
            # a signal before the program starts would be handled by this child
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNAL_STATUSES)
            os.write(writing, b"x")
            if left is not None:
                end_after_the_first_replace(left)
            return run_main(["apply", str(self.config), str(self.mixlist)], out)

        child = fork(act, USER)
        os.close(writing)
        began = os.read(reading, 1)
        os.close(reading)
        assert began, "the child could not begin"
        return child

    def faults(self, scene: Scene) -> list[str]:
        """The invariants after every end of a run."""
        found = []
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (self.config, *scene.files)]
        if modes != [0o550, 0o555, 0o555, 0o555]:
            found.append(f"modes {list(map(oct, modes))}")
        if scene.temps():
            found.append(f"left behind: {scene.temps()}")
        if scene.state() not in ("old", "new"):
            found.append(f"the files are {scene.state()}")
        if scene.damaged_backups():
            found.append("a backup is damaged")
        for path in scene.files:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return found

    def after(self, scene: Scene) -> list[str]:
        """The next run, and its undo."""

        def act() -> int:
            writer = scene.writer()
            writer.run("apply", [jobs([path], op=f"Mul{number}")[0] for number, path in enumerate(scene.files)])
            if scene.state() != "new":
                return 3
            restore_last(writer, everywhere)
            return 0 if scene.state() == "old" and is_over(writer.vault) else 4

        status = as_user(act)
        return [f"the next run and its undo: {status}"] if status else []


@pytest.fixture
def install(isolation: Path) -> Iterator[Install]:
    with folder_for_everybody() as top:
        give(USER, top)
        install = Install(top)
        run_in_parent_once(install, install.again(0), isolation / "warm")
        yield install


def run_in_parent_once(install: Install, scene: Scene, vault: Path) -> None:
    """:param vault: in a folder of root's own; below one of another user root keeps no backups"""

    def act() -> int:
        os.environ["OPSINFO_BACKUP_DIR"] = str(vault)
        return run_main(["apply", str(install.config), str(install.mixlist)])

    import_all()
    assert ended(fork(act)) == 0
    assert scene.state() == "new"
    for path in scene.files:
        path.chmod(0o755)


def end_after_the_first_replace(left: float) -> None:
    """The kernel ends this process, by a timer that nothing catches: on a busy machine another process is too late."""
    replace = os.replace

    def replacing(*places: Any, **folders: Any) -> None:
        replace(*places, **folders)
        os.replace = replace
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, left)

    os.replace = replacing


def duration(install: Install) -> float:
    scene = install.again(0)
    child = install.run(scene)
    began = time.monotonic()
    assert ended(child) == 0, install.out.read_text()
    assert install.faults(scene) == []
    return time.monotonic() - began


def run_with_signal(install: Install, scene: Scene, number: signal.Signals, delay: float) -> int:
    """Run, send a signal after ``delay`` seconds, and return the exit status."""
    child = install.run(scene)
    time.sleep(delay)
    os.kill(child, number)
    return ended(child)


def test_a_signal_at_any_moment_leaves_old_or_new_files_and_restored_modes_only(
    install: Install, counts: Counts
) -> None:
    pick = random.Random(20)
    length = duration(install)
    wrong, seen = [], set()
    for number in range(1, counts.signals + 1):
        scene = install.again(number)
        which = pick.choice(list(SIGNAL_STATUSES))
        status = run_with_signal(install, scene, which, pick.uniform(0, 1.1 * length))
        state = scene.state()
        length *= 0.8 if state == "new" else 1.25  # the load of the machine may have changed since the measurement
        seen.add((status, state))
        found = install.faults(scene)
        if status not in (0, SIGNAL_STATUSES[which], -which) or (status == 0 and state != "new"):
            found.append(f"status {status}, the files are {state}")
        if scene.vault_temps():
            found.append(f"left in the vault: {scene.vault_temps()}")
        if "Traceback" in install.out.read_text():
            found.append(install.out.read_text())
        if state == "old":
            found += install.after(scene)
        wrong += [f"run {number}, {which.name}: {each}" for each in found]
    assert not wrong, "\n".join(wrong)
    assert {state for _, state in seen} == {"old", "new"}, "the moments are spread over the whole run"
    assert {status for status, _ in seen} & {*SIGNAL_STATUSES.values()}


@pytest.mark.parametrize("number", list(SIGNAL_STATUSES))
def test_a_signal_while_python_creates_a_class_is_handled(isolation: Path, number: signal.Signals) -> None:
    """Python before 3.12 turns it into a RuntimeError. Classes are created whenever a module is imported lazily."""

    def make_a_class(*_: object, **__: object) -> None:
        class Named:
            def __set_name__(self, owner: type, name: str) -> None:
                signal.raise_signal(number)

        type("Made", (), {"named": Named()})

    def act() -> int:
        from opsinfo_cli.app import cli

        signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main = make_a_class  # type: ignore[assignment,method-assign]
        return run_main(["--help"])

    assert ended(fork(act)) == SIGNAL_STATUSES[number]


def test_a_kill_at_any_moment_is_repaired_by_the_next_run(install: Install, counts: Counts) -> None:
    """Half of the kills are in the midst of the writes, where some files are old and others new."""
    pick = random.Random(21)
    length, between, amid = duration(install), 0.001, 0
    wrong = []
    for number in range(1, counts.kills + 1):
        scene = install.again(number)
        if number % 2:
            status = ended(install.run(scene, pick.uniform(between / 1000, between)))
            between *= 0.5 if scene.state() == "new" else 1.1
        else:
            status = run_with_signal(install, scene, signal.SIGKILL, pick.uniform(0, 1.1 * length))
        amid += scene.state() == "mixed"
        found = [] if status in (0, -signal.SIGKILL, -signal.SIGALRM) else [f"status {status}"]
        if scene.state() == "torn":
            found.append("a file is neither old nor new")
        if len(scene.temps()) > 1:
            found.append(f"left behind: {scene.temps()}")
        if scene.state() == "mixed":
            found += ended_by_restore(scene)
        found += after_a_kill(install, scene)
        found += install.faults(scene)
        wrong += [f"run {number}: {each}" for each in found]
    assert not wrong, "\n".join(wrong)
    assert amid >= counts.kills // 4


def ended_by_restore(scene: Scene) -> list[str]:
    def act() -> int:
        restore_last(scene.writer(), everywhere)
        return 0 if scene.state() == "old" else 3

    status = as_user(act)
    return [f"the restore that ends it: {status}"] if status else []


def after_a_kill(install: Install, scene: Scene) -> list[str]:
    """After any signal a change succeeds, restores modes, and removes leftovers."""

    def act() -> int:
        writer = scene.writer()
        writer.run("move", jobs(scene.files, op="Log"))
        restore_last(writer, everywhere)
        return 0 if scene.state() in ("old", "new") and is_over(writer.vault) else 4

    status = as_user(act)
    return [f"the next run: {status}"] if status else []


def test_the_exit_status_of_a_signal_is_right_at_every_moment(tmp_path: Path, isolation: Path, counts: Counts) -> None:
    """A separate process, including its start and end: never a traceback, never status 1."""
    pick = random.Random(22)
    (path,) = lay(tmp_path / "config", 1)
    text = path.read_text()
    command = [sys.executable, "-m", "opsinfo_cli", "move", str(path), "Add", "--to", "black"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(isolation / "bytecode")}
    wrong = []
    length = 0.0
    for number in range(max(6, counts.signals // 5)):
        path.write_text(text)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for_handlers(process)
        began = time.monotonic()
        if number < 2:  # the first run compiles the package
            process.communicate()
            length = time.monotonic() - began
            continue
        which = pick.choice(list(SIGNAL_STATUSES))
        time.sleep(pick.uniform(0, 1.2 * length))
        process.send_signal(which)
        _, err = process.communicate(timeout=60)
        if process.returncode not in (0, SIGNAL_STATUSES[which], -which):  # a shell cannot distinguish the last two
            wrong.append(f"run {number}, {which.name}: status {process.returncode}")
        if b"Traceback" in err or b"Exception ignored" in err:
            wrong.append(f"run {number}, {which.name}: {err.decode()}")
    assert not wrong, "\n".join(wrong)


def wait_for_handlers(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process catches SIGTERM and SIGHUP, which it does soon after its start."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        pytest.skip("/proc is not available")
    while process.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) & 1 << signal.SIGHUP - 1:
            return
