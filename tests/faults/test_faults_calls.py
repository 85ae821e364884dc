"""Every call of the writer fails in turn, once and permanently, with every error of a disk: files are old or new.

The method is SQLite's: fail the Nth call for N = 1, 2, 3 ... until a run finishes without meeting it, and check the
files, the backups, the answer and the next run each time.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from faults_counts import Counts
from faults_support import (
    ERRORS,
    NO_PROCESS,
    Failing,
    Scene,
    Unsynced,
    as_a_process_that_dies,
    complaints,
    complaints_of_the_next_run,
    ended,
    everywhere,
    fork,
    jobs,
    lay,
)

from opsinfo_cli.change.job import Job
from opsinfo_cli.change.mixlist_plan import MixlistPlan
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.model.policy import Policy

pytestmark = pytest.mark.heavy

Lay = Callable[[Path], Scene]
MIXLIST = b'{"black-list": {"to-add": ["Add"]}}\n'


def undo(writer: Writer) -> Any:
    return restore_last(writer, everywhere, force=False, dry_run=False)


def a_move(top: Path) -> Scene:
    """One file and its second change."""
    (path,) = lay(top / "config", 1)
    quick = Unsynced()
    Writer(Vault(str(top / "vault"), quick), fs=quick).run("move", jobs([path], Policy.WHITE, "Log"))
    before = path.read_bytes()
    new = before.replace(b"true", b"false", 1)
    return Scene([path], top / "vault", [before], [new], lambda w: w.run("move", jobs([path])), other_move([path]))


def an_apply(top: Path) -> Scene:
    """Three files, one change, the first of this vault."""
    paths = lay(top / "config", 3)
    before = [path.read_bytes() for path in paths]
    new = [each.replace(b"true", b"false", 1) for each in before]
    return Scene(paths, top / "vault", [*before], [*new], lambda w: w.run("apply", jobs(paths)), other_move(paths))


def other_move(paths: list[Path]) -> Callable[[Writer], Any]:
    return lambda writer: writer.run("move", jobs(paths, Policy.BLACK, "Log"))


def a_restore(top: Path) -> Scene:
    """The undo of a change of three files."""
    scene = an_apply(top)
    scene.act(scene.writer())
    return Scene(scene.files, scene.place, scene.wanted, scene.before, undo, scene.detour)


def a_restore_of_an_unfinished_change(top: Path) -> Scene:
    """Three files, of which a killed run replaced two."""
    scene = an_apply(top)
    scene.act(scene.writer())
    scene.files[2].write_bytes(scene.before[2] or b"")
    vault = scene.writer().vault
    (record,) = vault.records()
    record.state, record.pid = "pending", NO_PROCESS
    vault.save(record)
    return Scene(scene.files, scene.place, scene.contents(), scene.before, undo, scene.detour)


def a_new_mixlist(top: Path) -> Scene:
    path = top / "config" / "mixlist.json"
    path.parent.mkdir()
    plan = MixlistPlan(("Log",), Policy.WHITE)
    return Scene(
        [path],
        top / "vault",
        [None],
        [MIXLIST],
        lambda writer: writer.create(str(path), MIXLIST, "move", []),
        lambda writer: writer.run("move", [Job(str(path), plan)]),
    )


def a_new_mixlist_taken_away(top: Path) -> Scene:
    scene = a_new_mixlist(top)
    scene.act(scene.writer())
    return Scene(scene.files, scene.place, [MIXLIST], [None], undo)


SCENES = [a_move, an_apply, a_restore, a_restore_of_an_unfinished_change, a_new_mixlist, a_new_mixlist_taken_away]


class Stage:
    """Recreates a scene at the same paths, which the vault records."""

    def __init__(self, lay_out: Lay, top: Path) -> None:
        self.top, self.template = top / "at", top / "template"
        self.top.mkdir()
        self.scene = lay_out(self.top)
        shutil.copytree(self.top, self.template)

    def again(self) -> Scene:
        shutil.rmtree(self.top)
        shutil.copytree(self.template, self.top)
        return self.scene


@pytest.fixture(params=SCENES, ids=lambda lay_out: lay_out.__name__)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(request.param, tmp_path)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("error", ERRORS)
def test_if_any_call_fails_every_file_is_old_or_new_and_the_next_run_succeeds(
    stage: Stage, error: str, lasting: bool, monkeypatch: pytest.MonkeyPatch, counts: Counts
) -> None:
    wrong = []
    start = 2 * ERRORS.index(error) + lasting
    for number, nth in enumerate(count(1 + start % counts.stride, counts.stride), start):
        scene = stage.again()
        fs = Failing(nth, error, lasting)
        with as_a_process_that_dies(monkeypatch):
            answer = scene.run(fs)
        if not fs.hit:
            break
        leftovers = int(lasting or fs.hit.startswith("unlink "))
        found = [*complaints(scene, answer, leftovers)]
        found += complaints_of_the_next_run(scene, with_detour=number % counts.detour == 0)
        wrong += [f"call {nth}, {fs.hit.rpartition('/')[2]}: {each}" for each in found]
    assert answer == "done", "a run that meets no fault is done"
    assert not wrong, "\n".join(wrong)


def test_killed_at_any_call_every_file_is_old_or_new_and_the_next_run_succeeds(stage: Stage, counts: Counts) -> None:
    wrong = []
    for number, nth in enumerate(count(1, max(1, counts.stride // 2))):
        scene = stage.again()

        def act(scene: Scene = scene, nth: int = nth) -> int:
            return 0 if scene.run(Failing(nth, "kill")) == "done" else 1

        status = ended(fork(act))
        found = [*complaints(scene, "done" if status == 0 else "killed", leftovers=1)]
        found += complaints_of_the_next_run(scene, with_detour=number % counts.detour == 0)
        wrong += [f"call {nth}: {each}" for each in found]
        if status != 9:
            break
    assert status == 0
    assert not wrong, "\n".join(wrong)
