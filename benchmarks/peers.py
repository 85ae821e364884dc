"""The tools to compare with: their names, places and versions."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

__all__ = ["JQ", "Peers"]

JQ = "jq-1.6"
"""The version that was measured for docs/performance.md; `jq --version` prints the installed one."""
REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


class Peers:
    """:param folder: searched before PATH"""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def find(self, name: str) -> str | None:
        inside = self.folder / name if self.folder else None
        return str(inside.resolve()) if inside and inside.is_file() else shutil.which(name)

    def description(self) -> str:
        """Return what is installed, and what differs from the pinned versions."""
        return ", ".join(self._version_of(name, pinned) for name, pinned in self._pinned().items())

    def _version_of(self, name: str, pinned: str) -> str:
        path = self.find(name)
        if path is None:
            return f"no {name}"
        version = _version(path)
        return version if version == pinned else f"{version} (the figures in the docs are of {pinned})"

    def _pinned(self) -> dict[str, str]:
        lines = [line.partition("==") for line in REQUIREMENTS.read_text().split()]
        return {"jq": JQ, **{name: f"{name}, version {version}" for name, _, version in lines}}


@cache
def _version(path: str) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip()
