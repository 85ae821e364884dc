"""Plans for a library: edits that change the flags of op types. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import OpsinfoError, Refused, Stale, join_some
from ..model.entry import Entry, member_read
from ..model.library import Library
from ..model.policy import BLANKS, FLAG, PRECISION, Mark, Policy, effective
from ..text.layout import Style, add_member, drop_part, style_of
from ..text.members import end_of_value
from ..text.patch import Edit, Patch
from ..text.scanner import scan
from ..text.source import Source
from .moves import Move, proof_failed


class _OnLibrary:
    """A plan for one library, made from its text at the time of writing.

    :param last: the library as the command read it; a text that is still the same is not parsed again
    """

    def __init__(self, last: Library | None) -> None:
        self._last = last

    def wanted(self, library: Library) -> Mapping[str, Policy]:
        raise NotImplementedError

    def moves(self, source: Source) -> list[Move]:
        library = self._read(source)
        return [Move(name, _entry(library, name).policy, to) for name, to in self.wanted(library).items()]

    def patch(self, source: Source) -> Patch:
        library = self._read(source)
        wanted = self.wanted(library)
        patch = library_patch(library, wanted)
        # the proof needs these entries only; the others take three times the file's size in memory
        self._last = Library(source, [member for member in library.members if member.key in wanted])
        return patch

    def prove(self, source: Source, result: Source) -> None:
        library = self._read(source)
        prove_library(library, result, self.wanted(library))

    def _read(self, source: Source) -> Library:
        if self._last is None or self._last.source is not source:
            self._last = Library.of(source)
        return self._last


class LibraryPlan(_OnLibrary):
    """A plan that gives op types the wanted policies."""

    def __init__(self, asked: Mapping[str, Policy], last: Library | None = None) -> None:
        super().__init__(last)
        self.asked = asked

    def wanted(self, library: Library) -> Mapping[str, Policy]:
        return self.asked


class BakePlan(_OnLibrary):
    """A plan that writes the marks of a mixlist as flags, based on the policy of each entry at that time."""

    def __init__(self, marks: Mapping[str, frozenset[Mark]], last: Library | None = None) -> None:
        super().__init__(last)
        self.marks = marks

    def wanted(self, library: Library) -> Mapping[str, Policy]:
        return {name: effective(_entry(library, name).policy, marks) for name, marks in self.marks.items()}


def _entry(library: Library, name: str) -> Entry:
    """:raises Stale: if an op type was removed since the command began"""
    if name not in library.entries:
        said = f"`{name}` is no longer in the file; another process changed it"
        raise Stale(said, path=library.path, hint="run the command again")
    return library.entries[name]


def library_patch(library: Library, wanted: Mapping[str, Policy]) -> Patch:
    """Return the edits that give each op type its policy; empty if the library already has them.

    :raises Refused: if a key to edit appears twice
    """
    edits: list[Edit] = []
    style: Style | None = None
    for name, policy in wanted.items():
        entry = _entry(library, name)
        _require_single(library, entry)
        if entry.policy is not policy:
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


def _require_single(library: Library, entry: Entry) -> None:
    twins = library.twins(entry.name)
    places = [member.key_start for member in twins] if len(twins) > 1 else _twice(entry)
    if not places:
        return
    lines = [str(library.source.place(place).line) for place in places]
    said = (
        f"twice, in lines {' and '.join(lines)}"
        if len(lines) == 2
        else f"{len(lines)} times, in lines {join_some(lines)}"
    )
    raise Refused(
        f"`{entry.name}` appears {said}; the engine reads the last",
        name="duplicate-key",
        path=library.path,
        line=library.source.place(places[-1]).line,
        hint="remove one of them, then run the command again",
    )


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
        if not _same(old_text, old_at, old.start, new_text, new_at):
            raise ValueError("changed between two entries")
        old_at, new_at = old.end, end_of_value(new_text, start)
        found.append(old_text[old.key_start : old.start] + new_text[start:new_at])
    if len(old_text) - old_at != len(new_text) - new_at or not _same(old_text, old_at, len(old_text), new_text, new_at):
        raise ValueError("changed after the last entry")
    return Library.of(Source(("{" + ",".join(found) + "}").encode(), result.path))


def _same(old_text: str, start: int, end: int, new_text: str, at: int) -> bool:
    """Whether a part of the text is repeated at another place; compared in pieces, so that no copy is as large as the
    file."""
    pieces = range(start, end, _PIECE)
    return all(new_text.startswith(old_text[s : min(s + _PIECE, end)], at + s - start) for s in pieces)


_PIECE = 1 << 20


def _others(sections: Mapping[str, Mapping[str, str]]) -> object:
    kept = {}
    for name, content in sections.items():
        if name.strip(BLANKS) == PRECISION:
            content = {key: value for key, value in content.items() if key.strip(BLANKS) != FLAG}
            if not content:
                continue
        kept[name] = content
    return list(kept.items())
