"""Files and folders that a walk leaves out because a pattern names them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from glob import escape


def from_folder(folder: str, pattern: str) -> str:
    """Return a pattern that is relative to a folder as one that matches anywhere."""
    return pattern if "/" not in pattern.rstrip("/") else os.path.join(escape(os.path.abspath(folder)), pattern)


def excluding(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a path, or a folder above it, is excluded.

    A pattern without a slash names a file or folder anywhere; with one, a path from the working folder. `*` matches
    slashes, too, as in ruff and flake8.
    """
    rooted = [from_folder(os.curdir, pattern).rstrip("/") for pattern in patterns]
    names = [pattern for pattern in rooted if "/" not in pattern]
    paths = [pattern.replace("/./", "/") for pattern in rooted if "/" in pattern]

    def excludes(path: str) -> bool:
        absolute = os.path.abspath(path)
        if any(fnmatchcase(os.path.basename(absolute), name) for name in names):
            return True
        return any(fnmatchcase(absolute, each) or fnmatchcase(absolute, f"{each}/*") for each in paths)

    return excludes
