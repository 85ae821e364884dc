"""The repository that paths in output for programs are relative to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...opening import folders_above

if TYPE_CHECKING:
    from ..text.source import Source

CONFIG_FILES = ("opsinfo.toml", "pyproject.toml")
"""The names of files that configure opsinfo: its own, and one that other tools share."""


def configuration_in(source: Source) -> Any:
    """Return what a file configures, which is a table if it is right; None if it is shared and says nothing of opsinfo.

    :raises ValueError: if it is not TOML; may raise OverflowError and RecursionError, too
    """
    is_shared = os.path.basename(source.path) == CONFIG_FILES[1]
    if is_shared and "opsinfo" not in source.text:
        return None
    from ..text.toml import loads

    table = loads(source.text)
    if not is_shared:
        return table
    tools = table.get("tool")
    return tools.get("opsinfo") if isinstance(tools, dict) else None


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
        own = os.path.abspath(folder)
        return cls(git_root(own) or own)

    def relative(self, path: str) -> str:
        """Return a path with forward slashes, relative to the root if it is below it, else absolute."""
        absolute = os.path.abspath(path)
        found = _below(absolute, self.root)
        if found is None:
            found = _below(os.path.realpath(path), os.path.realpath(self.root))
        return (absolute if found is None else found).replace(os.sep, "/")


def git_root(folder: str) -> str | None:
    """Return the nearest folder with ``.git``, at ``folder`` (an absolute path) or above it."""
    folders = (folder, *folders_above(folder))
    return next((each for each in folders if os.path.lexists(os.path.join(each, ".git"))), None)


def _below(path: str, root: str) -> str | None:
    if path == root:
        return "."
    inside = root.rstrip(os.sep) + os.sep
    return path[len(inside) :] if path.startswith(inside) else None
