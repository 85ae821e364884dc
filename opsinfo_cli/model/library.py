"""One operator-information file: its entries as the engine reads them, and where each of them stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from ..errors import Damaged
from ..text.members import Members, RawMember, read_members
from ..text.source import Source
from ..typed import TYPE_CHECKING
from .entry_quick_check import policy_if_clear
from .load_fault import LoadFault, Sections
from .loading import build_faults, names_in, structure_faults, trimmed
from .policy import BLANKS, BadFlag, Policy

if TYPE_CHECKING:
    from ..text.scanner import Document, Member, Node
    from .columns import Listed
    from .store import Operators

__all__ = ["Entry", "File", "Library", "member_read", "members_of"]


def members_of(source: Source) -> Members | Document:
    """What a text that may be a library holds, each entry judged as it is read."""
    return read_members(source, policy_if_clear)


class File:
    """What the entries of one file have in common. It knows none of them: a circle would keep all of it in memory."""

    def __init__(self, source: Source, members: list[RawMember]) -> None:
        self.source = source
        self.members = members

    @cached_property
    def has_blank_names(self) -> bool:
        """Whether any section or key has blanks around it; they hardly ever have."""
        read = self.source.members
        known = read.names if isinstance(read, Members) else None
        names = known or names_in(member.value for member in self.members if member.is_sound)
        return any(name != name.strip(BLANKS) for name in names)

    @cached_property
    def lines(self) -> dict[int, int]:
        """Line of every member's key by its offset, counted in one pass."""
        lines = {}
        line, at = 1, 0
        for member in self.members:
            line += self.source.text.count("\n", at, member.key_start)
            at = member.key_start
            lines[at] = line
        return lines


class Entry:
    """The definition of one op type in one library."""

    def __init__(self, file: File, member: RawMember) -> None:
        self._file = file
        self.name = member.key
        self.member = member
        self._sections: Sections | None = None
        # what was judged when the file was read is no word on names that need trimming
        self._policy: Policy | None = None if file.has_blank_names else member.judged
        self._faults: Sequence[LoadFault] | None = () if self._policy else None

    def __repr__(self) -> str:
        return f"<Entry {self.name}: {self.policy_or_none} in {self.path}:{self.line}>"

    @property
    def sections(self) -> Sections:
        """Section -> key -> value, names trimmed as the engine trims them (engine.md 1.9)."""
        if self._sections is None:
            self._sections = trimmed(self.member.value) if self._file.has_blank_names else self.member.value
        return self._sections

    @property
    def policy(self) -> Policy:
        """:raises BadFlag: on a flag that fails the engine"""
        if self._policy is None:
            self._policy = Policy.of(self.sections)
        return self._policy

    @property
    def policy_or_none(self) -> Policy | None:
        """The policy; None where the flag is one the engine could not read, which only an entry that wins must be."""
        try:
            return self.policy
        except BadFlag:
            return None

    @property
    def listed(self) -> Listed:
        """Inputs and outputs with their dtypes; :class:`.columns.Columns` says what follows from them."""
        from .columns import listed_in

        return listed_in(self.sections)

    @property
    def faults(self) -> Sequence[LoadFault]:
        """What the engine cannot build a kernel from, and what it would not know."""
        if self._faults is None:
            self._faults = () if policy_if_clear(self.sections) else build_faults(self.sections)
        return self._faults

    @property
    def source(self) -> Source:
        return self._file.source

    @property
    def path(self) -> str:
        return self._file.source.path

    @property
    def line(self) -> int:
        """1-based line of the op type's key."""
        return self._file.lines[self.member.key_start]

    @cached_property
    def node(self) -> Node:
        """The entry's value with spans."""
        from ..text.scanner import scan

        root = scan(self.source, self.member.start).root
        assert root is not None  # it was read once
        return root

    def damaged(self, fault: LoadFault) -> Damaged:
        """The error that names a fault of this entry."""
        place = self.source.place(self.span(fault)[0])
        return Damaged(
            f"operator `{self.name}`: {fault.message}",
            path=self.path,
            line=place.line,
            column=place.column,
            hint="the engine refuses the store that holds this file; `opsinfo validate` tells more",
        )

    def span(self, fault: LoadFault) -> tuple[int, int]:
        """Where the offending token stands. Before an entry is an object of objects of strings, no name is trimmed."""
        if fault.section is None:
            return self.member.key_start, self.member.key_end
        fold = _trimmed if self.member.is_sound else str
        section = self.node.by(fold)[fold(fault.section)]
        if fault.key is None:
            return section.key.start, section.key.end
        return _token(section.value.by(fold)[fold(fault.key)].value, fault.token)


