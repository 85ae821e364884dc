"""Any sequence of moves, undos, upgrades and prunings: the guarantees of the vault hold."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from opsinfo_cli.change.moves import Job, LibraryPlan
from opsinfo_cli.change.restore import restore_last, restore_to
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy

OPS = ["Add", "Log", "Mul"]


def everywhere(_: str) -> bool:
    return True


class History(RuleBasedStateMachine):
    """The model: the file's content, the result of each undo, and the first content of this vendor state."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "aic-x-ops-info.json"
        self.writer = Writer(Vault(str(self.folder / "vault")), wait=0)
        self.upgrades = 0

    @initialize()
    def begin(self) -> None:
        self.path.write_text(json.dumps({op: {} for op in OPS}, indent=4))
        self.now = self.path.read_bytes()
        self.undoable: list[bytes] = []
        self.pristine: bytes | None = None
        self.pruned = False

    @rule(op=st.sampled_from(OPS), policy=st.sampled_from(Policy))
    def move(self, op: str, policy: Policy) -> None:
        result = self.writer.run("move", [Job(str(self.path), LibraryPlan({op: policy}))])
        after = self.path.read_bytes()
        assert Library.read(str(self.path)).entries[op].policy is policy
        assert (result.change is None) == (after == self.now)
        if after != self.now:
            if self.pristine is None:
                self.pristine = self.now
            self.undoable.append(self.now)
        self.now = after

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        try:
            restore_last(self.writer, everywhere, force=False, dry_run=False)
        except OpsinfoError as error:
            if not self.pruned or error.name != "pruned":
                raise
            self.undoable = []
        else:
            self.now = self.undoable.pop()
        assert self.path.read_bytes() == self.now

    @precondition(lambda self: self.pristine is not None)
    @rule()
    def back_to_the_first_content(self) -> None:
        restore_to(self.writer, everywhere, "pristine", force=False, dry_run=False)
        assert self.path.read_bytes() == self.pristine
        if self.now != self.pristine:
            self.undoable.append(self.now)
        self.now = self.path.read_bytes()

    @precondition(lambda self: self.pristine is not None)
    @rule()
    def upgrade(self) -> None:
        self.upgrades += 1
        content = {**{op: {} for op in OPS}, f"New{self.upgrades}": {}}
        self.path.write_text(json.dumps(content, indent=2))
        self.now = self.path.read_bytes()
        for attempt in ("last", "pristine"):
            try:
                if attempt == "last":
                    restore_last(self.writer, everywhere, force=False, dry_run=False)
                else:
                    restore_to(self.writer, everywhere, attempt, force=False, dry_run=False)
            except OpsinfoError:
                assert self.path.read_bytes() == self.now
            else:
                raise AssertionError("a restore across vendor states must be refused")
        self.undoable = []
        self.pristine = None

    @rule(keep=st.integers(1, 3))
    def prune(self, keep: int) -> None:
        vault = self.writer.vault
        vault.prune(everywhere, keep, dry_run=False)
        held = {entry.id for entry in vault.history().entries if vault.has(entry)}
        assert vault.history().pristine_ids() <= held
        assert vault.damage(contents=True) == []
        self.pruned = True

    @invariant()
    def the_file_has_the_content_of_the_model_and_there_is_no_other_file(self) -> None:
        if self.path.exists():
            assert self.path.read_bytes() == self.now
            assert sorted(each.name for each in self.folder.iterdir() if each.name != "vault") == [self.path.name]

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=60, stateful_step_count=25, derandomize=True, deadline=None, database=None)
