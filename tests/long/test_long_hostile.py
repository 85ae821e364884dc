"""The size-dependent tests of ``tests/hostile``, with the full sizes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "hostile"))

from hostile_counts import LONG, Counts
from hostile_support import Hostile, limited
from test_hostile_depth import *  # noqa: F403
from test_hostile_many import *  # noqa: F403
from test_hostile_size import *  # type: ignore[assignment]  # noqa: F403


@pytest.fixture
def counts() -> Counts:
    return LONG


@pytest.fixture
def hostile(opsinfo_process: Callable[..., Any]) -> Hostile:
    return limited(opsinfo_process)
