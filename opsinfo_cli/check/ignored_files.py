"""Files that a tree's .gitignore files exclude: the nearest file decides, and in it the last matching line."""

from __future__ import annotations

import os

from ..model.repository import git_root
from .ignore_patterns import IgnorePattern, patterns_in


class IgnoredFiles:
    """The rules for a walk from one folder.

    In a git repository the files of the folders above apply too, up to the root, and ``.git/info/exclude``.
    A given folder is walked even if rules above exclude it; then only the rules inside it apply.
    """

    def __init__(self, start: str) -> None:
        self._lines: dict[str, list[IgnorePattern]] = {}
        self._start = os.path.abspath(start)
        self._top = git_root(self._start) or self._start
        if self._top != self._start and self._is_inside_ignored():
            self._top = self._start

    def has(self, folder: str, name: str, is_folder: bool = False) -> bool:
        """Return whether an entry of a folder is ignored; the folders above it must not be ignored."""
        path = os.path.join(os.path.abspath(folder), name)
        at = path
        while at != self._top:
            at = os.path.dirname(at)
            said = self._said(at, ".gitignore", path, is_folder)
            if said is not None:
                return said
        return bool(self._said(self._top, ".git/info/exclude", path, is_folder))

    def _is_inside_ignored(self) -> bool:
        folder = self._top
        for name in os.path.relpath(self._start, self._top).split(os.sep):
            if self.has(folder, name, is_folder=True):
                return True
            folder = os.path.join(folder, name)
        return False

    def _said(self, folder: str, file: str, path: str, is_folder: bool) -> bool | None:
        """Return the answer of one .gitignore file for a path: ignored, not ignored, or None."""
        rules = os.path.join(folder, file)
        if rules not in self._lines:
            self._lines[rules] = _read(rules)
        if not self._lines[rules]:
            return None
        relative = path[len(folder.rstrip("/")) + 1 :]
        return next((line.ignores for line in self._lines[rules] if line.fits(relative, is_folder)), None)


def _read(path: str) -> list[IgnorePattern]:
    """The rules of a file; none if it cannot be read."""
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            return patterns_in(file.read())
    except OSError:
        return []
