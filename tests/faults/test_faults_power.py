"""A power cut at any moment of a process: nothing that was reported is lost, and nothing is reported as damaged."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faults_counts import Counts
from faults_support import CONFIG, ROOT, everywhere, is_over, jobs, lay, writer_on
from power_cuts import Disk, Recorder, states, traced
from strace_probe import needs_strace

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.plan import Job
from opsinfo_cli.core.change.restore import restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import OpsinfoError

pytestmark = [
    pytest.mark.heavy,
    needs_strace,
]


@dataclass
class Run:
    """A command, and the files that it may change.

    :param earlier: runs before it, on a disk that had time to write everything
    """

    files: list[Path]
    words: list[str]
    earlier: list[Callable[[Writer], Any]]


def a_first_move(top: Path) -> Run:
    files = lay(top / CONFIG, 1)
    return Run(files, ["move", str(files[0]), "Add", "--to", "black"], [])


def a_move(top: Path) -> Run:
    run = a_first_move(top)
    run.earlier.append(lambda writer: writer.run("move", jobs(run.files, Policy.BLACK, "Log")))
    return run


def an_apply(top: Path) -> Run:
    files = lay(top / CONFIG, 3)
    mixlist = top / "mixlist.json"
    mixlist.write_text('{"black-list": {"to-add": ["Mul0", "Mul1", "Mul2"]}}\n')
    return Run(files, ["apply", str(top / CONFIG), str(mixlist)], [])


def a_restore(top: Path) -> Run:
    files = lay(top / CONFIG, 2)
    earlier = [
        lambda writer: writer.run("move", jobs(files, Policy.BLACK, "Log")),
        lambda writer: writer.run("apply", jobs(files)),
    ]
    return Run(files, ["restore", str(top / CONFIG)], earlier)


def a_prune(top: Path) -> Run:
    files = lay(top / CONFIG, 1)
    policies = (Policy.BLACK, Policy.WHITE, Policy.GRAY, Policy.BLACK)
    earlier: list[Any] = [lambda writer, to=to: writer.run("move", jobs(files, to, "Log")) for to in policies]
    return Run(files, ["backups", "--prune", "1"], earlier)


def a_fixed_mixlist(top: Path) -> Run:
    path = top / "config" / "mixlist.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"black-list": {"to-add": ["Add",],},}\n')
    return Run([path], ["fmt", str(path)], [])


RUNS = [a_first_move, a_move, an_apply, a_restore, a_prune, a_fixed_mixlist]


class Cut:
    """One run, traced once, with the texts before and after it."""

    def __init__(self, lay_out: Callable[[Path], Run], top: Path) -> None:
        self.top, self.place = top, top / "vault"
        top.mkdir()
        self.run = lay_out(top)
        self.first = self.texts()
        for act in self.run.earlier:
            act(self.writer())
        self.done = self.known()
        self.old = self.texts()
        recorder = Recorder(top)
        self.disk = Disk.of(top, recorder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPSINFO_BACKUP_DIR": str(self.place)}
        command = [sys.executable, "-m", "opsinfo_cli", *self.run.words]
        status, lines = traced(command, environment, top, top.parent / "trace")
        assert status == 0
        recorder.record(lines)
        self.events = recorder.events
        self.new = self.texts()
        self.after = self.known()

    def writer(self) -> Writer:
        return writer_on(self.place)

    def known(self) -> list[int]:
        """The changes that are known, pruned ones too."""
        return [record.number for record in Vault(str(self.place)).history().records]

    def texts(self) -> list[bytes | None]:
        return [path.read_bytes() if path.exists() else None for path in self.run.files]

    def complaints(self, reported: bool) -> Iterator[str]:
        """Check the invariants after the power cut.

        :param reported: whether the run had reported success
        """
        texts, known = self.texts(), self.known()
        if any(text not in pair for text, *pair in zip(texts, self.old, self.new, strict=True)):
            yield f"a file is neither old nor new: {texts}"
        if reported and (texts != self.new or known != self.after):
            yield f"the run reported success, but {'the change' if texts == self.new else 'the text'} is lost"
        if missing := set(self.done) - set(known):
            yield f"finished changes are not in the vault: {missing}"
        if texts != self.old and known != self.after:
            yield "a file is new, but its change is not in the vault"
        if damage := Vault(str(self.place)).damage(contents=True):
            yield f"a power cut is reported as damage: {damage}"
        try:
            yield from self._next()
        except OpsinfoError as error:
            yield f"the next run was refused: {error.name}: {error.message}"

    def _next(self) -> Iterator[str]:
        """The next runs: end unfinished changes, change a file, undo it, restore the pristine copy."""
        try:
            self._change()
        except OpsinfoError as error:
            if error.name != "unfinished-change":
                raise
            restore_last(self.writer(), everywhere)
            self._change()
        before = self.texts()
        restore_last(self.writer(), everywhere)
        if self.texts() == before:
            yield "a restore changed nothing"
        restore_to(self.writer(), everywhere, "pristine")
        if self.texts() != self.first:
            yield "the pristine copy has another content"
        vault = Vault(str(self.place))
        with vault.locked(time.monotonic()):
            vault.prune(everywhere, 1, dry_run=False)
        if damage := vault.damage(contents=True):
            yield f"damage after the next run: {damage}"
        if not is_over(vault):
            yield "a change is still pending"
        if left := [str(path) for path in self.top.rglob(".opsinfo-*")]:
            yield f"left behind: {left}"

    def _change(self) -> None:
        if self.run.files[0].name == "mixlist.json":
            self.writer().run("fmt", [Job(str(path), FmtPlan()) for path in self.run.files])
            return
        for to in (Policy.WHITE, Policy.GRAY):  # at least one of them changes something
            self.writer().run("move", jobs(self.run.files, to, "Log"))


@pytest.mark.parametrize("lay_out", RUNS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("at_end", [False, True], ids=["during", "after"])
def test_after_a_power_cut_nothing_is_lost(
    lay_out: Callable[[Path], Run], at_end: bool, tmp_path: Path, counts: Counts
) -> None:
    cut = Cut(lay_out, tmp_path / "at")
    assert len(cut.events) > 10
    wrong = []
    for seed in range(counts.cuts if not at_end else 1):
        count = 12 if at_end else len(cut.events) // counts.cut_step
        for what, disk in states(cut.disk, cut.events, count, seed, at_end):
            disk.lay(cut.top)
            wrong += [f"{what}: {each}" for each in cut.complaints(at_end)]
    assert not wrong, "\n".join(wrong)
