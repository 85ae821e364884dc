"""Where lists come from: a wheel, a plain file, or a git repository at a revision."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path


class Upstream:
    """A wheel, a plain file, or a git repository at a revision."""

    def __init__(self, text: str) -> None:
        path, at, revision = text.rpartition("@") if "@" in text else (text, "", "")
        self.path = Path(path)
        self.revision = revision if at else "HEAD"
        self.is_file = self.path.is_file() and self.path.suffix != ".whl"

    def read(self, path: str) -> str:
        """Return the text of a file of the source; for a plain file, its own text."""
        if self.is_file:
            return self.path.read_text("utf-8")
        if self.path.suffix == ".whl":
            with zipfile.ZipFile(self.path) as wheel:
                return wheel.read(path).decode("utf-8")
        return self._git("show", f"{self.revision}:{path}")

    def paths(self, folder: str, ending: str) -> list[str]:
        """Return the files below a folder of a repository whose names have an ending, in order."""
        listed = self._git("ls-tree", "-r", "--name-only", self.revision, f"{folder}/").splitlines()
        return [path for path in listed if path.endswith(ending)]

    def lines(self, pattern: str, folders: Sequence[str]) -> str:
        """Return the lines of a repository that match an extended regular expression."""
        return self._git("grep", "-hE", pattern, self.revision, "--", *folders)

    def version(self) -> str:
        """``torch 2.15.0`` for a wheel; commit and date for a repository."""
        if self.path.suffix == ".whl":
            name, version = self.path.name.split("-")[:2]
            return f"{name.replace('_', '-')} {version}"
        return self._git("show", "-s", "--format=%h of %cs", "--abbrev=8", self.revision).strip()

    def _git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", str(self.path), *words], check=True, capture_output=True, text=True).stdout
