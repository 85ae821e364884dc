"""Folders for the tests of faults."""

from __future__ import annotations

import shutil
from pathlib import Path


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
