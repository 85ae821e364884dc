"""One operator-information file: its entries as the engine reads them.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ..errors import Damaged
from ..text.json_values import Members, RawMember
from ..text.members import read_members
from ..text.source import Source
from .entry import Entry, EntryFile
from .entry_faults import structure_faults
from .entry_quick_check import policy_if_clear
from .load_fault import LoadFault
from .policy import BLANKS

if TYPE_CHECKING:
    from ..text.document import Document

AnyLibrary = TypeVar("AnyLibrary", bound="LibraryFile")


def members_of(source: Source, keeps: bool = True) -> Members | Document:
    """Return the members of a text that may be a library, each entry checked as it is read.

    :param keeps: whether the values of entries without faults are kept; :attr:`.Entry.value` reads them again
    """
    return read_members(source, policy_if_clear, keeps)


class LibraryFile:
    """The entries of one file, in order; of equal keys the last, as in the engine.

    ``members`` has all of them.
    """

    def __init__(self, source: Source, members: list[RawMember], names: Iterable[str] | None = None) -> None:
        """:param names: all names of sections and keys, if already known"""
        self.source = source
        self.path = source.path
        self.members = members
        self._file = EntryFile(source, members, names)
        self.entries = {member.key: Entry(self._file, member) for member in members}

    @classmethod
    def read(cls: type[AnyLibrary], path: str) -> AnyLibrary:
        """Return the library in a file.

        :raises Refused: if the file cannot be read
        :raises Damaged: if the engine cannot load it
        """
        return cls.of(Source.read(path))

    @classmethod
    def of(cls: type[AnyLibrary], source: Source, outcome: Members | Document | None = None) -> AnyLibrary:
        """Return the library in a text.

        :param outcome: the result of :func:`members_of` for the text, if already parsed
        :raises Damaged: if the text is not an object of objects of objects of strings
        """
        outcome = outcome or members_of(source, keeps=False)
        if not isinstance(outcome, Members):
            outcome.require_root()
            raise AssertionError("a text that only the slow reader accepts")
        if outcome.members is None:
            place = source.place(outcome.start)
            raise Damaged(
                "a library must be an object of operators", path=source.path, line=place.line, column=place.column
            )
        library = cls(source, outcome.members, outcome.names)
        for entry, fault in library.structure_faults():
            raise entry.damaged(fault)
        return library

    def __repr__(self) -> str:
        return f"<Library {self.path}: {len(self.entries)} op types>"

    def entry_of(self, member: RawMember) -> Entry:
        return Entry(self._file, member)

    def is_passed_over(self, entry: Entry) -> bool:
        """Return whether another entry is read instead: the engine looks up the trimmed key.

        Source: sub_op_info_store.cc:150-163
        """
        name = entry.name.strip(BLANKS)
        return name != entry.name and name in self.entries

    def structure_faults(self) -> Iterator[tuple[Entry, LoadFault]]:
        """Yield faults that fail the file, regardless of which entries win."""
        for entry in self.entries.values():
            name = entry.name.strip(BLANKS)
            if name != entry.name:
                if self.is_passed_over(entry):
                    continue
                # the engine looks up the trimmed key, does not find it, and fails (sub_op_info_store.cc:150-163)
                said = f"op type `{entry.name}` has blanks around it, so the whole store fails"
                yield entry, LoadFault("blank-in-name", None, None, said, near=(name,))
            if not entry.member.is_sound:
                for fault in structure_faults(entry.value):
                    yield entry, fault

    def build_faults(self) -> Iterator[tuple[Entry, LoadFault]]:
        for entry in self.entries.values():
            for fault in () if self.is_passed_over(entry) else entry.faults:
                yield entry, fault

    def twins(self, name: str) -> list[RawMember]:
        """Return all members of one name; more than one is a duplicate key."""
        if len(self.members) == len(self.entries):
            return [self.entries[name].member]
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, list[RawMember]]:
        found: dict[str, list[RawMember]] = {}
        for member in self.members:
            found.setdefault(member.key, []).append(member)
        return found
