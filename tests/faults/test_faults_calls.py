"""In process, as SQLite tests its writer: the n-th system call of a run fails, or ends the process, for every n.

n grows until a run is done before its n-th call, so that every fault but the last has fired. Each call is a run's last,
fails once, and is the first that fails; which error it fails with alternates, and ``tests/long`` tries both.
Source: https://www.sqlite.org/testing.html, "I/O error testing" and "Crash testing".
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from faults_counts import Counts
from faults_support import (
    CONFIG,
    Scene,
    complaints,
    complaints_of_the_next_run,
    disk_state,
    ended,
    everywhere,
    fork,
    jobs,
    lay,
)

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.history import Damage
from opsinfo_cli.core.change.move import Movable
from opsinfo_cli.core.change.plan import Job
from opsinfo_cli.core.change.record import Record
from opsinfo_cli.core.change.restore import restore_last
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import Refused

CALLS = {
    os: "open read write fsync ftruncate rename replace link unlink mkdir rmdir fchmod chmod fchown stat lstat fstat "
    "listdir readlink access listxattr getxattr setxattr removexattr makedirs",
    fcntl: "flock",
}
FAULTS = {
    "EIO": (errno.EIO, False),
    "ENOSPC": (errno.ENOSPC, False),
    "EIO from then on": (errno.EIO, True),
    "ENOSPC from then on": (errno.ENOSPC, True),
    "kill": (None, False),
}
KILLED = 137
"""The exit status of a run that the fault ends: nothing else ends with it."""


@dataclass
class Fault:
    """What happens at the n-th call that a module of opsinfo, or shutil for it, makes.

    :param error: the number of the error, None to end the process without any clean-up
    :param lasting: whether all later calls fail, too
    """

    number: int
    error: int | None
    lasting: bool = False
    calls: int = 0
    fired: str = ""
    looked_at: set[str] = field(default_factory=set)

    def strike(self, name: str) -> None:
        self.calls += 1
        if self.calls == self.number or (self.lasting and self.calls > self.number):
            self.fired = self.fired or name
            if self.error is None:
                os._exit(KILLED)
            raise OSError(self.error, os.strerror(self.error))


@contextmanager
def injected(fault: Fault) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, names in CALLS.items():
            for name in names.split():
                patch.setattr(module, name, _wrapped(name, getattr(module, name), fault))
        yield


def _wrapped(name: str, call: Callable[..., Any], fault: Fault) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        looks = (
            caller.endswith(".trust") and arguments[0] in fault.looked_at
        )  # once a folder, not at each file below it
        if caller.startswith(("opsinfo_cli.", "shutil")) and not looks:
            fault.strike(name)
        if caller.endswith(".trust"):
            fault.looked_at.add(arguments[0])
        return call(*arguments, **keywords)

    return wrapped


def moved(top: Path) -> Scene:
    (path,) = lay(top / CONFIG, 1)
    before = path.read_bytes()
    new = before.replace(b"true", b"false", 1)
    work = jobs([path])
    return Scene([path], top / "vault", [before], [new], lambda writer: writer.run("move", work), other([path]))


def applied(top: Path) -> Scene:
    """Two libraries of one store; each has its own winning op type, and both change."""
    paths = lay(top / CONFIG, 2)
    before = [path.read_bytes() for path in paths]
    new = [b"false".join(each.rsplit(b"true", 1)) for each in before]
    work = [jobs([path], Policy.BLACK, f"Mul{number}")[0] for number, path in enumerate(paths)]
    return Scene(paths, top / "vault", [*before], [*new], lambda writer: writer.run("apply", work), other(paths))


def restored(top: Path) -> Scene:
    scene = applied(top)
    scene.act(scene.writer())

    def act(writer: Writer) -> None:
        restore_last(writer, everywhere)

    return replace(scene, before=scene.wanted, wanted=scene.before, act=act)


def mended(top: Path) -> Scene:
    path = top / "lists" / "mixlist.json"
    path.parent.mkdir()
    path.write_text('{"black-list": {"to-add": ["Add",]}}\n')
    new = b'{"black-list": {"to-add": ["Add"]}}\n'
    return Scene([path], top / "vault", [path.read_bytes()], [new], lambda w: w.run("fmt", [Job(str(path), FmtPlan())]))


def other(paths: list[Path]) -> Callable[[Writer], object]:
    return lambda writer: writer.run("move", jobs(paths, Policy.BLACK, "Log"))


def moved_in_an_install(top: Path) -> Scene:
    """As CANN installs it: nobody may write the file or its folder, whose mode is changed for the moment."""
    scene = moved(top)
    scene.files[0].chmod(0o555)
    scene.files[0].parent.chmod(0o550)
    return scene


def created(top: Path) -> Scene:
    path = top / "lists" / "mixlist.json"
    path.parent.mkdir()
    new = b'{\n    "black-list":{\n        "to-add":[\n            "Add"\n        ]\n    }\n}\n'

    def making(op: str) -> Callable[[Writer], object]:
        return lambda writer: writer.run("move", Movable(str(path)).jobs({op: Policy.BLACK}, print))

    return Scene([path], top / "vault", [None], [new], making("Add"), making("Log"))


def created_without_hard_links(top: Path) -> Scene:
    """As on FAT or exFAT."""
    scene = created(top)

    def refusing(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    def act(writer: Writer) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "link", refusing)
            scene.act(writer)

    return replace(scene, act=act)


SCENES = [moved, applied, restored, mended, moved_in_an_install, created, created_without_hard_links]


def struck(what: str, counts: Counts) -> range:
    """The calls that get this fault."""
    return range(1 + list(FAULTS).index(what) % counts.failed_step, 2000, 1 if what == "kill" else counts.failed_step)


@pytest.mark.heavy
@pytest.mark.parametrize("lay_out", SCENES)
@pytest.mark.parametrize("what", FAULTS)
def test_whichever_call_of_a_run_fails_or_is_its_last_every_file_is_old_or_new(
    lay_out: Callable[[Path], Scene], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: Counts
) -> None:
    """What the next run makes of a state of the disk is looked at once: most calls leave it as the one before did."""
    monkeypatch.setattr(time, "strftime", lambda *_: "2026-01-01T00:00:00Z")  # else each second has states of its own
    top, template = tmp_path / "at", tmp_path / "template"
    top.mkdir()
    scene = lay_out(top)
    shutil.copytree(top, template)
    error, lasting = FAULTS[what]
    mode = stat.S_IMODE(scene.files[0].parent.stat().st_mode)
    wrong: list[str] = []
    of_the_next_run: dict[Any, list[str]] = {}
    for number in struck(what, counts):
        scene.files[0].parent.chmod(0o755)
        shutil.rmtree(top)
        shutil.copytree(template, top)
        fault = Fault(number, error, lasting)
        if error is None:
            answer = _killed(scene, fault)
            fired = answer == "killed"
        else:
            with injected(fault):
                answer = scene.run()
            fired = bool(fault.fired)
        if not fired:
            assert (answer, scene.state()) == ("done", "new")
            break
        leftovers = int(error is None or lasting or fault.fired in ("unlink", "rmdir"))
        found = list(complaints(scene, answer, leftovers))
        if (state := disk_state(top)) not in of_the_next_run:
            of_the_next_run[state] = list(complaints_of_the_next_run(scene))
            now = stat.S_IMODE(scene.files[0].parent.stat().st_mode)
            of_the_next_run[state] += [f"the mode of the folder is {now:o}"] if now != mode else []
        found += of_the_next_run[state]
        wrong += [f"{number}. {fault.fired or 'call'}, {answer}: {each}" for each in found]
    assert number > 40, "a run has more calls than this"
    assert not wrong, "\n".join(wrong)


def failing_once(fail: Callable[[], None], then: Callable[..., None]) -> Callable[..., None]:
    fails = [fail]

    def called(*arguments: Any) -> None:
        if fails:
            fails.pop()()
        then(*arguments)

    return called


@pytest.mark.heavy
@pytest.mark.parametrize("is_full", [False, True], ids=["", "on a full disk"])
@pytest.mark.parametrize("what", FAULTS)
def test_whichever_call_of_a_prune_fails_or_is_its_last_all_that_is_known_stays(
    what: str, is_full: bool, tmp_path: Path, counts: Counts
) -> None:
    top, template = tmp_path / "at", tmp_path / "template"
    top.mkdir()
    paths = lay(top / CONFIG, 2)
    writer = Writer(Vault(str(top / "vault")), wait=0)
    for to in (Policy.BLACK, Policy.WHITE, Policy.GRAY):
        writer.run("move", jobs(paths, to, "Log"))
    restore_last(writer, everywhere)
    for to in (Policy.BLACK, Policy.WHITE) * 2:
        writer.run("move", jobs(paths[:1], to))
    vault = writer.vault

    def known() -> tuple[list[Damage], list[Record]]:
        return vault.damage(contents=True), [replace(record, pruned=False) for record in vault.history().records]

    before = known()
    went = vault.prune(everywhere, 1, dry_run=True)
    assert len(went) > 4
    shutil.copytree(top, template)
    error, lasting = FAULTS[what]

    def prune() -> int:
        def full() -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with pytest.MonkeyPatch.context() as patch, vault.locked(time.monotonic()):
            if is_full:  # until it has freed space
                patch.setattr(vault, "_write", failing_once(full, vault._write))
            return 0 if vault.prune(everywhere, 1, dry_run=False) == went else 1

    seen: set[Any] = set()
    for number in struck(what, counts):
        shutil.rmtree(top)
        shutil.copytree(template, top)
        fault = Fault(number, error, lasting)
        if error is None:
            fired = _in_child(prune, fault) == KILLED
        else:
            with injected(fault), suppress(Refused):
                prune()
            fired = bool(fault.fired)
        moment = f"{number}. {fault.fired or 'call'}"
        state = disk_state(top)
        if fired and state in seen:  # as after an earlier call
            continue
        seen.add(state)
        assert known() == before, moment
        with vault.locked(time.monotonic()):
            vault.prune(everywhere, 1, dry_run=False)
        assert known() == before, moment
        numbers = {str(record.number) for record in vault.history().records if not record.pruned}
        assert set(os.listdir(vault.folder)) == {*numbers, "pruned.json"}, moment
        if not fired:
            break
    assert number > 45, "a prune has more calls than this"


def _killed(scene: Scene, fault: Fault) -> str:
    """Run in a child that ends at the call; :returns: ``killed``, or the outcome of a run that was over before."""

    status = _in_child(lambda: 0 if scene.run() == "done" else 1, fault)
    return {KILLED: "killed", 0: "done"}.get(status, f"exit {status}")


def _in_child(act: Callable[[], int], fault: Fault) -> int:
    def action() -> int:
        with injected(fault):
            return act()

    return ended(fork(action))
