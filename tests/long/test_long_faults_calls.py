"""Every call of a run with every fault: the tests of ``tests/faults`` with nothing left out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_counts import LONG, Counts
from test_faults_calls import *  # noqa: F403


@pytest.fixture
def counts() -> Counts:
    return LONG
