"""A library: one operator-information file, read as the only one of its store."""

from __future__ import annotations

from .library_file import LibraryFile
from .store import Operators, Store


class Library(LibraryFile):
    """The entries of one file, in order; of equal keys the last, as in the engine.

    ``members`` has all of them.
    """

    @property
    def operators(self) -> Operators:
        """The op types, as in the engine if this is the only file of its store.

        :raises Damaged: if the engine cannot build a kernel from an entry
        """
        store = Store([self])
        store.require_loadable()
        return store.operators
