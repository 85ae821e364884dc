"""Any sequence of moves, applies, fixes, undos, restores, reapplies, prunes, edits and upgrades, over several files.

The model knows the content of every file, the changes in effect, and the contents of each vendor state. Every result
of the tool must equal that of the model, and a refusal must change nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from opsinfo_cli.core.cann.marks import Mark, effective
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.plan import Job, LibraryPlan, MixlistPlan, Result
from opsinfo_cli.core.change.reapply import lost_edits
from opsinfo_cli.core.change.restore import restore_change, restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.vault_place import CHANGE_ID
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import OpsinfoError, Refused, UsageFault

OPS = ["Add", "Log", "Mul", "Pow"]
LIBRARIES = ("a", "b")
POLICIES = st.sampled_from(Policy)
LIBRARY = st.sampled_from(LIBRARIES)
Word: TypeAlias = "Policy | frozenset[Mark]"
T = TypeVar("T")


@dataclass(eq=False)
class Change:
    """The effect of one run on its files, as ``name -> (before, after)``, and the vendor state of each.

    :param kind: as in its record
    :param words: what it made of op types, by file: policies of a library, marks of a mixlist
    :param undoes: the change that it undid, in some of its files
    """

    id: str
    files: dict[str, tuple[bytes, bytes]]
    kind: str
    undoes: Change | None = None
    undone_files: frozenset[str] = frozenset()
    states: dict[str, int] = field(default_factory=dict)
    words: dict[str, dict[str, Word]] = field(default_factory=dict)
    undos: list[Change] = field(default_factory=list)

    def is_undone(self, name: str) -> bool:
        return any(undo.counts(name) for undo in self.undos if name in undo.undone_files)

    def counts(self, name: str) -> bool:
        """Whether an undo counts for a file; one that had its old content already goes with the others."""
        return any(not self.is_undone(each) for each in ([name] if name in self.files else self.files))

    def standing(self, name: str) -> dict[str, Word]:
        """What undos left, of a file: the op types that were moved again."""
        words = self.words.get(name, {})
        for undo in self.undos:
            if name in undo.undone_files:
                back = undo.standing(name) if undo.words.get(name) else words if undo.counts(name) else {}
                words = {op: to for op, to in words.items() if op not in back}
        return words

    def is_later(self, name: str) -> bool:
        """Whether an undo of an earlier change has to leave this one in a file."""
        return not self.undoes and name in self.files and (not self.is_undone(name) or bool(self.standing(name)))


@dataclass
class States:
    """The vendor states of one file.

    :param log: content before, content after and state of each change
    :param first: the first content of each state
    """

    log: list[tuple[bytes, bytes, int]] = field(default_factory=list)
    first: list[bytes] = field(default_factory=list)

    def note(self, before: bytes, after: bytes) -> int:
        state = self.of(before)
        if state is None:
            state = len(self.first)
            self.first.append(before)
        self.log.append((before, after, state))
        return state

    def of(self, content: bytes) -> int | None:
        """The state that a content belongs to; None if opsinfo neither read nor wrote it."""
        return next((state for *contents, state in reversed(self.log) if content in contents), None)


class HostileHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = {name: self.folder / f"{name}-aic-x-ops-info.json" for name in LIBRARIES}
        self.path["mixlist"] = self.folder / "ops_info.json"
        self.vault = Vault(str(self.folder / "vault"))
        self.writer = Writer(self.vault, wait=0)
        self.changes: list[Change] = []
        self.backups: list[tuple[str, str, bytes, int]] = []
        self.states = {name: States() for name in self.path}
        self.now: dict[str, bytes] = {}
        self.edits = 0
        self.pruned: set[str] = set()

    @initialize()
    def begin(self) -> None:
        for name in LIBRARIES:
            self._lay(name, json.dumps({op: {"op": {"pattern": "reduce"}} for op in OPS}, indent=4).encode())
        self._lay("mixlist", b'{"black-list": {"to-add": ["Add"]}}\n')

    # actions of others

    def _lay(self, name: str, content: bytes) -> None:
        """Like a package upgrade: another file at the same path."""
        fresh = self.path[name].with_suffix(".new")
        fresh.write_bytes(content)
        os.replace(fresh, self.path[name])
        self.now[name] = content

    @rule(name=LIBRARY)
    def upgrade(self, name: str) -> None:
        self.edits += 1
        content = {op: {"op": {"pattern": "broadcast"}} for op in (*OPS, f"New{self.edits}")}
        self._lay(name, json.dumps(content, indent=2).encode())

    @rule(name=LIBRARY, op=st.sampled_from(OPS), flag=st.sampled_from(["true", "false"]), in_place=st.booleans())
    def edit_by_hand(self, name: str, op: str, flag: str, in_place: bool) -> None:
        content = json.loads(self.now[name])
        content[op]["precision_reduce"] = {"flag": flag}
        data = json.dumps(content, indent=4).encode()
        if in_place:
            self.path[name].write_bytes(data)
            self.now[name] = data
        else:
            self._lay(name, data)

    @rule(remark=st.sampled_from(["// by hand\n", "/* x */ ", "# y\n"]), bom=st.booleans(), tail=st.booleans())
    def write_a_comment_into_the_mixlist(self, remark: str, bom: bool, tail: bool) -> None:
        text = self.now["mixlist"].decode("utf-8-sig")
        edited = ("\ufeff" if bom else "") + text.replace("{", "{ " + remark, 1) + ("}" if tail else "")
        self._lay("mixlist", edited.encode())

    # actions of the tool

    def _ran(self, kind: str, names: list[str], result: Result) -> None:
        """Record the effect of a run; unchanged files are not in the change."""
        after = {name: self.path[name].read_bytes() for name in names}
        files = {name: (self.now[name], content) for name, content in after.items() if content != self.now[name]}
        assert (result.change is not None) == bool(files)
        if result.change:
            self._note(result.change, kind, files)

    def _note(
        self, change: str, kind: str, files: dict[str, tuple[bytes, bytes]], undoes: Change | None = None
    ) -> Change:
        noted = Change(change, files, kind, undoes)
        record = self.vault.history().records[-1]
        assert (record.id, record.kind, bool(record.undoes)) == (change, kind, undoes is not None)
        for index, changed in enumerate(record.files):
            name = next(each for each, path in self.path.items() if str(path.resolve()) == changed.path)
            before, after = files[name]
            noted.states[name] = state = self.states[name].note(before, after)
            moved = self._moved(name, before, after)
            # a move of a mixlist that changes marks and no policy is not in its record
            noted.words[name] = {op: to for op, (_, to) in moved.items() if name != "mixlist" or op in changed.moves}
            self.backups.append((f"{change}.{index + 1}", name, before, state))
            self.now[name] = after
        self.changes.append(noted)
        return noted

    def _moved(self, name: str, before: bytes, after: bytes) -> dict[str, tuple[Word, Word]]:
        old, new = self._words(name, before), self._words(name, after)
        if old is None or new is None:
            return {}
        nothing: frozenset[Mark] = frozenset()
        both = {**old, **new} if name == "mixlist" else old.keys() & new.keys()
        pairs = {op: (old.get(op, nothing), new.get(op, nothing)) for op in both}
        return {op: pair for op, pair in pairs.items() if pair[0] != pair[1]}

    def _words(self, name: str, content: bytes) -> Mapping[str, Word] | None:
        """What a file says of its op types; None of a mixlist that the engine refuses."""
        if name != "mixlist":
            return policies(content)
        return Mixlist(scan(Source(content, "mixlist"))).marks if is_strict(content) else None

    def _run(self, kind: str, jobs: list[Job], names: list[str]) -> None:
        self._ran(kind, names, self.writer.run(kind, jobs))

    @rule(names=st.sets(LIBRARY, min_size=1), wanted=st.dictionaries(st.sampled_from(OPS), POLICIES, min_size=1))
    def move(self, names: set[str], wanted: dict[str, Policy]) -> None:
        before = {name: policies(self.now[name]) for name in names}
        self._run("move", [Job(str(self.path[name]), LibraryPlan(wanted)) for name in sorted(names)], sorted(names))
        for name in names:
            assert policies(self.now[name]) == before[name] | wanted

    @rule(op=st.sampled_from(OPS), to=POLICIES)
    def move_in_the_mixlist(self, op: str, to: Policy) -> None:
        library = policies(self.now["a"])
        plan = MixlistPlan({op: to}, {op: library[op]})
        try:
            self._run("move", [Job(str(self.path["mixlist"]), plan)], ["mixlist"])
        except Refused:
            assert not is_strict(self.now["mixlist"])
        else:
            assert Mixlist.read(str(self.path["mixlist"])).effective(op, library[op]) is to

    @rule()
    def apply_the_mixlist(self) -> None:
        try:
            marks = Mixlist.read(str(self.path["mixlist"])).marks
        except Refused:
            assert not is_strict(self.now["mixlist"])
            return
        before = {name: policies(self.now[name]) for name in LIBRARIES}
        self._run("apply", [Job(str(self.path[name]), LibraryPlan(marks)) for name in LIBRARIES], list(LIBRARIES))
        for name in LIBRARIES:
            after = policies(self.now[name])
            assert after == {op: effective(policy, marks.get(op, frozenset())) for op, policy in before[name].items()}

    @rule()
    def fix_the_mixlist(self) -> None:
        self._run("fmt", [Job(str(self.path["mixlist"]), FmtPlan())], ["mixlist"])
        assert is_strict(self.now["mixlist"])
        json.loads(self.now["mixlist"])

    @rule(name=st.sampled_from(["a", "b", "mixlist"]), force=st.booleans(), only=st.booleans())
    def undo(self, name: str, force: bool, only: bool) -> None:
        found = [each for each in reversed(self.changes) if each.kind != "restore" or not each.undoes]
        left = {each: [one for one in each.files if not each.is_undone(one)] for each in found}
        left = {each: [name] if only else names for each, names in left.items() if name in names}
        candidates = [each for each in left if any(self.now[one] != each.files[one][0] for one in left[each])]
        fitting = [each for each in candidates if all(self.now[one] in each.files[one] for one in left[each])]
        last = next(iter(candidates if force else fitting), None)
        writer = Writer(self.vault, wait=0, force=force)
        outcome = attempt(lambda: restore_last(writer, self._scope(name), only))
        if last is None:
            assert isinstance(outcome, OpsinfoError)
            assert isinstance(outcome, UsageFault) is (not candidates)
        else:
            self._check_undo("restore", last, left[last], force, outcome)

    @precondition(lambda self: self.changes)
    @rule(data=st.data(), force=st.booleans())
    def undo_a_change(self, data: st.DataObject, force: bool) -> None:
        change = self.changes[data.draw(st.integers(0, len(self.changes) - 1))]
        names = list(change.files)
        number = data.draw(st.sampled_from(["", *(f".{number}" for number in range(1, len(names) + 1))]))
        match = CHANGE_ID.fullmatch(f"{change.id}{number}")
        assert match is not None
        outcome = attempt(lambda: restore_change(Writer(self.vault, wait=0, force=force), match))
        names = [names[int(number[1:]) - 1]] if number else names
        self._check_undo("revert", change, names, force, outcome)

    def _check_undo(self, kind: str, change: Change, names: list[str], force: bool, outcome: Any) -> None:
        if change.id in self.pruned:
            assert isinstance(outcome, OpsinfoError)
            assert outcome.name == "pruned"
            return
        plans = {one: self._without(change, one, force) for one in names}
        if isinstance(outcome, OpsinfoError):
            assert None in plans.values(), outcome.message
            return
        undoing, restored = outcome
        assert {each.path for each in restored} == {str(self.path[each].resolve()) for each in names}
        written: dict[str, tuple[bytes, bytes]] = {}
        for one, plan in plans.items():
            assert plan is not None
            now, after = self.now[one], self.path[one].read_bytes()
            if isinstance(plan, bytes):
                assert after == plan
            else:
                assert self._words(one, after) == plan
            if after != now:
                written[one] = now, after
        assert (undoing is not None) == bool(written)
        if undoing:
            noted = self._note(undoing, kind, written, change)
            noted.undone_files = frozenset(names)
            for one in written:
                if isinstance(plans[one], bytes):
                    noted.words[one] = dict(change.words[one])
            change.undos.append(noted)

    def _without(self, change: Change, name: str, force: bool) -> bytes | Mapping[str, Word] | None:
        """What a file is without a change: its old bytes, or what it says of its op types; None: the undo is refused.

        An op type that was moved again, by a later change or by hand, is left.
        """
        before, after = change.files[name]
        now = self.now[name]
        late = [each for each in self.changes[self.changes.index(change) + 1 :] if each.is_later(name)]
        if not late and now in (before, after):
            return before
        is_ours = now in (before, after) or self.states[name].of(now) == change.states[name]
        if force and not (change.words[name] and is_ours):
            return before
        if not change.words[name]:
            return before if now == before else None
        said = self._words(name, now)
        if said is None or not (is_ours or name == "mixlist"):
            return None
        words = dict(said)
        later = {op for each in late for op in each.standing(name)}
        is_known = name != "mixlist" or after in [content for _, one, content, _ in self.backups if one == name]
        nothing: frozenset[Mark] = frozenset()
        was, made = self._words(name, before) or {}, self._words(name, after) or {}
        for op in change.standing(name):
            if op not in later and (not is_known or words.get(op, nothing) == made.get(op, nothing)):
                words[op] = was.get(op, nothing)
        return {op: word for op, word in words.items() if word}

    @precondition(lambda self: self.backups)
    @rule(data=st.data())
    def return_to_a_backup(self, data: st.DataObject) -> None:
        backup, name, content, state = data.draw(st.sampled_from(self.backups))
        states = self.states[name]
        may = state == states.of(self.now[name])
        self._return(name, backup, content, may)

    @rule(name=st.sampled_from(["a", "b", "mixlist"]))
    def return_to_the_first_content(self, name: str) -> None:
        states = self.states[name]
        state = states.of(self.now[name])
        self._return(name, "pristine", b"" if state is None else states.first[state], state is not None)

    def _return(self, name: str, which: str, content: bytes, may: bool) -> None:
        outcome = attempt(lambda: restore_to(self.writer, self._scope(name), which))
        if isinstance(outcome, OpsinfoError):
            assert not may, outcome.message
            return
        change, _ = outcome
        assert may
        assert (change is not None) == (content != self.now[name])
        if change:
            self._note(change, "restore", {name: (self.now[name], content)})

    @rule(name=st.sampled_from(["a", "b", "mixlist"]), keep=st.integers(1, 3))
    def prune(self, name: str, keep: int) -> None:
        dropped = self.vault.prune(self._scope(name), keep, dry_run=False)
        self.pruned = {record.id for record in self.vault.history().records if record.pruned}
        held = {entry.id for entry in self.vault.history().entries if self.vault.has(entry)}
        assert self.vault.history().pristine_ids() <= held
        assert self.vault.damage(contents=True) == []
        assert held.isdisjoint(dropped)
        self.backups = [backup for backup in self.backups if backup[0] in held]

    @rule()
    def reapply(self) -> None:
        lost = lost_edits(self.vault.history(), lambda _: True)
        assert {each.path: each.wanted for each in lost} == {
            str(self.path[name].resolve()): wanted for name in LIBRARIES if (wanted := self._lost(name))
        }
        if not lost:
            return
        before = {name: policies(self.now[name]) for name in LIBRARIES}
        names = {str(path.resolve()): name for name, path in self.path.items()}
        touched = [names[each.path] for each in lost]
        jobs = [Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted]
        self._run("reapply", jobs, touched)
        for each in lost:
            assert policies(self.now[names[each.path]]) == before[names[each.path]] | each.wanted
        assert lost_edits(self.vault.history(), lambda _: True) == []

    def _lost(self, name: str) -> dict[str, Policy]:
        """The last request for each op type, if it was made for another vendor state and is lost now.

        What was applied again is settled when that is undone, and all by a return to the first content.
        """
        last: dict[str, tuple[int, Policy]] = {}
        for each in self.changes:
            if each.kind == "reapply" and each.is_undone(name):
                for op in each.words.get(name, {}):
                    last.pop(op, None)
            first = self.states[name].first[each.states[name]] if name in each.files else None
            if each.kind == "restore" and each.is_later(name) and each.files[name][1] == first:
                last.clear()
                continue
            if not each.undoes:
                last.update((op, (each.states[name], Policy(to))) for op, to in each.standing(name).items())
        states, now = self.states[name], policies(self.now[name])
        here = states.of(self.now[name])
        return {op: to for op, (state, to) in last.items() if state != here and now[op] is not to}

    def _scope(self, name: str) -> Callable[[str], bool]:
        return lambda path: path == str(self.path[name].resolve())

    # invariants

    @invariant()
    def every_file_has_the_content_of_the_model_and_there_is_no_other_file(self) -> None:
        if not self.now:
            return
        assert {name: path.read_bytes() for name, path in self.path.items()} == self.now
        beside = {each.name for each in self.folder.iterdir()} - {"vault"}
        assert beside == {path.name for path in self.path.values()}

    @invariant()
    def every_content_that_was_replaced_is_in_the_vault(self) -> None:
        entries = {entry.id: entry for entry in self.vault.history().entries}
        for backup, _, content, _ in self.backups[-8:]:
            assert self.vault.content(entries[backup]) == content

    @invariant()
    def no_change_is_pending(self) -> None:
        if self.now:
            assert {record.state for record in self.vault.history().records} <= {"done"}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


def attempt(action: Callable[[], T]) -> T | OpsinfoError:
    try:
        return action()
    except OpsinfoError as error:
        return error


def policies(content: bytes) -> dict[str, Policy]:
    """Read without opsinfo."""
    flags = {"true": Policy.WHITE, "false": Policy.BLACK}
    read = json.loads(content)
    return {
        op: flags.get(sections.get("precision_reduce", {}).get("flag"), Policy.GRAY) for op, sections in read.items()
    }


def is_strict(content: bytes) -> bool:
    try:
        json.JSONDecoder().raw_decode(content.decode("utf-8-sig"))
    except ValueError:
        return False
    return True


TestHostileHistory = HostileHistory.TestCase
TestHostileHistory.settings = settings(
    max_examples=500, stateful_step_count=40, derandomize=True, deadline=None, database=None
)
