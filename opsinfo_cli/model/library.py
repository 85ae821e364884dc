"""A library: one operator-information file, read as the only one of its store."""

from __future__ import annotations

from .library_file import LibraryFile
from .store import Operators, Store


class Library(LibraryFile):
    """The entries of one file, in the file's order; of equal keys the last, as the engine reads them.

    ``members`` keeps every one of them.
    """

    @property
    def operators(self) -> Operators:
        """Its op types, as the engine has them if this is the only file of its store.

        :raises Damaged: if the engine could not build a kernel from an entry
        """
        store = Store([self])
        store.require_loadable()
        return store.operators
