"""How processes are run: one environment for opsinfo and the peers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["ROOT", "Workplace"]

ROOT = Path(__file__).resolve().parent.parent

_PROGRAM = "import sys\nfrom opsinfo_cli.cli.app import main\nsys.exit(main())\n"
"""The script that an installer writes to ``bin/opsinfo``."""


class Workplace:
    """A folder with a copy of the package, so that it has byte code and is not edited meanwhile."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.python = python
        self.vault = folder / "vault"
        self.program = folder / "package" / "opsinfo"
        for name in ("opsinfo_cli", "schemas"):
            shutil.copytree(ROOT / name, folder / "package" / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.program.write_text(_PROGRAM)

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASCEND_", "OPSINFO_")) and name != "PYTHONDONTWRITEBYTECODE"
        }
        return {**kept, "OPSINFO_BACKUP_DIR": str(self.vault), "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def opsinfo(self, *words: str | Path) -> list[str]:
        return [self.python, str(self.program), *map(str, words)]
