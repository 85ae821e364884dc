"""Moves of op types to a list: the plan of a change, for libraries and for mixlists. Pure.

A plan is made again from the text that is read under the lock. It gives edits, and proves that reading the result gives
the requested policies, and that nothing else changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

from ...errors import OpsinfoError, Refused, Stale, UsageFault, join_some
from ..cann.entry import Entry, member_read
from ..cann.library import Library
from ..cann.marks import ACTIONS, LISTS, Mark, decided, effective, marks_for
from ..cann.mixlist import Mixlist, mixlist_content
from ..cann.policy import BLANKS, FLAG, PRECISION, Policy
from ..document import Failure, FileChange, OpType, Schema, headed, optional, renamed
from ..text.commented import add_entries, drop_entries
from ..text.layout import Style, add_items, add_member, drop_items, drop_part, members_indent, quote, style_of
from ..text.members import end_of_value
from ..text.patch import Edit, Patch, edits_between, splice
from ..text.scanner import Node, scan
from ..text.source import Source, encoded


class Move(NamedTuple):
    """``before`` is None if it depends on a library, ``after`` if it is the library's list again.

    Both may be the same list, to which other marks of a mixlist lead.
    """

    name: str
    before: Policy | None
    after: Policy | None


class Plan(Protocol):
    """The change of a file, computed from its content."""

    def moves(self, source: Source) -> list[Move]:
        """Return the requested moves, with the present policy of each op type, even if it does not change."""
        return []

    def patch(self, source: Source) -> Patch:
        """Return the edits; empty if the file already has the requested policies."""

    def prove(self, source: Source, result: Source) -> None:
        """:raises Refused: if the result is not what was requested, or anything else changed"""


class Job(NamedTuple):
    """One file to change: the path as given, and the plan.

    :param seen: the text as the command read it; it is not parsed again if the file is unchanged
    :param start: the content from which a file that does not exist yet is planned
    :param tree: the folder in which the path was met, out of which no link is followed; None if the user names it
    :param reviewed: whether a person chose the moves from the policies in ``seen``, so that others make them stale
    :param must_be_new: whether a file that another process creates meanwhile is refused; else it is planned for
    """

    path: str
    plan: Plan
    seen: Source | None = None
    start: Source | None = None
    tree: str | None = None
    reviewed: bool = False
    must_be_new: bool = False

    def source(self, data: bytes) -> Source:
        if self.seen is None:
            return Source(data, self.path)
        return self.seen if self.seen.data == data else self.seen.replaced(data)

    def moves(self, source: Source) -> list[Move]:
        """:raises Stale: if the moves were reviewed, and an op type was moved elsewhere since"""
        moves = self.plan.moves(source)
        if self.reviewed and self.seen and source is not self.seen:
            before = {move.name: move.before for move in self.plan.moves(self.seen)}
            for move in moves:
                if move.before not in (before[move.name], move.after):
                    to = f" to {move.before}" if move.before else ""
                    message = f"another process has moved `{move.name}`{to}"
                    raise Stale(message, path=self.path, hint="run the command again")
        return moves


class FileResult(NamedTuple):
    """The change, done or planned, of one file.

    :param stayed: op types that already had the requested policy
    :param backup: the id of the old content in the vault
    """

    path: str
    source: Source
    patch: Patch
    result: Source
    moved: list[Move]
    stayed: list[str]
    backup: str | None = None
    is_new: bool = False


@dataclass(frozen=True)
class MovedOpType:
    """One op type moved from one list to another."""

    name: OpType
    """The op type."""
    file: str
    """The changed file."""
    before: Policy | None = renamed("from")
    """The policy before the change; null if unknown without a library."""
    after: Policy | None = renamed("to")
    """The policy after the change; null if unknown without a library."""


@dataclass(frozen=True)
class MoveDocument:
    """What a writing command has changed, or would change. Later versions may add keys."""

    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change, for opsinfo restore; null if nothing was written."""
    changed: list[MovedOpType]
    """The moves made, or with dry_run the moves that would be made; empty for fmt and snapshot."""
    unchanged: list[str]
    """Op types that need no change."""
    ignored: list[str]
    """Names that are not in the target."""
    files: list[FileChange]
    """The files written, or with dry_run the files that would be written."""
    dry_run: bool
    """Whether writing was skipped: because of --dry-run or --check; because of warnings with --strict; or, with -o of
    fmt, because the engine would refuse the result.
    """
    refused: Annotated[list[Failure] | None, Schema(examples=[[]])] = optional()
    """The files that were refused while the change was planned; the others are written, and the exit status is 3.
    Absent if there are none.
    """


