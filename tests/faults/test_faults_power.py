"""A power cut at any moment: in every state of the disk nothing is lost and nothing is reported as damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faults_counts import Counts
from faults_support import Unsynced, as_a_process_that_dies, everywhere, jobs, lay
from power_cuts import Disk, Recorder, states

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.fmt_plan import FmtPlan
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.restore import restore_last, restore_to
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.vault_check import damage_in
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.model.policy import Policy

pytestmark = pytest.mark.heavy


@dataclass
class Run:
    """A recorded run.

    :param files: files that it may change
    :param earlier: runs before it, on a disk that had time to write everything
    """

    files: list[Path]
    act: Callable[[Writer], Any]
    earlier: list[Callable[[Writer], Any]]


def a_first_move(top: Path) -> Run:
    files = lay(top / "config", 1)
    return Run(files, lambda writer: writer.run("move", jobs(files)), [])


def a_move(top: Path) -> Run:
    files = lay(top / "config", 1)
    earlier = [lambda writer: writer.run("move", jobs(files, Policy.BLACK, "Log"))]
    return Run(files, lambda writer: writer.run("move", jobs(files)), earlier)


def an_apply(top: Path) -> Run:
    files = lay(top / "config", 3)
    return Run(files, lambda writer: writer.run("apply", jobs(files)), [])


def a_restore(top: Path) -> Run:
    files = lay(top / "config", 2)
    earlier = [
        lambda writer: writer.run("move", jobs(files, Policy.BLACK, "Log")),
        lambda writer: writer.run("apply", jobs(files)),
    ]
    return Run(files, lambda writer: restore_last(writer, everywhere, False, False), earlier)


def a_prune(top: Path) -> Run:
    files = lay(top / "config", 1)
    policies = (Policy.BLACK, Policy.WHITE, Policy.GRAY, Policy.BLACK)
    earlier = [lambda writer, to=to: writer.run("move", jobs(files, to, "Log")) for to in policies]
    return Run(files, lambda writer: prune(writer.vault, everywhere, keep=1, dry_run=False), earlier)


def a_fixed_mixlist(top: Path) -> Run:
    path = top / "config" / "mixlist.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"black-list": {"to-add": ["Add",],},}\n')
    return Run([path], lambda writer: writer.run("validate", [Job(str(path), FmtPlan())]), [])


RUNS = [a_first_move, a_move, an_apply, a_restore, a_prune, a_fixed_mixlist]


class Cut:
    """One run, recorded once, with the texts before and after it."""

    def __init__(self, lay_out: Callable[[Path], Run], top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top = top
        top.mkdir()
        self.run = lay_out(top)
        self.first = self.texts()
        for act in self.run.earlier:
            act(self.writer())
        self.done = [record.id for record in self.vault().records()]
        self.old = self.texts()
        recorder = Recorder()
        self.disk = Disk.of(top, recorder)
        with as_a_process_that_dies(monkeypatch):
            self.run.act(self.writer(recorder))
        self.events = recorder.events
        self.new = self.texts()
        self.after = [record.id for record in self.vault().records()]

    def vault(self, fs: FileSystem | None = None) -> Vault:
        return Vault(str(self.top / "vault"), fs or Unsynced(), wait=0)

    def writer(self, fs: FileSystem | None = None) -> Writer:
        fs = fs or Unsynced()
        return Writer(self.vault(fs), wait=0, fs=fs)

    def texts(self) -> list[bytes | None]:
        return [path.read_bytes() if path.exists() else None for path in self.run.files]

    def complaints(self, is_over: bool) -> Iterator[str]:
        """Check the invariants after the power cut.

        :param is_over: whether the run had reported success
        """
        texts = self.texts()
        known = [record.id for record in self.vault().records()]
        if any(text not in pair for text, *pair in zip(texts, self.old, self.new, strict=True)):
            yield f"a file is neither old nor new: {texts}"
        if is_over and (texts != self.new or known != self.after):
            yield f"the run reported success, but {'the change' if texts == self.new else 'the text'} is lost"
        if missing := set(self.done) - set(known):
            yield f"finished changes are not in the journal: {missing}"
        if texts != self.old and known != self.after:
            yield "a file is new, but its change is not in the journal"
        if damage := damage_in(self.vault(), contents=True):
            yield f"a power cut is reported as damage: {damage}"
        try:
            yield from self._next()
        except OpsinfoError as error:
            yield f"the next run was refused: {error.name}: {error.message}"

    def _next(self) -> Iterator[str]:
        """The next runs: end unfinished changes, change a file, undo it, restore the pristine copy."""
        try:
            self.act_again()
        except OpsinfoError as error:
            if error.name != "unfinished-change":
                raise
            restore_last(self.writer(), everywhere, False, False)
            self.act_again()
        before = self.texts()
        restore_last(self.writer(), everywhere, False, False)
        if self.texts() == before:
            yield "a restore changed nothing"
        restore_to(self.writer(), everywhere, "pristine", False, False)
        if self.texts() != self.first:
            yield "the pristine copy has another content"
        if damage := damage_in(self.vault(), contents=True):
            yield f"damage after the next run: {damage}"
        if left := [path.name for path in self.top.rglob(".opsinfo-*")]:
            yield f"left behind: {left}"

    def act_again(self) -> None:
        files = self.run.files
        if files[0].name == "mixlist.json":
            self.writer().run("fmt", [Job(str(path), FmtPlan()) for path in files])
            if self.texts() == self.new and not self.vault().records()[-1:]:
                raise AssertionError("the file is fixed, but the change is not in the journal")
            return
        for to in (Policy.WHITE, Policy.GRAY):  # at least one of them changes something
            self.writer().run("move", jobs(files, to, "Log"))


@pytest.mark.parametrize("lay_out", RUNS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("at_end", [False, True], ids=["during", "after"])
def test_after_a_power_cut_nothing_is_lost(
    lay_out: Callable[[Path], Run], at_end: bool, tmp_path: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = Cut(lay_out, tmp_path / "at", monkeypatch)
    assert len(cut.events) > 10
    wrong = []
    for seed in range(counts.cuts if not at_end else 1):
        count = 12 if at_end else len(cut.events) // counts.cut_step
        for what, disk in states(cut.disk, cut.events, count, seed, at_end):
            disk.lay(cut.top)
            wrong += [f"{what}: {each}" for each in cut.complaints(at_end)]
    assert not wrong, "\n".join(wrong)
