"""A store: a folder of libraries that the engine loads together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....errors import Refused
from ...text.source import Source
from ..file_kind import foreign_of, is_library_name, kind_of
from ..library import Store
from ..load_order import library_files
from .found import Found, Named, OneChip, TargetOptions
from .library import require_chip

if TYPE_CHECKING:
    from ..foreign_files import Foreign


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A folder without an operator package, and with a library, or below a folder `config`."""
    if not named.is_folder or named.root is not None or not _holds_libraries(named.path):
        return None
    path, own = named.path, soc_of_store(named.path)

    def chip(soc: str | None) -> OneChip:
        require_chip(soc, own, "store", path)
        return OneChip(lambda: Store.read(path).operators, own)

    return Found("store", path, lambda: [own] if own else [], chip)


def soc_of_store(path: str) -> str | None:
    """Return the chip that the place of a store shows."""
    parts = os.path.abspath(path).split("/")
    return parts[-1] if parts[-2:-1] == ["config"] else None


def is_loaded_from(folder: str) -> bool:
    """Return whether the engine loads all files of a folder, by its place."""
    return soc_of_store(folder) is not None or is_library_name(f"{folder}/store.json")


def _holds_libraries(directory: str) -> bool:
    paths = [os.path.join(directory, name) for name in library_files(directory)]
    if any(map(is_library_name, paths)):
        return True
    if os.path.basename(os.path.dirname(os.path.abspath(directory))) == "config":
        return not paths or not all(foreign_in(directory))
    return any(os.path.isfile(path) and _is_library(path, directory) for path in paths)


def _is_library(path: str, directory: str) -> bool:
    try:
        return kind_of(Source.read(path, directory)) == "library"
    except Refused:  # another file of a checkout, say: what else lies there decides
        return False


def foreign_in(directory: str) -> Iterator[Foreign | None]:
    """Yield what each file of a directory is that the engine would load as a library; None if it is not recognised."""
    for name in library_files(directory):
        path = os.path.join(directory, name)
        try:
            yield foreign_of(Source.read(path, directory))
        except Refused:
            yield None
