"""One copy of the sample for each test, and one copy of the shipped files for all tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ci_support import SAMPLE, git, shipped


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shipped(tmp_path_factory.mktemp("ours") / "opsinfo")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A new repository, because only git says what `.gitignore` leaves out."""
    git(tmp_path, "init", "-q", "sample")
    return Path(shutil.copytree(SAMPLE, tmp_path / "sample", dirs_exist_ok=True))
