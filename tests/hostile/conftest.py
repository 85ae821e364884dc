"""The program under limits: a hostile file must not exhaust memory or time.

Small sizes here; ``tests/long`` runs what size matters to with the full ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_counts import CI, Counts
from hostile_support import Hostile, limited


@pytest.fixture
def counts() -> Counts:
    return CI


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def hostile(opsinfo_process: Callable[..., Any], bytecode: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """Run the program: ``hostile("list", path, seconds=10, megabytes=1000)``; seconds are of processor time."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))
    return limited(opsinfo_process)
