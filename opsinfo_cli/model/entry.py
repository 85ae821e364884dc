"""The entry of an op type in an operator-information file, and its place in the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ..errors import Damaged
from ..text.json_values import RawMember, value_of
from ..text.source import Source
from .entry_faults import build_faults, names_in, trimmed
from .entry_quick_check import policy_if_clear
from .load_fault import LoadFault, Sections
from .policy import BLANKS, BadFlag, Policy

if TYPE_CHECKING:
    from typing import Any

    from ..text.document import Member, Node
    from .columns import Listed


class EntryFile:
    """Facts that the entries of one file share, without references to them: a cycle would keep all of it in memory."""

    def __init__(self, source: Source, members: list[RawMember], names: Iterable[str] | None = None) -> None:
        """:param names: all names of sections and keys, if already known"""
        self.source = source
        self.members = members
        self._names = names

    @cached_property
    def has_blank_names(self) -> bool:
        """Whether a section or key has blanks around it, which is rare."""
        names = self._names
        if names is None:
            names = names_in(value_of(self.source.text, member) for member in self.members if member.is_sound)
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

    def __init__(self, file: EntryFile, member: RawMember) -> None:
        self._file = file
        self.name = member.key
        self.member = member
        self._sections: Sections | None = None
        # the check made while reading does not cover names with blanks around them
        self._policy: Policy | None = None if file.has_blank_names else member.judged
        self._faults: Sequence[LoadFault] | None = () if self._policy else None

    def __repr__(self) -> str:
        return f"<Entry {self.name}: {self.policy_or_none} in {self.path}:{self.line}>"

    @property
    def value(self) -> Any:
        """The entry's JSON value, read again if it was not kept."""
        return value_of(self.source.text, self.member)

    @property
    def sections(self) -> Sections:
        """Section -> key -> value, names trimmed as the engine trims them."""
        if self._sections is None:
            self._sections = trimmed(self.value) if self._file.has_blank_names else self.value
        return self._sections

    @property
    def kernel_sections(self) -> Sections:
        """What the choice of dtypes reads; a snapshot has no other sections."""
        return self.sections

    @property
    def policy(self) -> Policy:
        """:raises BadFlag: if the flag fails the engine"""
        if self._policy is None:
            self._policy = Policy.of(self.sections)
        return self._policy

    @property
    def policy_or_none(self) -> Policy | None:
        """The policy; None if the engine cannot read the flag, which matters only if the entry wins."""
        try:
            return self.policy
        except BadFlag:
            return None

    @property
    def listed(self) -> Listed:
        """Inputs and outputs with their dtypes, see :class:`.columns.Columns`."""
        from .columns import listed_in

        return listed_in(self.sections)

    @property
    def faults(self) -> Sequence[LoadFault]:
        """Faults that prevent the engine from building a kernel, and unknown words."""
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
        assert root is not None  # it was valid when read
        return root

    def damaged(self, fault: LoadFault) -> Damaged:
        """Return the error about a fault of this entry."""
        place = self.source.place(self.span(fault)[0])
        return Damaged(
            f"operator `{self.name}`: {fault.message}",
            path=self.path,
            line=place.line,
            column=place.column,
            hint="the engine refuses the store with this file; `opsinfo validate` shows more",
        )

    def span(self, fault: LoadFault) -> tuple[int, int]:
        """Return the span of the offending token. Names are trimmed only in an object of objects of strings."""
        if fault.section is None:
            return self.member.key_start, self.member.key_end
        fold = _trimmed if self.member.is_sound else str
        section = self.node.by(fold)[fold(fault.section)]
        if fault.key is None:
            return section.key.start, section.key.end
        return _token(section.value.by(fold)[fold(fault.key)].value, fault.token)


def member_read(node: Node, name: str) -> Member | None:
    """Return the member that the engine reads for a trimmed name: the first in byte order, of equal ones the last."""
    return node.by(_trimmed).get(_trimmed(name))


def _trimmed(name: str) -> str:
    return name.strip(BLANKS)


def _token(value: Node, index: int | None) -> tuple[int, int]:
    """Return the span of one part of a comma list; of the whole value if it has escapes."""
    text = str(value.value)
    if index is None or len(text) != value.end - value.start - 2:
        return value.start, value.end
    start, end = _parts(text)[index]
    part = text[start:end]
    start += value.start + 1 + len(part) - len(part.lstrip(BLANKS))
    return start, start + max(len(part.strip(BLANKS)), 1)


@lru_cache(maxsize=8)
def _parts(text: str) -> list[tuple[int, int]]:
    """Return the spans of the parts of a comma list, cached because lists may have thousands of parts."""
    at = len(text) - len(text.lstrip(BLANKS))
    spans = []
    for part in text.strip(BLANKS).split(","):
        spans.append((at, at + len(part)))
        at += len(part) + 1
    return spans
