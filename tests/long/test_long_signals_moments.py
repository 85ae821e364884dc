"""500 signals and 200 kills at random moments: the tests of ``tests/faults`` with the full counts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_counts import LONG, Counts
from test_faults_signals import *  # noqa: F403


@pytest.fixture
def counts() -> Counts:
    return LONG
