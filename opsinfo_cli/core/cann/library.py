"""Libraries: one operator-information file, a store of files that the engine loads together, and their operators.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...arguments import checked
from ...errors import Damaged, UnknownOperator, UsageFault, counted, join_some
from ..text.members import Members, RawMember, read_members
from ..text.source import Source
from .entry import REFUSED, Entry
from .entry_rules import EntryFault, entry_structure_faults, names_in
from .load_order import engine_keys, library_files, load_order
from .policy import BLANKS, Policy

if TYPE_CHECKING:
    from ..document import Unreadable
    from ..text.scanner import Document


class Library:
    """The entries of one file, in order; of equal keys the last, as in the engine.

    ``members`` has all of them.
    """

    def __init__(self, source: Source, members: list[RawMember]) -> None:
        self.source = source
        self.path = source.path
        self.members = members
        names = names_in(member.value for member in members if member.is_sound)
        self._has_blanks = any(name != name.strip(BLANKS) for name in names)
        self.entries = {member.key: self.entry_of(member) for member in members}

    @classmethod
    @checked
    def read(cls, path: str | os.PathLike[str], tree: str | None = None) -> Library:
        """:param tree: the folder in which the path was met; None for a path that the user names
        :raises Refused: if the file cannot be read
        :raises Damaged: if the engine cannot load it
        """
        return cls.of(Source.read(os.fspath(path), tree))

    @classmethod
    def of(cls, source: Source, outcome: Members | Document | None = None) -> Library:
        """:param outcome: the result of :func:`.read_members` for the text, if already parsed
        :raises Damaged: if the text is not an object of objects of objects of strings
        """
        outcome = outcome or read_members(source)
        if not isinstance(outcome, Members):
            try:
                outcome.require_root()
            except Damaged as error:
                error.hint = REFUSED
                raise
            raise AssertionError("a text that only the exact scanner accepts")
        if outcome.members is None:
            raise source.damaged("a library must be an object of operators", outcome.start, REFUSED)
        library = cls(source, outcome.members)
        for entry, fault in library.structure_faults():
            raise entry.damaged(fault)
        return library

    @property
    def operators(self) -> Operators:
        """The op types, as in the engine if this is the only file of its store.

        :raises Damaged: if the engine cannot build a kernel from an entry
        """
        store = Store([self])
        store.require_loadable()
        return store.operators

    def __repr__(self) -> str:
        return f"<Library {self.path}: {len(self.entries)} op types>"

    def entry_of(self, member: RawMember) -> Entry:
        return Entry(self.source, member, self._has_blanks)

    def is_passed_over(self, entry: Entry) -> bool:
        """Return whether another entry is read instead: the engine looks up the trimmed key.

        Source: sub_op_info_store.cc:150-163
        """
        name = entry.name.strip(BLANKS)
        return name != entry.name and name in self.entries

    def structure_faults(self) -> Iterator[tuple[Entry, EntryFault]]:
        """Yield faults that fail the file, regardless of which entries win."""
        for entry in self.entries.values():
            name = entry.name.strip(BLANKS)
            if name != entry.name:
                if self.is_passed_over(entry):
                    continue
                # the engine looks up the trimmed key, does not find it, and fails (sub_op_info_store.cc:150-163)
                message = f"op type `{entry.name}` has blanks around it, so the whole store fails"
                yield entry, EntryFault("blank-in-name", None, None, message, near=(name,))
            if not entry.member.is_sound:
                for fault in entry_structure_faults(entry.value):
                    yield entry, fault


class Store:
    """One config directory, or one file alone.

    :param label: ``built-in``, ``vendor:<name>``, ``env:<path>``, or None if the path alone does not show it
    """

    def __init__(self, libraries: Sequence[Library], directory: str | None = None, label: str | None = None) -> None:
        self.libraries = libraries
        self.directory = directory
        self.label = label
        self.doubts: list[Damaged] = []
        """Why current engines refuse the store although its policies can be read."""
        self.remarks: list[Damaged] = []
        """What its reader passes over, in an ini or a source."""
        self.definitions: dict[str, list[Entry]] = {}
        for library in libraries:
            for name, entry in library.entries.items():
                if name != name.strip(BLANKS):
                    continue  # the engine looks up the trimmed name and reads that entry (sub_op_info_store.cc:150-163)
                self.definitions.setdefault(name, []).append(entry)

    @classmethod
    @checked
    def read(cls, directory: str | os.PathLike[str], label: str | None = None, tree: str | None = None) -> Store:
        """Load a directory as the engine does: one bad file fails the store.

        :param tree: the folder out of which no link is followed; None: the directory
        :raises UsageFault: if it has no library
        :raises Refused: if the engine refuses a file; has its path
        """
        directory = os.fspath(directory)
        paths = [os.path.join(directory, name) for name in load_order(directory, library_files(directory))]
        if not paths and label is None:  # what a user names; a site of an install may be empty, and is for the engine
            hint = "a store has `aic-<soc>-ops-info*.json`"
            raise UsageFault("the directory has no library", name="wrong-kind", path=directory, hint=hint)
        store = cls([Library.read(path, tree or directory) for path in paths], directory, label)
        store.require_loadable()
        return store

    def require_loadable(self) -> None:
        """:raises Damaged: if the engine cannot build a kernel from an entry that wins"""
        for entry in self.winners():
            for fault in entry.faults:
                if fault.hides_policies:
                    raise entry.damaged(fault)
                if fault.refuses:
                    self.doubts.append(entry.damaged(fault))

    @property
    def operators(self) -> Operators:
        return Operators([self])

    def __repr__(self) -> str:
        return f"<Store {self.directory or self.label}: {len(self.libraries)} libraries>"

    def winners(self) -> Iterator[Entry]:
        return (entries[-1] for entries in self.definitions.values())

    def contenders(self, name: str) -> list[Entry]:
        """Return the entry that wins, last, after those that may also win because their order is undefined."""
        entries = self.definitions[name]
        if len(entries) == 1:
            return entries
        won = self._keys.get(entries[-1].path)
        return [entry for entry in entries if self._keys.get(entry.path) == won]

    @cached_property
    def _keys(self) -> dict[str, tuple[bool, int]]:
        paths = {os.path.basename(library.path): library.path for library in self.libraries}
        keys = engine_keys(self.directory or "", paths)
        return {paths[name]: key for name, key in keys.items()}

    def undecided(self) -> dict[tuple[str, ...], list[str]]:
        """Return files whose load order is undefined, with the op types of which another entry may win."""
        found: dict[tuple[str, ...], list[str]] = {}
        for name, entries in self.definitions.items():
            if len(entries) > 1 and len(tied := self.contenders(name)) > 1:
                found.setdefault(tuple(entry.path for entry in tied), []).append(name)
        return found


class Operator:
    """One op type of a target: the entry that wins, and the others of the same name."""

    def __init__(self, name: str, found: list[tuple[Store, list[Entry]]]) -> None:
        self.name = name
        self.found = found
        self.store = found[0][0]
        self.entry = found[0][1][-1]

    def __repr__(self) -> str:
        return f"<Operator {self.name}: {self.policy}>"

    @property
    def policy(self) -> Policy:
        """The policy in the library: the flag of the entry that wins."""
        return self.entry.policy

    @property
    def policies(self) -> frozenset[Policy]:
        """The policies of the entries that win in each store: the engine falls through to a later store if the first
        refuses a node, so that marks without effect are those that change none of them.

        Source: fe_ops_kernel_info_store.cc:371-439
        """
        return frozenset(entry.policy for _, entry in self.winners)

    @property
    def winners(self) -> list[tuple[Store, Entry]]:
        """The entry that wins in each store with the op type, the deciding one first."""
        return [(store, entries[-1]) for store, entries in self.found]

    @property
    def also_in(self) -> list[tuple[Store, Entry]]:
        """Winning entries of later stores: the engine falls through to them if the first refuses a node."""
        return self.winners[1:]

    @property
    def shadowed(self) -> list[tuple[Store, Entry]]:
        """Entries that never win: a later file of the same store replaces them."""
        return [(store, entry) for store, entries in self.found for entry in reversed(entries[:-1])]


class Operators:
    """The op types of one target, across all its stores in the engine's order."""

    def __init__(self, stores: list[Store], elsewhere: Callable[[str], str | None] = lambda _: None) -> None:
        """:param elsewhere: returns text about other places of an install that have an op type"""
        self.stores = stores
        self.elsewhere = elsewhere

    @property
    def unreadable(self) -> Mapping[str, Unreadable]:
        """Op types of sources whose policy could not be read: the target may have them, with any policy."""
        return {}

    def libraries(self) -> dict[str, Library]:
        return {library.path: library for store in self.stores for library in store.libraries}

    @cached_property
    def names(self) -> list[str]:
        return sorted({name for store in self.stores for name in store.definitions})

    def __repr__(self) -> str:
        return f"<Operators: {len(self.names)} of {counted(len(self.stores), 'store')}>"

    def __contains__(self, name: object) -> bool:
        return any(name in store.definitions for store in self.stores)

    def __len__(self) -> int:
        return len(self.names)

    def get(self, name: str) -> Operator | None:
        try:
            return self[name]
        except UnknownOperator:
            return None

    def __iter__(self) -> Iterator[Operator]:
        return map(self.__getitem__, self.names)

    def __getitem__(self, name: str) -> Operator:
        """:raises UnknownOperator: if the target lacks it; a KeyError with near names"""
        found = [(store, entries) for store in self.stores if (entries := store.definitions.get(name))]
        if not found:
            raise self._unknown([name])
        return Operator(name, found)

    def lacking(self, names: Iterable[str], where: str = "the target") -> dict[str, str]:
        """Return the op types of a mixlist that the target lacks, sorted: name -> message.

        :param where: the target in the message
        """
        from ...near_names import NearNames, did_you_mean

        known = NearNames(self.names)
        found = {}
        for name in sorted(name for name in names if name not in self):
            if name in self.unreadable:
                found[name] = f"`{name}` could not be read in {where}, so its policy there is not known"
                continue
            near = self.elsewhere(name) or did_you_mean(name, known)
            text = f"unknown operator `{name}`: not in {where}, the engine ignores it"
            found[name] = text + (f"; {near}" if near else "")
        return found

    @checked
    def require(self, names: Iterable[str]) -> list[Operator]:
        """:raises UnknownOperator: if any name is unknown; names at most ten, with near names"""
        names = list(names)
        unknown = [name for name in names if name not in self]
        if unknown:
            raise self._unknown(unknown)
        return [self[name] for name in names]

    def _unknown(self, unknown: Sequence[str]) -> UnknownOperator:
        from ...near_names import NearNames, meant, pattern_hint

        known = NearNames(self.names)
        near = {
            name: pattern_hint(name) or self.elsewhere(name) or meant(known.suggestions(name)) for name in unknown[:10]
        }
        hints = [hint if len(unknown) == 1 else f"`{name}`: {hint}" for name, hint in near.items() if hint]
        names = join_some([f"`{name}`" for name in unknown], 10)
        return UnknownOperator(
            f"unknown operator{'' if len(unknown) == 1 else 's'} {names}",
            hint=" ".join(hint if len(hints) == 1 or hint.endswith("?") else f"{hint}." for hint in hints)
            or "`opsinfo list TARGET --match 'PATTERN*'` lists the names",
        )
