"""Shared by the tests of races."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from writer_support import NEW, TEXT, config, library  # noqa: F401 - fixtures, and for those who import this

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.model.policy import Policy


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def writer(place: Path, fs: FileSystem | None = None, **options: Any) -> Writer:
    fs = fs or FileSystem()
    return Writer(Vault(str(place), fs, wait=0), **{"wait": 0, "fs": fs, **options})


def move(which: Writer, *paths: Path, op: str = "Add", to: Policy = Policy.BLACK) -> str | None:
    return which.run("move", [Job(str(path), LibraryPlan({op: to})) for path in paths]).change