class Result(NamedTuple):
    """The changes of all files.

    :param change: None if nothing was written
    :param refused: the errors of files that were left alone
    :param kind: the command that makes such a change
    :param dry_run: whether nothing was to be written
    :param ignored: names that the target lacks
    """

    files: list[FileResult]
    change: str | None = None
    refused: tuple[OpsinfoError, ...] = ()
    kind: str = "move"
    dry_run: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def stayed(self) -> list[str]:
        """Op types that have the requested policy in every file, sorted."""
        moved = {move.name for file in self.files for move in file.moved}
        return sorted({name for file in self.files for name in file.stayed} - moved)

    @property
    def would_change(self) -> bool:
        return any(file.patch for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of a command that changes files."""
        document = MoveDocument(
            self.change,
            [MovedOpType(move.name, file.path, move.before, move.after) for file in self.files for move in file.moved],
            self.stayed,
            sorted(self.ignored),
            self.changed_files(),
            self.dry_run,
            [Failure.of(error) for error in self.refused] or None,
        )
        return headed(self.kind, document)

    def changed_files(self) -> list[FileChange]:
        return [
            FileChange(file.path, file.backup, None if file.is_new else file.source.sha256, file.result.sha256)
            for file in self.files
            if file.patch
        ]


NOT_WRITTEN = Result([])
"""Of what changes no file."""


def planned(job: Job, source: Source) -> FileResult:
    """Apply the plan to a text, and prove the result.

    :raises Stale: if reviewed moves do not fit the text any more
    """
    moves = job.moves(source)
    patch = job.plan.patch(source)
    result = source.replaced(patch.apply(source)) if patch else source
    if patch:
        job.plan.prove(source, result)
    remarked = job.plan.remarked(source) if patch and isinstance(job.plan, MixlistPlan) else ()
    moved = [
        move
        for move in moves
        if patch and (move.before is None or move.before is not move.after or move.name in remarked)
    ]
    names = {move.name for move in moved}
    stayed = [move.name for move in moves if move.name not in names]
    return FileResult(job.path, source, patch, result, moved, stayed, is_new=job.start is not None)


def proof_failed(path: str) -> Refused:
    """Return the error for a plan whose result is not what was requested."""
    message = "the planned edit did not pass its own check; nothing was written"
    hint = "this is a bug in opsinfo: please report it with the file and the command"
    return Refused(message, name="proof-failed", path=path, hint=hint)


# libraries


class LibraryPlan:
    """A plan for one library, made from its text at the time of writing.

    :param asked: the policy of each op type, or the marks whose effect is written, from the policy at that time
    :param last: the library as the command read it; a text that is still the same is not parsed again
    :param before: the library to which entries go back, as for :func:`library_patch`
    """

    def __init__(
        self,
        asked: Mapping[str, Policy | frozenset[Mark]],
        last: Library | None = None,
        before: Library | None = None,
    ) -> None:
        self.asked = asked
        self._last = last
        self._before = before

    def wanted(self, library: Library) -> dict[str, Policy]:
        return {
            name: to if isinstance(to, Policy) else effective(_entry(library, name).policy, to)
            for name, to in self.asked.items()
        }

    def moves(self, source: Source) -> list[Move]:
        library = self._read(source)
        return [Move(name, _entry(library, name).policy, to) for name, to in self.wanted(library).items()]

    def patch(self, source: Source) -> Patch:
        """Return the edits, and keep of the library what :meth:`prove` reads of it next."""
        library = self._read(source)
        wanted = self.wanted(library)
        patch = library_patch(library, wanted, self._before)
        # the proof needs these entries only; the others take three times the file's size in memory
        self._last = Library(source, [member for member in library.members if member.key in wanted])
        return patch

    def prove(self, source: Source, result: Source) -> None:
        library = self._read(source)
        prove_library(library, result, self.wanted(library))

    def _read(self, source: Source) -> Library:
        """Return the library of a text: the one that was read last, if it is of this very text."""
        if self._last is None or self._last.source is not source:
            self._last = Library.of(source)
        return self._last


def _entry(library: Library, name: str) -> Entry:
    """:raises Stale: if an op type was removed since the command began"""
    if name not in library.entries:
        said = f"`{name}` is no longer in the file; another process changed it"
        raise Stale(said, path=library.path, hint="run the command again")
    return library.entries[name]


def library_patch(library: Library, wanted: Mapping[str, Policy], before: Library | None = None) -> Patch:
    """Return the edits that give each op type its policy; empty if the library already has them.

    :param before: a library of which an entry comes back whole, if nothing but its flag differs: an edit of the flag
        alone would not bring back a section without flag, or other blanks
    :raises Refused: if a key to edit appears twice
    """
    edits: list[Edit] = []
    style: Style | None = None
    places: dict[str, list[int]] = {}
    for member in library.members:
        places.setdefault(member.key, []).append(member.key_start)
    for name, policy in wanted.items():
        entry, old = _entry(library, name), before and before.entries.get(name)
        _require_single(entry, places[name])
        if entry.policy is policy:
            continue
        if old and _others(entry.value) == _others(old.value):
            text = old.source.text[old.member.start : old.member.end]
            edits.append(Edit(entry.member.start, entry.member.end, text))
        else:
            style = style or _style(library)
            edits.append(_set_flag(library, entry, policy, style))
    return Patch(library.source.sha256, tuple(sorted(edits)))


def _set_flag(library: Library, entry: Entry, policy: Policy, style: Style) -> Edit:
    text = library.source.text
    section = member_read(entry.node, PRECISION)
    if section is None:
        return add_member(text, entry.node, PRECISION, {FLAG: policy.flag or ""}, style)
    flag = member_read(section.value, FLAG)
    if policy.flag is None:
        if flag is not None and len(section.value.members) > 1:
            return drop_part(section.value, section.value.members.index(flag))
        return drop_part(entry.node, entry.node.members.index(section))
    if flag is None:
        return add_member(text, section.value, FLAG, policy.flag, style)
    return Edit(flag.value.start, flag.value.end, f'"{policy.flag}"')


def _style(library: Library) -> Style:
    """Return the style of the file, from a small part, because a library has megabytes."""
    text = library.source.text
    first = next((m for m in library.members if library.entry_of(m).value), library.members[0])
    newline = text.find("\n")
    sample = "{" + text[text.find("{") + 1 : first.end] + "}"
    source = Source(sample.encode(), library.path)
    root = scan(source).root
    style = style_of(sample, root) if root else Style()
    return Style(style.unit, "\r\n" if text[newline - 1 : newline] == "\r" else "\n", style.colon)


def _require_single(entry: Entry, places: list[int]) -> None:
    """:param places: the offsets of its key
    :raises Refused: if its key, or its section or flag of a policy, appears twice
    """
    places = places if len(places) > 1 else _twice(entry)
    if not places:
        return
    lines = [str(entry.source.place(place).line) for place in places]
    said = (
        f"twice, in lines {' and '.join(lines)}"
        if len(lines) == 2
        else f"{len(lines)} times, in lines {join_some(lines)}"
    )
    message = f"`{entry.name}` appears {said}; the engine reads the last"
    hint = "remove one of them, then run the command again"
    raise Refused(message, name="duplicate-key", path=entry.path, line=entry.source.place(places[-1]).line, hint=hint)


def _twice(entry: Entry) -> list[int]:
    """Return the offsets of a flag or section that appears twice, ignoring blanks around a name."""
    sections = [member for member in entry.node if member.name.strip(BLANKS) == PRECISION]
    if len(sections) > 1:
        return [member.key.start for member in sections]
    flags = [m.key.start for section in sections for m in section.value if m.name.strip(BLANKS) == FLAG]
    return flags if len(flags) > 1 else []


def prove_library(before: Library, result: Source, wanted: Mapping[str, Policy]) -> None:
    """Read the edited entries of the result again, and check that they have the requested policies, that nothing else
    changed, and that the same edit would change nothing more.

    The text around them was read already; replacing a whole value by a whole value keeps it valid.

    :raises Refused: if the proof fails, which is a bug in opsinfo
    """
    try:
        after = _edited(before, result, wanted)
        asked = all(after.entries[name].policy is policy for name, policy in wanted.items())
        others = all(_others(before.entries[n].value) == _others(after.entries[n].value) for n in wanted)
        again = library_patch(after, wanted)
    except (ValueError, LookupError, OpsinfoError):
        raise proof_failed(before.path) from None
    if again or not asked or not others:
        raise proof_failed(before.path)


def _edited(before: Library, result: Source, wanted: Mapping[str, Policy]) -> Library:
    """Return only the edited entries of the result, as a library.

    :raises ValueError: if anything outside of them changed
    """
    old_text, new_text = before.source.text, result.text
    old_at = new_at = 0
    found = []
    for old in before.members:
        if old.key not in wanted:
            continue
        start = new_at + old.start - old_at
        if not new_text.startswith(old_text[old_at : old.start], new_at):
            raise ValueError("changed between two entries")
        old_at, new_at = old.end, end_of_value(new_text, start)
        found.append(old_text[old.key_start : old.start] + new_text[start:new_at])
    if old_text[old_at:] != new_text[new_at:]:
        raise ValueError("changed after the last entry")
    return Library.of(Source(("{" + ",".join(found) + "}").encode(), result.path))


def _others(sections: Mapping[str, Mapping[str, str]]) -> object:
    kept = {}
    for name, content in sections.items():
        if name.strip(BLANKS) == PRECISION:
            content = {key: value for key, value in content.items() if key.strip(BLANKS) != FLAG}
            if not content:
                continue
        kept[name] = content
    return list(kept.items())


# mixlists


class MixlistPlan(NamedTuple):
    """A plan that puts op types on lists by marks.

    :param asked: op type -> its list, or exactly its marks
    :param library: the policy of each op type in the target of ``--against``, None if several targets have others, so
        that it needs its mark; None without ``--against``
    :param pin: whether white and black get their mark even if the library agrees: an upgrade may change it
    """

    asked: Mapping[str, Policy | frozenset[Mark]]
    library: Mapping[str, Policy | None] | None = None
    pin: bool = False

    def marks(self, mixlist: Mixlist) -> dict[str, frozenset[Mark]]:
        """Return the wanted marks of each op type.

        :raises UsageFault: if gray is requested and neither marks nor a library determine the required mark
        """
        return {name: self._marks(mixlist, name, to) for name, to in self.asked.items()}

    def _marks(self, mixlist: Mixlist, name: str, to: Policy | frozenset[Mark]) -> frozenset[Mark]:
        if not isinstance(to, Policy):
            return to
        library = self._library(name)
        if library is not None:
            return marks_for(library, to)
        if to is not Policy.GRAY:
            return frozenset({Mark("to-add", to)})
        if not mixlist.marks_of(name):
            message = f"`{name}` has no marks here; whether gray needs one depends on the library's list"
            hint = "add --against TARGET"
            raise UsageFault(message, name="gray-needs-library", path=mixlist.path, hint=hint)
        return frozenset()

    def _library(self, name: str) -> Policy | None:
        """Return the policy in the library, None if it is unknown or does not matter."""
        if self.library is None or (self.pin and self.asked[name] is not Policy.GRAY):
            return None
        return self.library[name]

    def moves(self, source: Source) -> list[Move]:
        mixlist = _accepted(source)
        moves = []
        for name, marks in self.marks(mixlist).items():
            library = self._library(name)
            if library is not None:
                moves.append(Move(name, mixlist.effective(name, library), effective(library, marks)))
            else:
                moves.append(Move(name, mixlist.alone(name), decided(marks)))
        return moves

    def remarked(self, source: Source) -> set[str]:
        """Return the op types that get other marks, which may leave them on the same list."""
        mixlist = _accepted(source)
        return {name for name, marks in self.marks(mixlist).items() if marks != mixlist.marks_of(name)}

    def patch(self, source: Source) -> Patch:
        return marks_patch(source, self.marks(_accepted(source)))

    def prove(self, source: Source, result: Source) -> None:
        """:raises Refused: if op types have other marks than these, or others than before"""
        before, after = _accepted(source), _accepted(result)
        wanted = self.marks(before)
        expected = {**before.marks, **wanted}
        said = all(after.marks_of(name) == marks for name, marks in expected.items())
        if not said or set(after.marks) - set(expected) or marks_patch(result, wanted):
            raise proof_failed(source.path)


def _accepted(source: Source) -> Mixlist:
    """:raises Damaged: if the engine would refuse the file"""
    return Mixlist(scan(source))


def marks_patch(source: Source, wanted: Mapping[str, frozenset[Mark]]) -> Patch:
    """Return the edits that give each op type exactly its marks; emptied lists are removed."""
    text = source.text
    root = _root(text, source)
    for container in (root, *(member.value for member in root)):
        _require_single_keys(source, container)
    style = style_of(text, root)
    # insert before removing: a list that has both keeps its place
    for list_name, policy in LISTS.items():
        for action in ACTIONS:
            names = [name for name, marks in wanted.items() if Mark(action, policy) in marks]
            edits = _adding(text, root, style, list_name, action, names, source.is_commented)
            text, root = _spliced(text, root, edits, source)
    for list_name, policy in LISTS.items():
        for action in ACTIONS:
            gone = {name for name, marks in wanted.items() if Mark(action, policy) not in marks}
            text, root = _spliced(
                text, root, _dropping(text, root, list_name, action, gone, source.is_commented), source
            )
    return Patch(source.sha256, tuple(edits_between(source.text, text)))


def _spliced(text: str, root: Node, edits: list[Edit], source: Source) -> tuple[str, Node]:
    if not edits:
        return text, root
    text = splice(text, edits)
    return text, _root(text, source)


def _require_single_keys(source: Source, container: Node) -> None:
    """:raises Refused: if a list or an action appears twice, because only the last one is read and edited"""
    seen: dict[str, int] = {}
    for member in container:
        if member.name in seen:
            first, second = source.place(seen[member.name]), source.place(member.key.start)
            raise Refused(
                f"`{member.name}` appears twice, in lines {first.line} and {second.line}; the engine reads the last",
                name="duplicate-key",
                path=source.path,
                line=second.line,
                column=second.column,
                hint="merge the two, then run the command again",
            )
        seen[member.name] = member.key.start


def _adding(
    text: str, root: Node, style: Style, list_name: str, action: str, names: list[str], is_commented: bool
) -> list[Edit]:
    """Insert names into an array that lacks them; a missing array or list is created."""
    marks = root.get(list_name)
    array = marks.get(action) if marks else None
    there = {item.value for item in array.items} if array else set()
    names = [name for name in names if name not in there]
    if not names:
        return []
    if is_commented:
        key, value, container = (action, names, marks) if marks is not None else (list_name, {action: names}, root)
        bodies = [quote(name) for name in names]
        if array is None:
            style = style if "\n" in text[container.start : container.end] else style._replace(unit=None)
            bodies = [quote(key) + style.colon + style.render(value, members_indent(text, container, style))]
        return add_entries(text, array or container, bodies, style)
    if array is not None:
        return [add_items(text, array, names, style)]
    if marks is not None:
        return [add_member(text, marks, action, names, style)]
    return [add_member(text, root, list_name, {action: names}, style)]


def _dropping(text: str, root: Node, list_name: str, action: str, names: set[str], is_commented: bool) -> list[Edit]:
    """Remove names from an array. An array that becomes empty is removed, and so is a list without arrays; not where
    comments are kept.
    """
    marks = root.get(list_name)
    array = marks.get(action) if marks else None
    if marks is None or array is None:
        return []
    at = [index for index, item in enumerate(array.items) if item.value in names]
    if is_commented:
        return drop_entries(text, array, at)
    if len(at) < len(array.items) or not at:
        return drop_items(array, at) if at else []
    if len(marks.members) == 1:
        return [drop_part(root, [member.name for member in root].index(list_name))]
    return [drop_part(marks, [member.name for member in marks].index(action))]


def _root(text: str, source: Source) -> Node:
    return scan(Source(encoded(text), source.path)).require_root()


def written_like(mixlist: Mixlist, marks: Mapping[str, frozenset[Mark]]) -> str:
    """Return a new mixlist with these marks in the style of ``mixlist``; its text if it has exactly these marks.

    :raises Refused: if reading the text does not give the same marks
    """
    source = mixlist.source
    lists = mixlist_content(marks)
    if mixlist.root.plain() == lists:
        return source.text
    style = style_of(source.text, mixlist.root)
    text = style.render(lists, "") + (style.newline if source.text.endswith("\n") else "")
    if Mixlist(scan(Source(encoded(text), source.path))).marks != dict(marks):
        raise proof_failed(source.path)
    return text
