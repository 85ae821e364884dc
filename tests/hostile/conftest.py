"""The program under limits: a hostile file must not exhaust memory or time.

Small sizes here; ``tests/long`` runs the size-dependent tests with the full ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hostile_counts import CI, Counts
from hostile_support import Hostile, limited


@pytest.fixture
def counts() -> Counts:
    return CI


@pytest.fixture
def hostile(opsinfo_process: Callable[..., Any], quick_starts: None) -> Hostile:
    """Run the program: ``hostile("list", path, seconds=10, megabytes=1000)``; seconds are of processor time."""
    return limited(opsinfo_process)
