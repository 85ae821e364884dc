"""Few repetitions and fixed seeds here; ``tests/long`` runs the same tests with the full counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults_counts import CI, Counts
from faults_support import lay


@pytest.fixture
def counts() -> Counts:
    return CI


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Three libraries in one folder."""
    return lay(tmp_path / "config", 3)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the vault is."""
    return tmp_path / "vault"
