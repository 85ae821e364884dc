"""Stores: the libraries that the engine loads together, and operators across several stores.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from ..errors import Damaged, Refused, UsageFault, join_some
from .entry import Entry
from .library_file import LibraryFile
from .policy import BLANKS, Policy


def library_files(directory: str) -> list[str]:
    """Return the files that the engine loads from a config directory, unordered (sub_op_info_store.cc:95-105).

    Names end in ``.json`` exactly, are longer than that, and do not begin with a dot. The engine does not check the
    type: a directory with such a name is loaded and fails.

    :raises Refused: if the directory cannot be listed
    """
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=directory) from None
    return [name for name in names if name.endswith(".json") and len(name) > 5 and not name.startswith(".")]


def engine_keys(directory: str, names: Iterable[str]) -> dict[str, tuple[bool, int]]:
    """Return the engine's sort keys of files: ``legacy`` anywhere in the real path, then the path's length."""
    real = os.path.realpath(directory)
    return {name: _engine_key(os.path.join(real, name)) for name in names}


def _engine_key(path: str) -> tuple[bool, int]:
    legacy = "legacy" in path
    return not legacy, 0 if legacy else len(os.fsencode(path))


def load_order(directory: str, names: Iterable[str]) -> list[str]:
    """Return names in the engine's load order: later files replace entries of earlier ones.

    Source: sub_op_info_store.cc:113-123.

    If the engine's order is undefined (equal lengths, two legacy files, a parent folder called legacy) the names
    decide, so that the result is the same on every machine; :meth:`Store.undecided` reports it.
    """

    keys = engine_keys(directory, names)
    return sorted(keys, key=lambda name: (keys[name], "legacy" not in name, len(os.fsencode(name)), name))


class Store:
    """One config directory, or one file alone.

    :param label: ``built-in``, ``vendor:<name>``, ``env:<path>``, or None if the path alone does not show it
    """

    def __init__(
        self, libraries: Sequence[LibraryFile], directory: str | None = None, label: str | None = None
    ) -> None:
        self.libraries = libraries
        self.directory = directory
        self.label = label
        self.doubts: list[Damaged] = []
        """Why current engines refuse the store although its policies can be read."""
        self.definitions: dict[str, list[Entry]] = {}
        for library in libraries:
            for name, entry in library.entries.items():
                if name != name.strip(BLANKS):
                    continue  # the engine looks up the trimmed name and reads that entry (sub_op_info_store.cc:150-163)
                self.definitions.setdefault(name, []).append(entry)

    @classmethod
    def read(cls, directory: str, label: str | None = None) -> Store:
        """Load a directory as the engine does: one bad file fails the store.

        :raises Refused: if the engine refuses a file; has its path
        """
        names = load_order(directory, library_files(directory))
        store = cls([LibraryFile.read(os.path.join(directory, name)) for name in names], directory, label)
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
        """The op types, by the entries that win."""
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
    def has_others(self) -> bool:
        """Whether another entry has this name, which is rare."""
        return len(self.found) > 1 or len(self.found[0][1]) > 1

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

    def __init__(self, stores: list[Store]) -> None:
        self.stores = stores

    def libraries(self) -> dict[str, LibraryFile]:
        """Every file, by its path."""
        return {library.path: library for store in self.stores for library in store.libraries}

    @cached_property
    def names(self) -> list[str]:
        return sorted({name for store in self.stores for name in store.definitions})

    def __repr__(self) -> str:
        return f"<Operators: {len(self.names)} of {len(self.stores)} store{'' if len(self.stores) == 1 else 's'}>"

    def __contains__(self, name: str) -> bool:
        return any(name in store.definitions for store in self.stores)

    def __iter__(self) -> Iterator[Operator]:
        return map(self.__getitem__, self.names)

    def by_file(self) -> Iterator[Operator]:
        """Yield operators in the order of stores, files and lines."""
        if len(self.stores) > 1:
            return map(self.__getitem__, dict.fromkeys(chain(*(store.definitions for store in self.stores))))
        return (Operator(name, [(store, found)]) for store in self.stores for name, found in store.definitions.items())

    def __getitem__(self, name: str) -> Operator:
        """:raises KeyError: if the target lacks it"""
        found = [(store, entries) for store in self.stores if (entries := store.definitions.get(name))]
        if not found:
            raise KeyError(name)
        return Operator(name, found)

    def require(self, names: Iterable[str]) -> list[Operator]:
        """:raises UsageFault: if any name is unknown; names at most ten, with near names"""
        unknown = [name for name in names if name not in self]
        if unknown:
            from .near_names import NearNames, suggestion

            known = NearNames(self.names)
            near = {name: suggestion(name, known, self.names) for name in unknown[:10]}
            said = [each if len(unknown) == 1 else f"`{name}`: {each}" for name, each in near.items() if each]
            names = join_some([f"`{name}`" for name in unknown], 10)
            raise UsageFault(
                f"unknown operator{'' if len(unknown) == 1 else 's'} {names}",
                name="unknown-operator",
                hint=" ".join(said) or "`opsinfo list TARGET --match 'PATTERN*'` lists the names",
            )
        return [self[name] for name in names]
