"""The stores and files to check under a path, in the order in which they are reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..model.file_kind import is_library_name
from .ignored_files import IgnoredFiles

_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})
_OTHER_ENGINES = frozenset({"aicpu", "dvpp", "host_cpu"})
"""Folders under ``op_impl`` whose files look like libraries but belong to other engines."""


class Task(NamedTuple):
    """A store or file to check.

    :param kind: ``store`` for a config directory, ``file`` for a given file, ``met`` for a file found on a walk
    """

    kind: str
    path: str

    @property
    def size(self) -> int:
        """The bytes to read, for dividing the work evenly; 0 if unknown."""
        try:
            if self.kind != "store":
                return os.stat(self.path).st_size
            return sum(each.stat().st_size for each in os.scandir(self.path) if each.name.endswith(".json"))
        except OSError:
            return 0


def tasks_in(path: str, cannot_walk: Callable[[OSError], None]) -> Iterator[Task]:
    """Yield the tasks of a path: the file itself, or every store and JSON file of a tree that git does not ignore."""
    if not os.path.isdir(path):
        yield Task("file", path)
        return
    ignored = IgnoredFiles(path)
    for folder, folders, names in os.walk(path, onerror=cannot_walk):
        skipped = _SKIPPED_FOLDERS | (_OTHER_ENGINES if "op_impl" in _last_two(folder) else frozenset())
        kept = (name for name in folders if name not in skipped)
        folders[:] = sorted(name for name in kept if not ignored.has(folder, name, is_folder=True))
        jsons = [name for name in sorted(names) if name.lower().endswith(".json") and len(name) > 5]
        jsons = [name for name in jsons if not ignored.has(folder, name)]
        if any(is_library_name(os.path.join(folder, name)) for name in jsons):
            yield Task("store", _told(folder))  # a whole store, because the engine ignores .gitignore
        else:
            yield from (Task("met", _told(os.path.join(folder, name))) for name in jsons)


def _told(path: str) -> str:
    """Return a path without a leading `./`."""
    return path.removeprefix("./") or path


def _last_two(folder: str) -> tuple[str, str]:
    above, name = os.path.split(os.path.abspath(folder))
    return os.path.basename(above), name