def member_read(node: Node, name: str) -> Member | None:
    """The member the engine reads for a trimmed name: the first spelling in byte order, of equal ones the last."""
    return node.by(_trimmed).get(_trimmed(name))


def _trimmed(name: str) -> str:
    return name.strip(BLANKS)


def _token(value: Node, index: int | None) -> tuple[int, int]:
    """The span of one part of a comma list; of the whole value where escapes blur the count."""
    text = str(value.value)
    if index is None or len(text) != value.end - value.start - 2:
        return value.start, value.end
    start, end = _parts(text)[index]
    part = text[start:end]
    start += value.start + 1 + len(part) - len(part.lstrip(BLANKS))
    return start, start + max(len(part.strip(BLANKS)), 1)


@lru_cache(maxsize=8)
def _parts(text: str) -> list[tuple[int, int]]:
    """The spans of the parts of a comma list; a list of thousands may be asked for each of them."""
    at = len(text) - len(text.lstrip(BLANKS))
    spans = []
    for part in text.strip(BLANKS).split(","):
        spans.append((at, at + len(part)))
        at += len(part) + 1
    return spans


class Library:
    """The entries of one file, in the file's order; of equal keys the last, as the engine has it.

    ``members`` keeps every one of them.
    """

    def __init__(self, source: Source, members: list[RawMember]) -> None:
        self.source = source
        self.path = source.path
        self.members = members
        self._file = File(source, members)
        self.entries = {member.key: Entry(self._file, member) for member in members}

    @classmethod
    def read(cls, path: str) -> Library:
        """:raises Refused: where the file cannot be read; :raises Damaged: where the engine could not load it"""
        return cls.of(Source.read(path))

    @classmethod
    def of(cls, source: Source) -> Library:
        """:raises Damaged: where the text is no object of objects of objects of strings"""
        outcome = members_of(source)
        if not isinstance(outcome, Members):
            outcome.require_root()
            raise AssertionError("a text that only the slow reader accepts")
        if outcome.members is None:
            place = source.place(outcome.start)
            raise Damaged(
                "a library must be an object of operators", path=source.path, line=place.line, column=place.column
            )
        library = cls(source, outcome.members)
        for entry, fault in library.structure_faults():
            raise entry.damaged(fault)
        return library

    @property
    def operators(self) -> Operators:
        """Its op types, as the engine has them where this is the only file of its store.

        :raises Damaged: where the engine could not build a kernel from an entry
        """
        from .store import Store

        store = Store([self])
        store.require_loadable()
        return store.operators

    def __repr__(self) -> str:
        return f"<Library {self.path}: {len(self.entries)} op types>"

    def entry_of(self, member: RawMember) -> Entry:
        return Entry(self._file, member)

    def is_passed_over(self, entry: Entry) -> bool:
        """Whether another entry is read in its stead: the engine trims a key, then looks that up (SUB:150-163)."""
        name = entry.name.strip(BLANKS)
        return name != entry.name and name in self.entries

    def structure_faults(self) -> Iterator[tuple[Entry, LoadFault]]:
        """What fails the file whichever of its entries win."""
        for entry in self.entries.values():
            name = entry.name.strip(BLANKS)
            if name != entry.name:
                if self.is_passed_over(entry):
                    continue
                # the engine looks the trimmed key up, finds nothing, and fails (SUB:150-163)
                said = f"op type `{entry.name}` has blanks around it, which fails the whole store"
                yield entry, LoadFault("blank-in-name", None, None, said, near=(name,))
            if not entry.member.is_sound:
                for fault in structure_faults(entry.member.value):
                    yield entry, fault

    def build_faults(self) -> Iterator[tuple[Entry, LoadFault]]:
        for entry in self.entries.values():
            for fault in () if self.is_passed_over(entry) else entry.faults:
                yield entry, fault

    def twins(self, name: str) -> list[RawMember]:
        """All members of one name; more than one is a duplicate key."""
        if len(self.members) == len(self.entries):
            return [self.entries[name].member]
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, list[RawMember]]:
        found: dict[str, list[RawMember]] = {}
        for member in self.members:
            found.setdefault(member.key, []).append(member)
        return found
