"""The repository that paths in output for programs are relative to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Repository:
    """:param root: an absolute path"""

    root: str

    @classmethod
    def around(cls, folder: str, environment: Mapping[str, str]) -> Repository:
        """Return the root from CI if it contains the folder, else the nearest folder with ``.git``, else the folder."""
        for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
            root = environment.get(name)
            if root and _below(os.path.realpath(folder), os.path.realpath(root)) is not None:
                return cls(os.path.abspath(root))
        return cls(git_root(os.path.abspath(folder)) or os.path.abspath(folder))

    def relative(self, path: str) -> str:
        """Return a path with forward slashes, relative to the root if it is below it, else absolute."""
        absolute = os.path.abspath(path)
        found = _below(absolute, self.root)
        if found is None:
            found = _below(os.path.realpath(path), os.path.realpath(self.root))
        return (absolute if found is None else found).replace(os.sep, "/")


def git_root(folder: str) -> str | None:
    """Return the nearest folder with ``.git``: an absolute path, or one above it; None if there is none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _below(path: str, root: str) -> str | None:
    if path == root:
        return "."
    inside = root.rstrip(os.sep) + os.sep
    return path[len(inside) :] if path.startswith(inside) else None
