"""Load order: which files of a store the engine reads, and which of two files with one op type wins.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...opening import unreadable


def library_files(directory: str) -> list[str]:
    """Return the files that the engine loads from a config directory, unordered (sub_op_info_store.cc:95-105).

    Names end in ``.json`` exactly, are longer than that, and do not begin with a dot. The engine does not check the
    type: a directory with such a name is loaded and fails.

    :raises Refused: if the directory cannot be listed
    """
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise unreadable(error, directory) from None
    return [name for name in names if name.endswith(".json") and len(name) > 5 and not name.startswith(".")]


def engine_keys(directory: str, names: Iterable[str]) -> dict[str, tuple[bool, int]]:
    """Return the engine's sort keys of files: ``legacy`` anywhere in the real path, then the path's length."""
    paths = {name: os.path.join(os.path.realpath(directory), name) for name in names}
    return {name: (False, 0) if "legacy" in path else (True, len(os.fsencode(path))) for name, path in paths.items()}


def load_order(directory: str, names: Iterable[str]) -> list[str]:
    """Return names in the engine's load order: later files replace entries of earlier ones.

    Source: sub_op_info_store.cc:113-123.

    If the engine's order is undefined (equal lengths, two legacy files, a parent folder called legacy) the names
    decide, so that the result is the same on every machine; :meth:`.Store.undecided` reports it.
    """
    keys = engine_keys(directory, names)
    return sorted(keys, key=lambda name: (keys[name], "legacy" not in name, len(os.fsencode(name)), name))
