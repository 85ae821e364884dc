"""Fixtures of the tests of this folder, for ``tests/long`` too."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults_support import lay


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Three libraries in one folder."""
    return lay(tmp_path / "config", 3)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the vault is."""
    return tmp_path / "vault"
