"""A folder that other users can reach: pytest's own ones are closed to them whenever a run of pytest begins."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_for_everybody() -> Iterator[Path]:
    """Make a folder that every user may enter, and remove it."""
    top = Path(tempfile.mkdtemp(prefix="opsinfo-test-"))
    top.chmod(0o755)
    try:
        yield top
    finally:
        for folder, _, _ in os.walk(top):
            os.chmod(folder, 0o700)
        shutil.rmtree(top)
